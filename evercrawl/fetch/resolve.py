"""From names to addresses: the resolvers, and the two that wrap another one."""

import asyncio
from collections.abc import Mapping, Sequence

from evercrawl.clock import Clock
from evercrawl.fetch._names import NO_SUCH_NAME, ResolveError, Resolver, literal, ordered
from evercrawl.fetch._resolve_file import read_resolve_file
from evercrawl.fetch._resolve_live import DnsResolver, SystemResolver

__all__ = [
    "CachingResolver",
    "DnsResolver",
    "ResolveError",
    "Resolver",
    "StaticResolver",
    "SystemResolver",
    "read_resolve_file",
]


class StaticResolver:
    """Knows some names by heart and asks another resolver for the rest.

    Parameters
    ----------
    names
        Lower-case name -> addresses; the name "*" stands for every name not listed.
    fallback
        Whom to ask for other names; without it they do not exist.
    """

    def __init__(self, names: Mapping[str, Sequence[str]], fallback: Resolver | None = None) -> None:
        self._names = {name: ordered(addresses) for name, addresses in names.items()}
        self._fallback = fallback

    async def resolve(self, host: str) -> list[str]:
        """Return the addresses of `host`; see `Resolver`."""
        if found := literal(host):
            return found
        known = self._names.get(host.lower().removesuffix(".")) or self._names.get("*")
        if known:
            return list(known)
        if self._fallback is None:
            raise ResolveError(NO_SUCH_NAME)
        return await self._fallback.resolve(host)


class CachingResolver:
    """Remembers answers for a while, and asks once for all who want the same name at the same time.

    Parameters
    ----------
    inner
        Whom to ask.
    clock
        Its time decides what is fresh.
    found_s, failed_s
        How long an answer and a failure hold.
    limit
        Names remembered; beyond it those asked for longest ago go.
    """

    def __init__(
        self, inner: Resolver, clock: Clock, found_s: float = 300.0, failed_s: float = 30.0, limit: int = 100_000
    ) -> None:
        self._inner = inner
        self._clock = clock
        self._found_s = found_s
        self._failed_s = failed_s
        self._limit = limit
        self._kept: dict[str, tuple[float, list[str], str]] = {}  # name -> stale at, addresses, reason
        self._asked: dict[str, asyncio.Task[tuple[list[str], str]]] = {}

    async def resolve(self, host: str) -> list[str]:
        """Return the addresses of `host`; see `Resolver`."""
        kept = self._kept.get(host)
        if kept is not None and self._clock.now() < kept[0]:
            _, addresses, reason = kept
        else:
            task = self._asked.get(host)
            if task is None:
                task = self._asked[host] = asyncio.create_task(self._ask(host))
                task.add_done_callback(lambda _: self._asked.pop(host))
            addresses, reason = await asyncio.shield(task)  # one who gives up does not take the answer from the others
        if not addresses:
            raise ResolveError(reason)
        return list(addresses)

    async def _ask(self, host: str) -> tuple[list[str], str]:
        addresses: list[str] = []
        reason = NO_SUCH_NAME
        try:
            addresses = await self._inner.resolve(host)
        except ResolveError as error:
            reason = error.reason
        self._kept.pop(host, None)  # so that the new entry is the youngest
        while len(self._kept) >= self._limit:
            del self._kept[next(iter(self._kept))]
        self._kept[host] = (self._clock.now() + (self._found_s if addresses else self._failed_s), addresses, reason)
        return addresses, reason

"""Name resolution of a simulated web: names share addresses, move, vanish for a while, and servers go down."""

import asyncio
import random
from collections.abc import Callable
from typing import Final, NamedTuple

from evercrawl.fetch.names.base import NO_SUCH_NAME, TIME_OUT, NameAnswer, ResolveError, literal, ordered
from evercrawl.parse.sites import site
from evercrawl.simulate.surroundings.spells import Spells, lot

PATIENCE_S: Final = 5.0  # time-out of a resolver
OUTAGE_S: Final = 60.0
NOBODY: Final = "93.184.255.1"  # addresses without a machine
INSIDE: Final = "10.66.6.6"  # addresses that must never be connected to


class NameRecord(NamedTuple):
    """The servers' answer for one name for a while: addresses, or an error."""

    addresses: tuple[str, ...]
    trouble: str = ""


class MadeServer:
    """A simulated name server, as a resolver uses it.

    Parameters
    ----------
    names, number
        The names, and the server's number.
    """

    def __init__(self, names: "MadeNames", number: int) -> None:
        self._names, self._number = names, number
        self.label = f"made-up name server {number}"

    async def resolve(self, host: str) -> NameAnswer:
        """Return the addresses of `host`, after a delay; see `evercrawl.fetch.names.Resolver`.

        Raises
        ------
        ResolveError
            The name does not exist at the moment, or no server responds.
        """
        return await self._names.answer(self._number, host)


class MadeNames:
    """All names, as a pure function of seed, name and time.

    Parameters
    ----------
    seed
        Draws everything.
    began_at
        Instant (s since the epoch) before which nothing changes.
    true
        Returns the true time.
    clears_at
        From then on all names resolve, and no longer move.
    machines
        Number of addresses; if there are fewer than names, some names share one.
    trouble
        Share of time during which a name does not resolve.
    spell_s
        Mean time between moves of a name; failures last a tenth of it.
    inside
        Share of moves to a private address, some with another address in addition.
    servers, outages
        Number of name servers; share of time during which each is down.
    vacant
        Share of names whose first address has no machine.

    Attributes
    ----------
    servers
        The name servers.
    asked
        Times and names of queries.
    domains
        Domains with a resolved name.
    under_way, most_under_way
        Number of queries in progress, and its maximum.

    Examples
    --------
    >>> names = MadeNames(1, began_at=0.0, true=lambda: 0.0, clears_at=100.0, machines=2)
    >>> sorted({names.at(f"{host}.example", 100.0).addresses for host in "abcdefgh"})
    [('93.184.0.1',), ('93.184.0.2',)]
    """

    def __init__(
        self,
        seed: int,
        *,
        began_at: float,
        true: Callable[[], float],
        clears_at: float = float("inf"),
        machines: int = 8,
        trouble: float = 0.05,
        spell_s: float = 6 * 3600.0,
        inside: float = 0.02,
        servers: int = 1,
        outages: float = 0.0,
        vacant: float = 0.0,
    ) -> None:
        self._seed, self._began_at, self._true, self._clears_at = seed, began_at, true, clears_at
        self._machines, self._trouble, self._spell_s, self._inside = machines, trouble, spell_s, inside
        self._of: dict[str, Spells[NameRecord]] = {}
        self.asked: list[tuple[float, str]] = []
        self.domains = set[str]()
        self.under_way = self.most_under_way = 0
        self._outages, self._vacant = outages, vacant
        self.servers = [MadeServer(self, number) for number in range(servers)]
        self._outage = [Spells(f"outage {seed} {number}", began_at, self._draw_outage) for number in range(servers)]

    def machine(self, number: int) -> str:
        """Return the address of one machine."""
        return f"93.184.{number // 250}.{number % 250 + 1}"

    def at(self, host: str, at: float) -> NameRecord:
        """Return the record of a name at an instant."""
        if found := literal(host):
            return NameRecord(tuple(found))
        if at >= self._clears_at:
            return NameRecord((self.machine(int(lot(self._seed, host, "home") * self._machines)),))
        return self._spells(host).at(at).what

    def vacant(self, address: str) -> str:
        """Return why connections to an address fail; "" if a machine is there."""
        return "connect" if address == NOBODY else ""

    def down(self, server: int, at: float) -> bool:
        """Return whether a server is down at an instant."""
        return at < self._clears_at and self._outages > 0 and self._outage[server].at(at).what

    async def answer(self, server: int, host: str) -> NameAnswer:
        """Return a server's answer for `host`, after a delay; see `Resolver.resolve`."""
        now = self._true()
        self.asked.append((now, host))
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            said = NameRecord((), TIME_OUT) if self.down(server, now) else self.at(host, now)
            quick_s = 0.001 + 0.1 * lot(self._seed, host, now) ** 2
            await asyncio.sleep(PATIENCE_S if said.trouble == TIME_OUT else quick_s)
        finally:
            self.under_way -= 1
        if said.trouble:
            raise ResolveError(said.trouble)
        self.domains.add(site(host))
        return NameAnswer(ordered(said.addresses), 2000.0 * lot(self._seed, host, now, "ttl") ** 2)

    def _spells(self, host: str) -> Spells[NameRecord]:
        spells = self._of.get(host)
        if spells is None:
            spells = self._of[host] = Spells(f"names {self._seed} {host}", self._began_at, self._draw)
        return spells

    def _draw(self, draw: random.Random, before: NameRecord | None) -> tuple[NameRecord, float]:
        odds = self._trouble if before is None else 0.0 if before.trouble else 10 * self._trouble
        if draw.random() < odds:  # a tenth as long as the following state
            return NameRecord((), draw.choice([NO_SUCH_NAME, TIME_OUT])), self._lasts_s(draw) / 10
        if before is not None and draw.random() < self._inside:
            beside = [self.machine(draw.randrange(self._machines))] if draw.random() < 0.5 else []
            return NameRecord((INSIDE, *beside)), self._lasts_s(draw) / 10
        first = self.machine(draw.randrange(self._machines))
        more = [self.machine(draw.randrange(self._machines))] if draw.random() < 0.2 else []
        sixth = [f"2606:2800::{draw.randrange(1, self._machines + 1):x}"] if draw.random() < 0.2 else []
        nobody = [NOBODY] if self._vacant and draw.random() < self._vacant else []
        return NameRecord((*nobody, first, *more, *sixth)), self._lasts_s(draw)

    def _draw_outage(self, draw: random.Random, before: bool | None) -> tuple[bool, float]:
        """Draw a server's next state and its duration: it is down a tenth as long as it is up, on average."""
        down = before is False and draw.random() < 10 * self._outages
        return down, 1.0 + draw.expovariate(1 / (OUTAGE_S if down else 10 * OUTAGE_S))

    def _lasts_s(self, draw: random.Random) -> float:
        return 1.0 + draw.expovariate(1 / self._spell_s)

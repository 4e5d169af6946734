"""Names of a made-up web: they share addresses, move, vanish for a while, and sometimes nobody answers."""

import asyncio
import random
from collections.abc import Callable
from typing import Final, NamedTuple

from evercrawl.fetch._names import NO_SUCH_NAME, TIME_OUT, ResolveError, literal, ordered
from evercrawl.simulate.surroundings.spells import Spells, lot

PATIENCE_S: Final = 5.0  # a resolver gives up after that
INSIDE: Final = "10.66.6.6"  # where nobody may be led


class NameRecord(NamedTuple):
    """What the names' server says of one name for a while: addresses, or why there are none."""

    addresses: tuple[str, ...]
    trouble: str = ""


class MadeNames:
    """Knows every name, as a plain function of seed, name and time; may be asked like a resolver.

    Parameters
    ----------
    seed
        Draws everything.
    began_at
        Instant (s since the epoch) before which nothing changes.
    true
        Tells the time.
    clears_at
        From then on all names are found, and move no more.
    machines
        How many addresses there are; with fewer than names, some share one.
    trouble
        Share of the time for which a name cannot be found.
    spell_s
        How long a name stays where it is, on average; trouble lasts a tenth of it.
    inside
        Share of the moves that lead to an address inside, some to another one besides.

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
    ) -> None:
        self._seed, self._began_at, self._true, self._clears_at = seed, began_at, true, clears_at
        self._machines, self._trouble, self._spell_s, self._inside = machines, trouble, spell_s, inside
        self._of: dict[str, Spells[NameRecord]] = {}
        self.asked: list[tuple[float, str]] = []

    def machine(self, number: int) -> str:
        """Return the address of one machine."""
        return f"93.184.{number // 250}.{number % 250 + 1}"

    def at(self, host: str, at: float) -> NameRecord:
        """Return what is said of a name at an instant."""
        if found := literal(host):
            return NameRecord(tuple(found))
        if at >= self._clears_at:
            return NameRecord((self.machine(int(lot(self._seed, host, "home") * self._machines)),))
        return self._spells(host).at(at).what

    async def resolve(self, host: str) -> list[str]:
        """Return the addresses of `host`, after a while; see `evercrawl.fetch.resolve.Resolver`.

        Raises
        ------
        ResolveError
            There is no such name at the moment, or nobody answers.
        """
        now = self._true()
        self.asked.append((now, host))
        said = self.at(host, now)
        await asyncio.sleep(PATIENCE_S if said.trouble == TIME_OUT else 0.001 + 0.1 * lot(self._seed, host, now) ** 2)
        if said.trouble:
            raise ResolveError(said.trouble)
        return ordered(said.addresses)

    def _spells(self, host: str) -> Spells[NameRecord]:
        spells = self._of.get(host)
        if spells is None:
            spells = self._of[host] = Spells(f"names {self._seed} {host}", self._began_at, self._draw)
        return spells

    def _draw(self, draw: random.Random, before: NameRecord | None) -> tuple[NameRecord, float]:
        odds = self._trouble if before is None else 0.0 if before.trouble else 10 * self._trouble
        if draw.random() < odds:  # a tenth as long as what it gives way to
            return NameRecord((), draw.choice([NO_SUCH_NAME, TIME_OUT])), self._lasts_s(draw) / 10
        if before is not None and draw.random() < self._inside:
            beside = [self.machine(draw.randrange(self._machines))] if draw.random() < 0.5 else []
            return NameRecord((INSIDE, *beside)), self._lasts_s(draw) / 10
        first = self.machine(draw.randrange(self._machines))
        more = [self.machine(draw.randrange(self._machines))] if draw.random() < 0.2 else []
        sixth = [f"2606:2800::{draw.randrange(1, self._machines + 1):x}"] if draw.random() < 0.2 else []
        return NameRecord((first, *more, *sixth)), self._lasts_s(draw)

    def _lasts_s(self, draw: random.Random) -> float:
        return 1.0 + draw.expovariate(1 / self._spell_s)

"""Estimated number of other sites that link to each site, in 8 bytes per site, whatever the number of links.

A site has 64 bits, and each site that links to it sets the bit that the pair's numbers hash to, however often it
links. Once most bits of a site are set, it also gets registers as in HyperLogLog. Up to three linking sites the
estimate is nearly always exact, and beyond that within some tenths.

References
----------
Whang, Vander-Zanden, Taylor (1990). A Linear-Time Probabilistic Counting Algorithm for Database Applications.
Flajolet, Fusy, Gandouet, Meunier (2007). HyperLogLog: the analysis of a near-optimal cardinality estimation algorithm.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

import numpy as np

from evercrawl.arrays.reserved import reserve
from evercrawl.types import Ints, Keys

BITS: Final = 64
FULL: Final = 58
"""So many bits set stand for 150 sites; from then on registers count on."""
REGISTERS: Final = 256
_ALPHA: Final = 0.7213 / (1 + 1.079 / REGISTERS)
_MASK: Final = (1 << 64) - 1
_ADD, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_ESTIMATES: Final = tuple(round(-BITS * math.log1p(-bits / BITS)) for bits in range(BITS))
"""By bits set, how many sites that most likely are."""


class LinkingSites:
    """Counts the other sites that link to each site.

    Parameters
    ----------
    capacity
        Maximum number of sites; address space is reserved for all of them.

    Examples
    --------
    >>> linking = LinkingSites()
    >>> linking.note(1, [2, 3]); linking.note(1, [2]); linking.note(4, [2])
    >>> linking.count(2), linking.count(3), linking.count(4), linking.knows(1, 2), linking.knows(3, 2)
    (2, 1, 0, True, False)
    """

    def __init__(self, capacity: int = 1 << 27) -> None:
        self._bits: Keys = reserve(np.uint64, capacity)
        self._registers = reserve(np.dtype((np.uint8, (REGISTERS,))), max(capacity // 8, 1))
        self._row: dict[int, int] = {}  # sites with registers

    def nbytes(self, sites: int) -> int:
        """Return the memory use in bytes for that number of sites."""
        return sites * self._bits.itemsize + len(self._row) * (REGISTERS + 100)

    def note(self, source: int, targets: Iterable[int]) -> None:
        """Record that one site links to others."""
        for target in targets:
            if target != source:
                mixed = _mixed_one(source, target)
                bits = self._bits.item(target) | 1 << (mixed & BITS - 1)
                self._bits[target] = bits
                if bits.bit_count() >= FULL:
                    self._note_more(np.array([target]), np.array([mixed], np.uint64))

    def note_many(self, sources: Ints, targets: Ints) -> None:
        """Record pairs of sites, the first of which links to the second; shape (n,) each."""
        other = sources != targets
        targets, mixed = targets[other], _mixed(sources[other], targets[other])
        np.bitwise_or.at(self._bits, targets, np.uint64(1) << (mixed & np.uint64(BITS - 1)))
        most = np.bitwise_count(self._bits[targets]) >= FULL
        if most.any():
            self._note_more(targets[most], mixed[most])

    def _note_more(self, targets: Ints, mixed: Keys) -> None:
        """Update registers with the hash of each pair."""
        different, which = np.unique(targets, return_inverse=True)
        rows = np.array([self._row.setdefault(target, len(self._row)) for target in different.tolist()])[which]
        place, rest = mixed >> np.uint64(6) & np.uint64(REGISTERS - 1), mixed >> np.uint64(14)
        rank = 51 - np.frexp(rest.astype(np.float64))[1]  # one more than the zeros before the first set bit of 50
        np.maximum.at(self._registers, (rows, place.astype(np.int64)), rank.astype(np.uint8))

    def knows(self, source: int, target: int) -> bool:
        """Return whether a link between two sites was counted; false positives are possible, but rare."""
        return bool(self._bits.item(target) >> (_mixed_one(source, target) & BITS - 1) & 1)

    def count(self, target: int) -> int:
        """Return the estimated number of sites that link to one."""
        set_bits = self._bits.item(target).bit_count()
        row = self._row.get(target) if set_bits >= FULL else None
        counted = _ESTIMATES[min(set_bits, FULL)]
        return counted if row is None else max(counted, self._by_registers(row))

    def _by_registers(self, row: int) -> int:
        registers = self._registers[row]
        found = _ALPHA * REGISTERS**2 / float(np.ldexp(1.0, -registers.astype(np.int64)).sum())
        zeros = REGISTERS - int(np.count_nonzero(registers))
        return round(REGISTERS * math.log(REGISTERS / zeros) if zeros and found <= 2.5 * REGISTERS else found)


def _mixed(sources: Ints, targets: Ints) -> Keys:
    """Return 64 well spread bits for each pair (the finalizer of splitmix64)."""
    x = (sources.astype(np.uint64) << np.uint64(32)) + targets.astype(np.uint64) + np.uint64(_ADD)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(_FIRST)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(_SECOND)
    return x ^ (x >> np.uint64(31))


def _mixed_one(source: int, target: int) -> int:
    x = ((source << 32) + target + _ADD) & _MASK
    x = ((x ^ x >> 30) * _FIRST) & _MASK
    x = ((x ^ x >> 27) * _SECOND) & _MASK
    return x ^ x >> 31

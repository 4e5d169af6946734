"""Spells: states that last for a while and then change, as a pure function of seed and time."""

import random
from bisect import bisect_right
from collections.abc import Callable
from hashlib import blake2b
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


def lot(*parts: object) -> float:
    """Return a number in [0, 1) determined by `parts`.

    Examples
    --------
    >>> lot(7, "a.example", 3.5) == lot(7, "a.example", 3.5) != lot(7, "a.example", 3.75)
    True
    """
    return int.from_bytes(blake2b(repr(parts).encode(), digest_size=7).digest()) / 2.0**56


class Spell(NamedTuple, Generic[T]):
    """The state from `since` up to, but excluding, `until` (s since the epoch), and its ordinal number."""

    what: T
    since: float
    until: float
    number: int


class Spells(Generic[T]):
    """An endless sequence of spells.

    Parameters
    ----------
    seed
        Random seed, by its text.
    began_at
        Start of the first spell, which also covers earlier instants.
    draw
        Draws the next state and its duration (s, more than 0), from a random source and the former state.

    Examples
    --------
    >>> days = Spells("1", 100.0, lambda draw, before: (0 if before is None else before + 1, 10.0))
    >>> days.at(125.0)
    Spell(what=2, since=120.0, until=130.0, number=2)
    >>> days.at(99.0).what
    0
    """

    def __init__(self, seed: str, began_at: float, draw: Callable[[random.Random, T | None], tuple[T, float]]) -> None:
        self._source = random.Random(seed)
        self._draw = draw
        self._whats: list[T] = []
        self._begins = [began_at]  # of each, and of the next one, not drawn yet

    def at(self, at: float) -> Spell[T]:
        """Return the spell at an instant."""
        while self._begins[-1] <= at or not self._whats:
            before = self._whats[-1] if self._whats else None
            what, lasts_s = self._draw(self._source, before)
            assert lasts_s > 0, "a spell lasts for a while"
            self._whats.append(what)
            self._begins.append(self._begins[-1] + lasts_s)
        number = max(bisect_right(self._begins, at) - 1, 0)
        return Spell(self._whats[number], self._begins[number], self._begins[number + 1], number)

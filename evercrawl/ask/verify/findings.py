"""Findings of a check of a crawl directory."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from evercrawl.store.repair.damage import Damage, Part

MOST: Final = 200  # sentences kept per kind; further ones are only counted


@dataclass(slots=True)
class Findings:
    """Counts of what was checked, and the contradictions found.

    Attributes
    ----------
    checked
        Kind of item -> number of items checked.
    wrong
        A sentence for each contradiction.
    measured
        Quantity -> greatest deviation, for quantities that rounding may change slightly.
    damage
        The damaged parts of the directory, for a repair.
    mends
        A sentence for each leftover of a killed crawl that the next start repairs by itself; these are not errors.

    Examples
    --------
    >>> found = Findings()
    >>> found.count("events", 3)
    >>> found.blame("known.bin is short")
    >>> found.fine, found.checked["events"]
    (False, 3)
    """

    checked: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])
    mends: list[str] = field(default_factory=list[str])
    measured: dict[str, float] = field(default_factory=dict[str, float])
    damage: Damage = field(default_factory=Damage)
    unsaid: Counter[str] = field(default_factory=Counter[str])
    _of_kind: Counter[str] = field(default_factory=Counter[str])

    @property
    def fine(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong

    def count(self, what: str, number: int = 1) -> None:
        """Add to what was checked."""
        self.checked[what] += number

    def measure(self, what: str, off: float) -> None:
        """Record a deviation; the greatest of each quantity is kept."""
        self.measured[what] = max(off, self.measured.get(what, 0.0))

    def blame(self, sentence: str, kind: str = "", part: Part = Part.STATE) -> None:
        """Record a contradiction; of each kind, such as one file's records, only the first sentences are kept."""
        self.damage.parts.add(part)
        if sentence in self.wrong[-MOST:]:
            return
        if kind:
            self._of_kind[kind] += 1
            if self._of_kind[kind] > MOST:
                self.unsaid[kind] += 1
                return
        self.wrong.append(sentence)

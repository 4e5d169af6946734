"""What a check of a crawl directory came to."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from evercrawl.store.repair.damage import Damage, Part

MOST: Final = 200  # sentences of one kind that are kept; the others are counted


@dataclass(slots=True)
class Findings:
    """What was checked, and what is wrong.

    Attributes
    ----------
    checked
        What -> how many of it were looked at.
    wrong
        A sentence for each thing that contradicts another.
    measured
        What -> by how much it was off at worst, where a little is to be expected.
    damage
        Where the directory is damaged, for whoever mends it.
    mends
        What a killed crawl left behind and its next start puts right by itself, a sentence each; nothing is wrong then.

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
        """Take note of by how much something is off; the worst is kept."""
        self.measured[what] = max(off, self.measured.get(what, 0.0))

    def blame(self, sentence: str, kind: str = "", part: Part = Part.STATE) -> None:
        """Take note of something wrong; of one kind, such as a file's records, only so many are spelled out."""
        self.damage.parts.add(part)
        if sentence in self.wrong[-MOST:]:
            return
        if kind:
            self._of_kind[kind] += 1
            if self._of_kind[kind] > MOST:
                self.unsaid[kind] += 1
                return
        self.wrong.append(sentence)

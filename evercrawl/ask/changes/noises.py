"""Which changes of a page are noise, by the words of its versions."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from evercrawl.ask.changes.noise_book import NoiseBook, change_keys
from evercrawl.ask.changes.texts import VersionTexts
from evercrawl.ask.changes.versions import version_visits
from evercrawl.change.habits import ENOUGH, Noise, Touch, noise, touches
from evercrawl.model.stored.derived.runs import Runs
from evercrawl.store.partition import Partition

LATEST: Final = 8
"""Changes of a page by which is told how many are noise."""
BEFORE: Final = 5
AFTER: Final = 2
"""Changes before and after one that it is compared with."""
_EXAMPLES: Final = 3


@dataclass(frozen=True, slots=True)
class NoiseHabit:
    """How many of the latest changes of a page are noise.

    Attributes
    ----------
    changes, noise
        How many were judged, and how many of them are noise.
    examples
        What the last of those did: the words before it, those that went, and those that came.
    """

    changes: int
    noise: int
    examples: tuple[tuple[str, str, str], ...]


class Noises:
    """Judges changes; versions are read from the archive, at most eight for a change.

    Attributes
    ----------
    texts
        The words of versions.
    book
        What was found before.
    """

    def __init__(self, partition: Partition, runs: Runs) -> None:
        self.texts, self._runs = VersionTexts(partition, runs), runs
        self.book = NoiseBook(partition.directory)

    def is_noise(self, slot: int, version: int, before: int) -> bool:
        """Whether a change from one version to another is noise; what is found is kept for the next time."""
        steps = self._steps(slot, version, before)
        if len(steps) < ENOUGH:
            return False
        later = sum(step[1] > version for step in steps)
        (key,) = change_keys(self._runs, np.array([slot]), np.array([version]), np.array([before])).tolist()
        known = self.book.known(key, later)
        if known is None:
            found = self._judged(steps, version, before)
            known = found is not None and found.noise
            self.book.put(key, later, known)
        return known

    def judged(self, slot: int, version: int, before: int) -> Noise | None:
        """Return what of a change is noise; None where that cannot be told, as few versions or no texts are there."""
        steps = self._steps(slot, version, before)
        return self._judged(steps, version, before) if len(steps) >= ENOUGH else None

    def _judged(self, steps: Sequence[tuple[int, int]], version: int, before: int) -> Noise | None:
        change = self._touches(before, version)
        if not change:
            return None
        earlier, later = (
            [found for step in steps if (step[1] <= version) == early and (found := self._touches(*step)) is not None]
            for early in (True, False)
        )
        return noise(change, earlier, later)

    def habit(self, slot: int) -> NoiseHabit | None:
        """Return how many of the latest changes of a page are noise; None where too few can be judged."""
        steps = list(pairwise(version_visits(self._runs, slot)[-LATEST - 1 :]))
        found = [judged for before, version in steps if (judged := self.judged(slot, version, before)) is not None]
        if len(found) <= ENOUGH:
            return None
        last = next((judged for judged in reversed(found) if judged.noise), None)
        told = last.habitual[:_EXAMPLES] if last else ()
        examples = tuple((" ".join(t.place.before), " ".join(t.went), " ".join(t.came)) for t in told)
        return NoiseHabit(len(found), sum(judged.noise for judged in found), examples)

    def _steps(self, slot: int, version: int, before: int) -> list[tuple[int, int]]:
        """Return other changes, by the versions before and after each."""
        visits = version_visits(self._runs, slot)
        if version not in visits:
            return []
        place = visits.index(version)
        near = visits[max(place - BEFORE - 1, 0) : place + AFTER + 1]
        return [step for step in pairwise(near) if step != (before, version)]

    def _touches(self, before: int, after: int) -> Sequence[Touch] | None:
        old, new = self.texts.words(before), self.texts.words(after)
        return None if old is None or new is None else touches(old, new)

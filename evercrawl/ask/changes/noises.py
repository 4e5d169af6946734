"""Classification of a page's changes as noise, from the words of its versions."""

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
"""Number of a page's latest changes from which its share of noise is computed."""
BEFORE: Final = 5
AFTER: Final = 2
"""Number of changes before and after a change that it is compared with."""
_EXAMPLES: Final = 3


@dataclass(frozen=True, slots=True)
class NoiseHabit:
    """The noise among the latest changes of a page.

    Attributes
    ----------
    changes, noise
        Number of changes classified, and of those that are noise.
    examples
        Examples from the last noise: the words before it, the words removed, and the words added.
    """

    changes: int
    noise: int
    examples: tuple[tuple[str, str, str], ...]


class Noises:
    """A classifier of changes; versions are read from the archive, at most eight per change.

    Attributes
    ----------
    texts
        The words of versions.
    book
        Cached results.
    """

    def __init__(self, partition: Partition, runs: Runs) -> None:
        self.texts, self._runs = VersionTexts(partition, runs), runs
        self.book = NoiseBook(partition.directory)

    def is_noise(self, slot: int, version: int, before: int) -> bool:
        """Return whether a change from one version to another is noise; the result is cached."""
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
        """Return the noise in a change; None if there are too few versions, or no texts, to tell."""
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
        """Return how many of the latest changes of a page are noise; None if too few can be classified."""
        steps = list(pairwise(version_visits(self._runs, slot)[-LATEST - 1 :]))
        found = [judged for before, version in steps if (judged := self.judged(slot, version, before)) is not None]
        if len(found) <= ENOUGH:
            return None
        last = next((judged for judged in reversed(found) if judged.noise), None)
        told = last.habitual[:_EXAMPLES] if last else ()
        examples = tuple((" ".join(t.place.before), " ".join(t.went), " ".join(t.came)) for t in told)
        return NoiseHabit(len(found), sum(judged.noise for judged in found), examples)

    def _steps(self, slot: int, version: int, before: int) -> list[tuple[int, int]]:
        """Return the other changes to compare with, as pairs of the versions before and after."""
        visits = version_visits(self._runs, slot)
        if version not in visits:
            return []
        place = visits.index(version)
        near = visits[max(place - BEFORE - 1, 0) : place + AFTER + 1]
        return [step for step in pairwise(near) if step != (before, version)]

    def _touches(self, before: int, after: int) -> Sequence[Touch] | None:
        old, new = self.texts.words(before), self.texts.words(after)
        return None if old is None or new is None else touches(old, new)

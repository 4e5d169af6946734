"""An Atom feed of the latest changes in a file, updated while a crawl is followed."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from evercrawl.ask.changes.following import FollowedCrawl
    from evercrawl.ask.changes.page_change import PageChange
    from evercrawl.ask.changes.question import ChangeQuestion
    from evercrawl.ask.changes.texts import WordDiff


class FeedFile:
    """An Atom feed in a file, written atomically.

    Parameters
    ----------
    path
        Path of the file.
    following
        The crawl.
    question
        The selection of changes.

    Attributes
    ----------
    entries
        The entries, newest first, with the words that changed.
    """

    def __init__(self, path: Path, following: FollowedCrawl, question: ChangeQuestion) -> None:
        from evercrawl.ask.changes.atom import ENTRIES
        from evercrawl.ask.changes.streaming import latest

        self._path, self._following, self._question = path, following, question
        most = min(question.limit or ENTRIES, ENTRIES)
        found = latest(following.view, following.derived.runs, replace(question, limit=most), following.sequence)
        self.entries = deque(((change, words_of(following, change)) for change in found), maxlen=most)
        self.sequence = following.sequence
        self._write()

    def add(self, changes: tuple[PageChange, ...]) -> None:
        """Insert changes before the present entries."""
        new = [change for change in changes if change.sequence > self.sequence]
        self.entries.extendleft((change, words_of(self._following, change)) for change in new)
        if new:
            self.sequence = new[-1].sequence
            self._write()

    def turn(self) -> bool:
        """Add some of the changes found since the last call; return whether there may be more."""
        found = self._following.part(replace(self._question, after=self.sequence, since=float("-inf")))
        self.add(found.changes)
        moved, self.sequence = found.upto > self.sequence, max(found.upto, self.sequence)
        return moved

    def _write(self) -> None:
        from evercrawl.ask.changes.atom import atom
        from evercrawl.store.disk.whole import atomic_file

        made = atom(list(self.entries), self._following.crawl.birth.id, self._question, time.time())
        with atomic_file(self._path) as temporary:
            temporary.write_bytes(made)


def words_of(following: FollowedCrawl, change: PageChange) -> WordDiff | None:
    """Return the word diff of a changed page."""
    from evercrawl.ask.changes.texts import VersionTexts, diff_of

    return diff_of(VersionTexts(following.crawl, following.derived.runs), change)

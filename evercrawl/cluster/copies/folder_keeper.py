"""A keeper that is a folder on another disk of this machine."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from evercrawl.errors import StoreError
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.modes import PRIVATE, narrow, private
from evercrawl.store.keeper.copy import KeeperCopy
from evercrawl.store.keeper.folder import alone, made
from evercrawl.store.keeper.messages import KeeperAsk, KeeperDone, KeeperRefusal, KeeperStep

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evercrawl.store.keeper.messages import KeeperAnswer, KeeperQuestion


def makes_whole(question: KeeperQuestion, answer: KeeperAnswer) -> bool:
    """Return whether an answer confirms that the question made the copy complete."""
    if not isinstance(question, KeeperStep) or not question.whole:
        return False
    return answer == KeeperDone(question.session, question.number)


class FolderKeeper:
    """Writes a partition's second copy; see `evercrawl.crawl.posting.carrier.KeeperLine`.

    Parameters
    ----------
    directory
        Folder of the copy, in the crawl's folder of copies; the folder above that must exist.
    tell_whole
        Called when the copy is complete for the first time, before anything can leave because of that.

    Attributes
    ----------
    place
        A description of where the copy is.
    whole
        Whether the copy has been complete since this process began.
    """

    def __init__(self, directory: Path, tell_whole: Callable[[], None] = lambda: None) -> None:
        self._tell_whole = tell_whole
        self._directory, self.place, self.whole = directory, str(directory), False
        self._copy: KeeperCopy | None = None
        self._disk: RealDisk | None = None

    async def ask(self, question: KeeperQuestion) -> KeeperAnswer | None:
        """Return the answer."""
        answer = await asyncio.get_running_loop().run_in_executor(None, self._answer, question)
        if not self.whole and makes_whole(question, answer):
            self.whole = True
            self._tell_whole()
        return answer

    def _answer(self, question: KeeperQuestion) -> KeeperAnswer:
        """Return the answer; runs in a thread."""
        try:
            made(self._directory.parent)  # the folder above existed when the crawl began
            made(self._directory)
            with alone(self._directory):
                if self._copy is None or isinstance(question, KeeperAsk):  # the folder may have been replaced
                    self.close()
                    self._disk = RealDisk(self._directory, mode=private)
                    for name in self._disk.names():  # of an earlier version
                        narrow(self._directory / name, PRIVATE)
                    self._copy = KeeperCopy(self._disk)
                return self._copy.answer(question)
        except (OSError, StoreError) as error:
            self.close()
            return KeeperRefusal(str(error))

    def close(self) -> None:
        """Close the open files."""
        if self._disk is not None:
            self._disk.close()
        self._copy = self._disk = None

"""A keeper that is a folder of this machine, on another disk."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

from evercrawl.errors import ConfigError, NoRoomError, StoreError
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import Lock
from evercrawl.store.keeper.copy import STATE_FILE, KeeperCopy
from evercrawl.store.keeper.folder import alone, is_held, made
from evercrawl.store.keeper.messages import KeeperAsk, KeeperDone, KeeperRefusal, KeeperStep
from evercrawl.store.keeper.restoring import lacks_all, restore_copy

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from evercrawl.store.keeper.messages import KeeperAnswer, KeeperQuestion

_PURPOSE = "opening a second copy"


class FolderKeeper:
    """Writes a partition's second copy; see `evercrawl.crawl.posting.carrier.KeeperLine`.

    Parameters
    ----------
    directory
        Of the copy: a folder of the crawl's, in a folder that is there.

    Attributes
    ----------
    place
        Where it is, in words.
    whole
        Whether it has had all that counts since this process began.
    """

    def __init__(self, directory: Path) -> None:
        self._directory, self.place, self.whole = directory, str(directory), False
        self._copy: KeeperCopy | None = None
        self._disk: RealDisk | None = None

    async def ask(self, question: KeeperQuestion) -> KeeperAnswer | None:
        """Return the answer."""
        answer = await asyncio.get_running_loop().run_in_executor(None, self._answer, question)
        if isinstance(question, KeeperStep) and isinstance(answer, KeeperDone) and answer.upto == question.number:
            self.whole = self.whole or question.whole
        return answer

    def _answer(self, question: KeeperQuestion) -> KeeperAnswer:
        """Return the answer, in a thread."""
        try:
            made(self._directory.parent)  # the folder above was there when the crawl began
            made(self._directory)
            with alone(self._directory):
                if self._copy is None or isinstance(question, KeeperAsk):  # it may be another folder by now
                    self.close()
                    self._disk = RealDisk(self._directory)
                    self._copy = KeeperCopy(self._disk)
                return self._copy.answer(question)
        except (OSError, StoreError) as error:
            self.close()
            return KeeperRefusal(str(error))

    def close(self) -> None:
        """Give back what is open."""
        if self._disk is not None:
            self._disk.close()
        self._copy = self._disk = None

    def restore(self, directory: Path, life: int, since: int | None, tell: Callable[[str], None]) -> None:
        """Open the copy if a partition's directory is gone; do nothing where it is there, or there is no copy.

        Parameters
        ----------
        directory, life
            Of the partition, and the number of the life that begins.
        since
            The life that saw the copy whole; None where it has not all that counts.
        tell
            Told what was done.

        Raises
        ------
        ConfigError
            What counted is in neither, or it cannot be copied.
        """
        if not (self._directory / STATE_FILE).is_file():
            return
        with self._said(directory):
            directory.mkdir(parents=True, exist_ok=True)
        lock = Lock.take(directory, _PURPOSE, time.time())  # where an earlier process still has it, it is tried again
        try:
            with self._said(directory):
                copied = self._restored(directory, life, since)
        finally:
            lock.release()
        if copied is not None:
            tell(
                f"{directory} was gone: it was restored from its second copy ({copied} bytes of journal); pages whose "
                "bodies were only there are fetched again"
            )

    @contextlib.contextmanager
    def _said(self, directory: Path) -> Generator[None]:
        """Say what is to be mended; no process can do it by trying again."""
        try:
            yield
        except NoRoomError:
            raise
        except (OSError, StoreError) as error:
            raise ConfigError(
                f"{directory} cannot be restored from its second copy in {self.place}: {error}; mend that, and start "
                "the crawl again"
            ) from error

    def _restored(self, directory: Path, life: int, since: int | None) -> int | None:
        """Return how many bytes were copied; None where the directory is there."""
        with contextlib.closing(RealDisk(directory)) as target:
            if not lacks_all(target):
                return None
            if since is None or not is_held(self._directory, since):
                raise ConfigError(
                    f"{directory} has no partition, and its second copy in {self.place} lacks what counted since: the "
                    "crawl ran without it, or something was forgotten; restore the directory from a backup"
                )
            with alone(self._directory), contextlib.closing(RealDisk(self._directory)) as copy:
                return restore_copy(copy, target, life)

"""A keeper that is a folder of this machine, on another disk."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import time
from typing import TYPE_CHECKING

from evercrawl.errors import ConfigError, StoreError
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import Lock
from evercrawl.store.keeper.copy import STATE_FILE, KeeperCopy
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
            with self._alone():
                if self._copy is None or isinstance(question, KeeperAsk):  # it may be another folder by now
                    self.close()
                    self._disk = RealDisk(self._directory)
                    self._copy = KeeperCopy(self._disk)
                return self._copy.answer(question)
        except (OSError, StoreError) as error:
            self.close()
            return KeeperRefusal(str(error))

    @contextlib.contextmanager
    def _alone(self) -> Generator[None]:
        """Let no other process write meanwhile: one that has lost its directory may still run."""
        self._directory.parent.mkdir(exist_ok=True)  # the folder above was there when the crawl began
        self._directory.mkdir(exist_ok=True)
        fd = os.open(f"{self._directory}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)

    def close(self) -> None:
        """Give back what is open."""
        if self._disk is not None:
            self._disk.close()
        self._copy = self._disk = None

    def restore(self, directory: Path, life: int, whole: bool, tell: Callable[[str], None]) -> None:
        """Open the copy if a partition's directory is gone; do nothing where it is there, or there is no copy.

        Parameters
        ----------
        directory, life
            Of the partition, and the number of the life that begins.
        whole
            Whether the copy has all that counts.
        tell
            Told what was done.

        Raises
        ------
        ConfigError
            What counted is in neither.
        """
        if not (self._directory / STATE_FILE).is_file():
            return
        directory.mkdir(parents=True, exist_ok=True)
        lock = Lock.take(directory, _PURPOSE, time.time())
        try:
            target = RealDisk(directory)
            with contextlib.closing(target):
                if not lacks_all(target):
                    return
                if not whole:
                    raise ConfigError(
                        f"{directory} has no partition, and its second copy in {self.place} lacks what counted since: "
                        "the crawl ran without it; restore the directory from a copy"
                    )
                with self._alone(), contextlib.closing(RealDisk(self._directory)) as copy:
                    copied = restore_copy(copy, target, life)
        finally:
            lock.release()
        tell(
            f"{directory} was gone: it was restored from its second copy ({copied} bytes of journal); pages whose "
            "bodies were only there are fetched again"
        )

"""Restores a partition whose directory is gone from its second copy, in its old place."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Final

from evercrawl.cluster.old_directory import old_name
from evercrawl.errors import ConfigError, StoreError
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import Lock
from evercrawl.store.disk.modes import private
from evercrawl.store.keeper.copy import STATE_FILE
from evercrawl.store.keeper.folder import alone, is_held
from evercrawl.store.keeper.restoring import is_gone, lacks_all, line_of, restore_copy

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from evercrawl.cluster.plan import PartPlan


class PartGoneError(ConfigError):
    """A partition that was crawled is not where it should be, and no copy of it can be opened there."""


def settle_lost(plan: PartPlan, tell: Callable[[str], None]) -> None:
    """Ensure that the directory of a plan has its partition: restore it from its second copy if it is gone.

    Raises
    ------
    ConfigError
        Neither has all acknowledged data, or the copy cannot be read or written.
    """
    if plan.line:
        _set_aside(plan.directory, plan.line, plan.incarnation, tell)
    if plan.kept is not None:
        restore_lost(plan.kept, plan.directory, plan.incarnation, plan.since, tell)
    if plan.begun and is_gone(plan.directory):
        raise PartGoneError(
            f"{plan.directory} has no partition, though it was crawled there; is its disk mounted? Restore it from a "
            "backup"
        )


def _set_aside(directory: Path, line: int, life: int, tell: Callable[[str], None]) -> None:
    """Move a directory aside that is older than the copy from which its partition continued elsewhere."""
    if is_gone(directory):
        return
    with Lock.take(directory, _PURPOSE, time.time()), contextlib.closing(RealDisk(directory, read_only=True)) as disk:
        if line_of(disk) >= line:
            return
        aside = old_name(directory, life)
        try:
            directory.rename(aside)
        except OSError as error:
            raise ConfigError(
                f"{directory} is older than its second copy, and cannot be set aside: {error}; move it away"
            ) from error
    tell(f"{directory} was older than the second copy from which its partition continued; it was moved to {aside}")


_PURPOSE: Final = "opening a second copy"


def restore_lost(place: Path, directory: Path, life: int, since: int | None, tell: Callable[[str], None]) -> None:
    """Restore a partition's directory from a copy if it is gone; do nothing if it exists or there is no copy.

    Parameters
    ----------
    place
        Folder of the copy.
    directory, life
        The partition's directory, and the number of the life that starts.
    since
        The life that last saw the copy complete; None if it is not complete.
    tell
        Receives a sentence about what was done.

    Raises
    ------
    ConfigError
        Neither has all acknowledged data, or the copy cannot be read or written.
    """
    if not (place / STATE_FILE).is_file():
        return
    with _said(place, directory):
        directory.mkdir(parents=True, exist_ok=True)
    lock = Lock.take(directory, _PURPOSE, time.time())  # if an earlier process still holds it, the start is retried
    try:
        with _said(place, directory):
            copied = _restored(place, directory, life, since)
    finally:
        lock.release()
    if copied is not None:
        tell(
            f"{directory} was missing and was restored from its second copy ({copied} bytes of journal); pages whose "
            "bodies were only there are fetched again"
        )


@contextlib.contextmanager
def _said(place: Path, directory: Path) -> Generator[None]:
    """Turn errors into a message about what must be repaired, because retrying there cannot help."""
    try:
        yield
    except (OSError, StoreError) as error:
        raise PartGoneError(
            f"{directory} cannot be restored from its second copy in {place}: {error}; repair that first"
        ) from error


def _restored(place: Path, directory: Path, life: int, since: int | None) -> int | None:
    """Return the number of copied bytes; None if the directory exists."""
    with contextlib.closing(RealDisk(directory, mode=private)) as target:
        if not lacks_all(target):
            return None
        if since is None or not is_held(place, since):
            raise ConfigError(
                f"{directory} has no partition, and its second copy in {place} is incomplete: the crawl ran "
                "without it, or something was forgotten; restore the directory from a backup"
            )
        with alone(place), contextlib.closing(RealDisk(place)) as copy:
            return restore_copy(copy, target, life)

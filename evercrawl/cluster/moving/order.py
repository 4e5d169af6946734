"""Orders to move partitions or to empty machines: a file in the crawl's directory, and waiting for its result."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.ask.parts_line import part_states
from evercrawl.cluster.moving.transfer import is_there
from evercrawl.decoding import json_of
from evercrawl.errors import StoreError
from evercrawl.small_file import read_small
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import holder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILE: Final = "move.json"
LOOK_S: Final = 0.2
DRAIN: Final = -1
LIFT: Final = -2
BALANCE: Final = -3
ASKED_S: Final = 5.0
"""Interval between two checks whether the process that runs the crawl answers."""
HUNG_S: Final = 30.0
"""After this time without an answer, the caller stops waiting for that process."""


class PartMove(msgspec.Struct, frozen=True):
    """An order to move a partition or to empty a machine, and its result.

    Attributes
    ----------
    id, number, goal
        Id of the order, number of the partition, and its new place: a directory, or a machine of a cluster. The
        number is `DRAIN` or `LIFT` if that machine must be emptied, or no longer; `BALANCE` if all machines must get
        their share.
    error
        Why it was not moved; "" if it was, or is still to be moved.
    done
        Whether the order is finished.
    copied_bytes, pause_s
        Number of bytes written, and for how long the partition was paused.
    source
        The disk from which a partition of a cluster moves.
    steps
        Of an order that all machines get their share: how many partitions have to move for that.
    """

    id: str
    number: int
    goal: str
    error: str = ""
    done: bool = False
    copied_bytes: int = 0
    pause_s: float = 0.0
    source: str = ""
    steps: int = 0


def read_move(directory: Path) -> PartMove | None:
    """Return the latest order; None if there is none."""
    try:
        return json_of(read_small(directory / FILE), PartMove)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def write_move(directory: Path, move: PartMove) -> None:
    """Replace the latest order by another one, or by its result."""
    with contextlib.closing(RealDisk(directory)) as disk:
        disk.replace(FILE, [msgspec.json.encode(move)])


def ordered(directory: Path, move: PartMove, tell: Callable[[str], None]) -> PartMove:
    """Give an order to the running crawl, and return the result."""
    before = read_move(directory)
    if before is not None and not before.done:
        first = f"partition {before.number} is being moved to {before.goal}"
        raise StoreError(f"{first if before.number >= 0 else 'another order is carried out'}; wait for that first")
    if move.number >= 0:
        tell("the crawl is running, and moves it")
    write_move(directory, move)
    return _awaited(directory, move)


def _awaited(directory: Path, move: PartMove) -> PartMove:
    """Wait until the running crawl has finished a move."""
    line = _Answering(directory)
    while True:
        over, now = holder(directory) is None, read_move(directory)
        ended = now is None or now.id != move.id or bool(now.error) or (over and not now.done)
        if ended and move.number >= 0 and is_there(directory, move.number, move.goal):
            return msgspec.structs.replace(move, done=True)
        if now is None or now.id != move.id:
            raise StoreError(f"{directory / FILE} was changed by somebody else; see where the partition is")
        if now.done:
            if now.error:
                raise StoreError(outcome(now))
            return now
        if over:
            (directory / FILE).unlink(missing_ok=True)
            raise StoreError(f"the crawl ended before {_about(move)}; {_again(move)}")
        if trouble := line.trouble():
            raise StoreError(f"{trouble}. If it continues, it does that too; if not, {_again(move)}")
        time.sleep(LOOK_S)


def _about(move: PartMove) -> str:
    if move.number == BALANCE:
        return "the order was taken"
    what = "moved" if move.number >= 0 else "emptied" if move.number == DRAIN else "used again"
    return f"{f'partition {move.number}' if move.number >= 0 else f'the machine {move.goal}'} was {what}"


def _again(move: PartMove) -> str:
    return "move it again" if move.number >= 0 else "give the order again"


def outcome(moved: PartMove) -> str:
    """Return a sentence about the result of an order."""
    if moved.number == BALANCE:
        what = "1 partition moves" if moved.steps == 1 else f"{moved.steps} partitions move"
        if not moved.steps:
            return moved.error or "each machine has its share of the partitions; nothing moves"
        return moved.error or f"{what}, one after the other, so that each machine has its share"
    if moved.number < 0:
        done = "is emptied" if moved.number == DRAIN else "may have partitions again"
        return f"the machine {moved.goal} {f'cannot be: {moved.error}' if moved.error else done}"
    if moved.error:
        return f"partition {moved.number} was not moved: {moved.error}"
    return f"partition {moved.number} is in {moved.goal}; it paused {moved.pause_s:.1f} s"


class _Answering:
    """Whether the process that runs a crawl has answered recently."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._heard_at, self._asked_at = directory, time.monotonic(), time.monotonic()

    def trouble(self) -> str:
        """Return that the process hangs, and what to do; "" if it answers, or nobody listens for questions."""
        if time.monotonic() < self._asked_at + ASKED_S:
            return ""
        try:
            part_states(self._directory)
            self._heard_at = time.monotonic()
        except StoreError as error:
            if time.monotonic() >= self._heard_at + HUNG_S:
                return str(error)
        finally:
            self._asked_at = time.monotonic()
        return ""

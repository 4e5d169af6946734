"""The keeper's side of a second copy: it writes what the partition says, syncs it, and says so.

A step is written once, after the one before it. An earlier life of the partition is refused, and so is a life that
goes on with a directory from before this copy took its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
import xxhash

from evercrawl.decoding import json_of
from evercrawl.errors import StoreError
from evercrawl.store import orders, signals
from evercrawl.store.journal.segment import segment_name
from evercrawl.store.journal.tail import find_end
from evercrawl.store.keeper.messages import (
    CopyOwner,
    HeldFile,
    KeeperAsk,
    KeeperDone,
    KeeperHolds,
    KeeperRefusal,
    KeeperStep,
)
from evercrawl.store.partition import birth_id

if TYPE_CHECKING:
    from evercrawl.store.disk.disk import Disk
    from evercrawl.store.keeper.messages import FileWrite, KeeperAnswer, KeeperQuestion

STATE_FILE: Final = "keeper.json"
JOURNAL: Final = "journal-"
PIECE_BYTES: Final = 4 << 20
GROWING: Final = (orders.FILE, signals.FILE)
"""Files beside the journal to whose ends is written, and that may be large."""
_NOBODY: Final = CopyOwner("", -1, 0, 0)
_NOT_OPEN: Final = KeeperRefusal("ask what is held first")


class CopyState(msgspec.Struct, frozen=True):
    """What a copy says of itself.

    Attributes
    ----------
    owner
        Whose it is, and the last life that wrote it.
    session
        How often a life asked what is held.
    whole
        Whether it has everything that counts: while a damaged or changed part is written anew it has not.
    """

    owner: CopyOwner = _NOBODY
    session: int = 0
    whole: bool = False


def state_of(disk: Disk) -> CopyState | None:
    """Return what the copy on a disk says of itself; None where there is none.

    Raises
    ------
    StoreError
        It cannot be read.
    """
    data = disk.read(STATE_FILE, 0, disk.size(STATE_FILE))
    try:
        return json_of(data, CopyState) if data else None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreError(
            f"the second copy is damaged ({STATE_FILE}: {error}); remove it, and it is made anew"
        ) from error


def write_state(disk: Disk, state: CopyState) -> None:
    """Write what the copy on a disk says of itself."""
    disk.replace(STATE_FILE, [msgspec.json.encode(state)], private=True)


def sums(disk: Disk, name: str, size: int) -> bytes:
    """Return the checksums of the first `size` bytes of a file, a u64 for each piece."""
    pieces = (disk.read(name, at, min(PIECE_BYTES, size - at)) for at in range(0, size, PIECE_BYTES))
    return np.fromiter((xxhash.xxh3_64_intdigest(piece) for piece in pieces), np.uint64).tobytes()


class KeeperCopy:
    """One partition's second copy.

    Parameters
    ----------
    disk
        Where it is; it has nothing else.
    """

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._session, self._upto = 0, 0  # of this process: steps are counted in memory
        self._sound: bool | None = None  # until it was looked at

    def answer(self, question: KeeperQuestion) -> KeeperAnswer:
        """Return what the keeper says; what it says to have done is on the disk.

        Raises
        ------
        StoreError
            The disk cannot be written to; `NoRoomError` if it is full.
        """
        state, owner = state_of(self._disk) or CopyState(), question.owner
        if (refusal := refused(state, owner)) is not None:
            return refusal
        if isinstance(question, KeeperAsk):
            return self._begin(state, owner)
        if question.session != self._session or question.session != state.session:
            return _NOT_OPEN
        if question.number == self._upto + 1:
            self._take(state, question)
            self._upto = question.number
        return KeeperDone(self._session, self._upto)

    def _begin(self, state: CopyState, owner: CopyOwner) -> KeeperHolds:
        whole = state.whole and state.owner.line == owner.line
        write_state(self._disk, CopyState(owner, state.session + 1, whole))
        self._session, self._upto = state.session + 1, 0
        for name, _ in self._journal() if state.owner.line != owner.line else ():
            self._disk.remove(name)  # another history
        if self._sound is None:
            self._sound = self._drop_torn_end()
        files = {name: self._file(name) for name, _ in self._journal()}
        growing = {name: self._file(name) for name in GROWING if self._disk.size(name)}
        apart = (*GROWING, STATE_FILE)
        names = [name for name in self._disk.names() if not name.startswith(JOURNAL) and name not in apart]
        others = {name: xxhash.xxh3_64_intdigest(self._disk.read(name, 0, self._disk.size(name))) for name in names}
        return KeeperHolds(self._session, files, others, birth_id(self._disk), self._sound, whole, growing)

    def _file(self, name: str) -> HeldFile:
        size = self._disk.size(name)
        return HeldFile(size, sums(self._disk, name, size))

    def _journal(self) -> list[tuple[str, int]]:
        return [(name, self._disk.size(name)) for name in self._disk.names(JOURNAL)]

    def _drop_torn_end(self) -> bool:
        """Cut off what a power cut left behind the last bytes that were synced; return whether the rest is sound."""
        try:
            end = find_end(self._disk)
        except StoreError:
            return False  # the partition finds by the checksums where it is damaged
        if end.torn_bytes:
            self._disk.truncate(segment_name(end.start), end.offset - end.start)
            self._disk.sync(segment_name(end.start))
        return True

    def _take(self, state: CopyState, step: KeeperStep) -> None:
        cuts = any(0 <= write.at < self._disk.size(write.name) for write in step.writes)
        if state.whole and (cuts or step.distrusted):  # what was held is written anew, or is about to be
            state = msgspec.structs.replace(state, whole=False)
            write_state(self._disk, state)
        for write in step.writes:
            self._write(write)
        for name in {write.name for write in step.writes if write.at >= 0}:
            self._disk.sync(name)
        for name in step.gone:
            self._disk.remove(name)
        if step.whole and not state.whole:
            write_state(self._disk, msgspec.structs.replace(state, whole=True))

    def _write(self, write: FileWrite) -> None:
        if write.at < 0:
            self._disk.replace(write.name, [write.data], private=True)
            return
        if self._disk.size(write.name) > write.at:
            self._disk.truncate(write.name, write.at)
        if self._disk.size(write.name) != write.at:
            raise StoreError(f"{write.name} of the second copy was changed by somebody else; it is compared again")
        self._disk.append(write.name, write.data)


def refused(state: CopyState, owner: CopyOwner) -> KeeperRefusal | None:
    """Return why a life may not write; None if it may."""
    there = state.owner
    if there.number >= 0 and (there.cluster, there.number) != (owner.cluster, owner.number):
        return KeeperRefusal("another crawl's copy is there; name another folder", True, elsewhere=True)
    if owner.line < there.line:
        return KeeperRefusal(
            "the partition was opened from this copy since, and goes on elsewhere; move this directory away",
            True,
            elsewhere=True,
        )
    if owner.incarnation < there.incarnation:
        return KeeperRefusal("a later process has taken the place of this one", over=True)
    return None

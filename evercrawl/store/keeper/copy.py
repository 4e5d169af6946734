"""The keeper's side of a second copy: it writes and syncs what the partition sends, and confirms.

Each step is written once, in order. Earlier lives of the partition are refused, and so are lives that use a directory
from before the partition was restored from this copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
import xxhash

from evercrawl.decoding import json_of
from evercrawl.errors import StoreError
from evercrawl.small_file import small
from evercrawl.store import orders, signals
from evercrawl.store.birth import birth_id
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

if TYPE_CHECKING:
    from evercrawl.store.disk.disk import Disk
    from evercrawl.store.keeper.messages import FileWrite, KeeperAnswer, KeeperQuestion

STATE_FILE: Final = "keeper.json"
JOURNAL: Final = "journal-"
PIECE_BYTES: Final = 4 << 20
GROWING: Final = (orders.FILE, signals.FILE)
"""Files beside the journal that grow by appends, and may be large."""
_NOBODY: Final = CopyOwner("", -1, 0, 0)
_NOT_OPEN: Final = KeeperRefusal("ask what is held first")


class CopyState(msgspec.Struct, frozen=True):
    """The state of a copy, as stored in it.

    Attributes
    ----------
    owner
        The owner of the copy, and the last life that wrote it.
    session
        How many times a life has asked for the content.
    whole
        Whether the copy is complete; False while a damaged or changed part is rewritten.
    """

    owner: CopyOwner = _NOBODY
    session: int = 0
    whole: bool = False


def state_of(disk: Disk) -> CopyState | None:
    """Return the state of the copy on a disk; None if there is no copy.

    Raises
    ------
    StoreError
        The state cannot be read.
    """
    data = small(disk, STATE_FILE)
    try:
        return json_of(data, CopyState) if data else None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreError(
            f"the second copy is damaged ({STATE_FILE}: {error}); remove it, and it is created again"
        ) from error


def write_state(disk: Disk, state: CopyState) -> None:
    """Write the state of the copy on a disk."""
    disk.replace(STATE_FILE, [msgspec.json.encode(state)], private=True)


def sums(disk: Disk, name: str, size: int) -> bytes:
    """Return the checksums of the first `size` bytes of a file, a u64 for each piece."""
    pieces = (disk.read(name, at, min(PIECE_BYTES, size - at)) for at in range(0, size, PIECE_BYTES))
    return np.fromiter((xxhash.xxh3_64_intdigest(piece) for piece in pieces), np.uint64).tobytes()


class KeeperCopy:
    """The second copy of one partition.

    Parameters
    ----------
    disk
        The disk of the copy, which has nothing else.
    """

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._session, self._upto = 0, 0  # of this process; steps are counted in memory
        self._sound: bool | None = None  # None until checked

    def answer(self, question: KeeperQuestion) -> KeeperAnswer:
        """Return the answer to a question; confirmed writes are on the disk.

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
            self._disk.remove(name)  # it belongs to another history
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
        """Cut off the remains of an interrupted write after synced bytes; return whether the rest is valid."""
        try:
            end = find_end(self._disk)
        except StoreError:
            return False  # the partition finds the damage by the checksums
        if end.torn_bytes:
            self._disk.truncate(segment_name(end.start), end.offset - end.start)
            self._disk.sync(segment_name(end.start))
        return True

    def _take(self, state: CopyState, step: KeeperStep) -> None:
        cuts = any(0 <= write.at < self._disk.size(write.name) for write in step.writes)
        if state.whole and (cuts or step.distrusted):  # existing bytes are, or will be, rewritten
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
            "the partition was restored from this copy since, and continues elsewhere; move this directory away",
            True,
            elsewhere=True,
        )
    if owner.incarnation < there.incarnation:
        return KeeperRefusal("a later process has taken the place of this one", over=True)
    return None

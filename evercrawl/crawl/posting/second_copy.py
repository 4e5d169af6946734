"""A partition's side of its second copy: a visit is acknowledged once its keeper has it on another disk too.

The keeper receives what was appended to the journal after it is on the disk here, so it never holds more than the
partition does. A keeper that was away, or is new, is brought up to date by the same steps.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple

import xxhash

from evercrawl.errors import ConfigError, StoreError
from evercrawl.store.birth import COPY, FILE, KEY, birth_id
from evercrawl.store.forgotten import FILES as FORGOTTEN
from evercrawl.store.journal.segment import segments
from evercrawl.store.journal.tail import find_end
from evercrawl.store.keeper.copy import GROWING, PIECE_BYTES, sums
from evercrawl.store.keeper.folder import note_place
from evercrawl.store.keeper.messages import (
    CopyOwner,
    FileWrite,
    KeeperAsk,
    KeeperDone,
    KeeperHolds,
    KeeperRefusal,
    KeeperStep,
)
from evercrawl.store.keeper.restoring import line_of
from evercrawl.store.skipping import SKIPPED_FILE

if TYPE_CHECKING:
    from evercrawl.clock import Clock
    from evercrawl.crawl.ports import Offload
    from evercrawl.crawl.posting.carrier import KeeperLine
    from evercrawl.store.disk.disk import Disk
    from evercrawl.store.keeper.messages import HeldFile, KeeperAnswer, KeeperQuestion
    from evercrawl.store.post.ownership import Share

AGAIN_S: Final = 1.0
"""The wait before a silent keeper is asked again; after a refusal, the wait doubles each time."""
AGAIN_MOST_S: Final = 30.0
AWAY_S: Final = 2.0
"""The silence after which a keeper counts as away; nothing is requested while it is."""
LAST_S: Final = 3.0
"""How long a run waits for the keeper at its end; what the keeper lacks then is not acknowledged yet."""
SMALL: Final = (FILE, COPY, KEY, *FORGOTTEN, SKIPPED_FILE)
"""Files beside the journal that cannot be rebuilt from it, except those of `GROWING`."""
TAIL_BYTES: Final = 64
"""The number of last bytes by which a growing file is recognised at the keeper: its lines have times and ids."""


class _PendingStep(NamedTuple):
    """A step, the sizes of journal and growing files at the keeper after it, and the offset that it reaches."""

    step: KeeperStep
    held: dict[str, int]
    grown: dict[str, tuple[int, bytes]]
    reached: int


class SecondCopy:
    """Has a keeper store what a partition's journal holds.

    Parameters
    ----------
    disk, share, incarnation
        The partition's files, its number, and the number of its life.
    line
        Leads to the keeper.
    clock, offload
        The clock, and where files are read.

    Attributes
    ----------
    sent_bytes
        The number of bytes that the keeper has taken from this life.
    distrusted
        Whether the keeper has marked the copy as not to be opened, as `distrust` asked for.
    """

    def __init__(
        self, disk: Disk, share: Share, incarnation: int, line: KeeperLine, clock: Clock, offload: Offload
    ) -> None:
        self._disk, self._line, self._clock, self._offload = disk, line, clock, offload
        self._owner = CopyOwner(share.cluster, share.number, line_of(disk), incarnation)
        self._turn = asyncio.Lock()
        self._session = self._number = 0
        self._held = dict[str, int]()  # by file of the journal: its size at the keeper
        self._small = dict[str, int]()  # by other file: its checksum at the keeper
        self._grown = dict[str, tuple[int, bytes]]()  # by growing file: size at the keeper, last bytes
        self._pending: _PendingStep | None = None  # a step that may or may not have been done
        self._upto = -1
        self._waits_since: float | None = None
        self._moved_at = float("-inf")  # when the keeper last took something
        self._refused_s = AGAIN_S  # the wait after the next refusal
        self._until, self._ending = float("inf"), asyncio.Event()
        self.sent_bytes, self._trouble = 0, ""
        self._distrust = self.distrusted = False

    @property
    def away(self) -> bool:
        """Whether the keeper has not answered for `AWAY_S`."""
        return self._waits_since is not None and self._clock.now() - self._waits_since >= AWAY_S

    @property
    def message(self) -> str:
        """Return why nothing is requested; "" while the keeper answers."""
        if not self.away:
            return ""
        if self._clock.now() - self._moved_at < AWAY_S:
            return f"the second copy at {self._line.place} is being brought up to date; the crawl waits for it"
        why = f" ({self._trouble})" if self._trouble else ""
        return (
            f"the second copy at {self._line.place} cannot be written{why}; the crawl waits for it. To go on without: "
            'stop, and set durable = "disk"'
        )

    def end(self) -> None:
        """Wait for the keeper at most `LAST_S` from now on."""
        self._until = min(self._until, self._clock.now() + LAST_S)
        self._ending.set()

    async def _asked(self, question: KeeperQuestion) -> KeeperAnswer | None:
        """Return the answer; None if none comes, or if there is no time to wait for it."""
        if self._clock.now() >= self._until:
            return None
        asking, late = asyncio.ensure_future(self._line.ask(question)), asyncio.ensure_future(self._over())
        try:
            await asyncio.wait([asking, late], return_when=asyncio.FIRST_COMPLETED)
            return asking.result() if asking.done() else None
        finally:
            asking.cancel()
            late.cancel()

    async def _over(self) -> None:
        """Return once no time is left."""
        await self._ending.wait()
        await self._clock.sleep(max(self._until - self._clock.now(), 0.0))

    def distrust(self) -> None:
        """Mark the copy as not to be opened until another run has compared it, because something will be forgotten."""
        self._distrust = True

    async def hold(self, upto: int) -> bool:
        """Wait until the keeper has the journal up to an offset that is on the disk here; return False if time ran out.

        Raises
        ------
        StoreError
            Another life has taken the place of this one.
        ConfigError
            This directory lacks data that the keeper has, or the copy now belongs to another directory.
        """
        async with self._turn:
            while self._upto < upto or self._distrust != self.distrusted:
                now = self._clock.now()
                self._waits_since = now if self._waits_since is None else self._waits_since
                wait_s = await self._forward(upto)
                left = self._upto < upto or self._distrust != self.distrusted
                if left and not await self._waited(wait_s):
                    return False
            self._waits_since, self._trouble = None, ""
            return True

    async def _waited(self, wait_s: float) -> bool:
        """Wait; return whether time is left. The end may be announced meanwhile."""
        again_at = self._clock.now() + wait_s
        while (now := self._clock.now()) < min(again_at, self._until):
            await self._clock.sleep(min(AGAIN_S, again_at - now, self._until - now))
        return now < self._until

    async def _forward(self, upto: int) -> float:
        """Do the next step; return how long to wait before the one after it (s)."""
        if not self._session:
            answer = await self._asked(KeeperAsk(self._owner))
            if isinstance(answer, KeeperHolds):
                await self._offload(self._compare, answer)
                return 0.0
            return self._failed(answer)
        pending: _PendingStep = self._pending or await self._offload(self._step, upto)
        self._pending, step = pending, pending.step
        answer = await self._asked(step)
        if not isinstance(answer, KeeperDone):
            return self._failed(answer)
        self._pending = None
        if answer.session != self._session or answer.upto != step.number:
            self._session = 0
            return AGAIN_S
        self._number = step.number
        self._held.update(pending.held)
        self._grown.update(pending.grown)
        self._small.update({each.name: xxhash.xxh3_64_intdigest(each.data) for each in step.writes if each.at < 0})
        for name in step.gone:
            self._small.pop(name, None)
            self._held.pop(name, None)
            self._grown.pop(name, None)
        self.sent_bytes += sum(len(each.data) for each in step.writes)
        self._upto, self.distrusted = pending.reached, self.distrusted or step.distrusted
        self._moved_at, self._refused_s = self._clock.now(), AGAIN_S
        return 0.0

    def _failed(self, answer: KeeperAnswer | None) -> float:
        """Note that a question failed; return how long to wait before the next (s)."""
        if answer is None:
            return AGAIN_S  # the same question is sent again
        self._session, self._pending = 0, None
        if isinstance(answer, KeeperRefusal):
            if answer.over:
                trouble = ConfigError if answer.elsewhere else StoreError
                raise trouble(f"the second copy at {self._line.place} refuses: {answer.why}")
            self._trouble = answer.why
        wait_s, self._refused_s = self._refused_s, min(2 * self._refused_s, AGAIN_MOST_S)
        return wait_s

    def _compare(self, there: KeeperHolds) -> None:
        """Find how much of the copy equals the journal here."""
        here_id = birth_id(self._disk)
        if there.birth and here_id != there.birth:
            raise ConfigError(
                f"the second copy at {self._line.place} is of another history of this partition (crawl.json there has "
                f"id {there.birth}, here {here_id}): move the partition's directory away, and the copy is opened; or "
                "move the copy away, and a new one is made"
            )
        self._held, self._number = dict[str, int](), 0
        self._small, self._grown = dict(there.others), dict[str, tuple[int, bytes]]()
        lacks = {segment.name: segment.end - segment.start for segment in segments(self._disk)}
        for name, held in there.files.items():
            here = lacks.get(name, 0)
            if held.size > here:  # a keeper is sent only what is on the disk here
                raise ConfigError(
                    f"{name} has {here} bytes, and its second copy at {self._line.place} has {held.size}: acknowledged "
                    "data is missing here; move the partition's directory away, and the copy is opened"
                )
            self._held[name] = self._same(name, held)
        if any(same < 0 for same in self._held.values()):
            self._see_forgotten(there)
        for name, held in there.growing.items():
            same = self._same(name, held)
            self._grown[name] = same, self._tail(name, same if same >= 0 else -1 - same)
        note_place(self._disk, self._line.place)
        self._session = there.session

    def _same(self, name: str, held: HeldFile) -> int:
        """Return how many bytes of a file are equal there; -1 less that number if the rest there must be cut first."""
        size = min(self._disk.size(name), held.size)
        same = _equal_bytes(held.sums, sums(self._disk, name, size), size)
        return same if same == held.size else -1 - same

    def _tail(self, name: str, size: int) -> bytes:
        """Return the last of the first `size` bytes of a file."""
        return self._disk.read(name, max(size - TAIL_BYTES, 0), min(size, TAIL_BYTES))

    def _see_forgotten(self, there: KeeperHolds) -> None:
        """Check that the journal here may replace the differing part of the copy."""
        held = max(segment.start + there.files[segment.name].size for segment in segments(self._disk)
                   if segment.name in there.files)  # fmt: skip
        try:
            end = find_end(self._disk)
            wrong = "" if end.offset >= held else f"the journal is damaged: it ends at byte {end.offset}"
        except StoreError as error:
            wrong = str(error)
        if wrong:
            do = "move the partition's directory away, and its second copy is opened"
            if not there.whole or not there.sound:
                do = "its second copy cannot be opened either"
            raise ConfigError(f"{wrong}; it differs from the second copy at {self._line.place}: {do}")
        told = any(there.others.get(name) != self._sum(name) for name in FORGOTTEN)
        if there.whole and there.sound and not told:
            raise ConfigError(
                f"the journal differs from its second copy at {self._line.place}, both are sound, and nothing was "
                "forgotten since: one of them is of another history. Move the partition's directory away, and the copy "
                "is opened; or move the copy away, and a new one is made"
            )

    def _sum(self, name: str) -> int | None:
        """Return the checksum of a small file; None if it is missing or empty."""
        size = self._disk.size(name)
        return xxhash.xxh3_64_intdigest(self._disk.read(name, 0, size)) if size else None

    def _step(self, upto: int) -> _PendingStep:
        """Return the next step towards an offset."""
        writes, held, room = self._changed(), dict[str, int](), PIECE_BYTES
        grown, whole = dict[str, tuple[int, bytes]](), True
        for name in GROWING:
            if (write := self._growth(name)) is not None:
                writes.append(write)
                upto_there = write.at + len(write.data)
                grown[name] = upto_there, self._tail(name, upto_there)
                whole = whole and upto_there == self._disk.size(name)
        files = {segment.name: segment for segment in segments(self._disk) if segment.start < upto}
        for name, segment in files.items():
            at, wanted = self._held.get(name, 0), min(segment.end, upto) - segment.start
            cut, at = at < 0, at if at >= 0 else -1 - at
            data = self._disk.read(name, at, min(wanted - at, room)) if at < wanted and room else b""
            if data or cut:
                writes.append(FileWrite(name, at, data))
                held[name], room = at + len(data), room - len(data)
            whole = whole and at + len(data) >= wanted
        gone = [name for name in self._held if name not in files]
        gone += [name for name in (*self._small, *self._grown) if not self._disk.size(name)]
        trusted, distrusted = whole and not self._distrust, self._distrust
        step = KeeperStep(self._owner, self._session, self._number + 1, writes, gone, trusted, distrusted)
        return _PendingStep(step, held, grown, upto if whole else self._upto)

    def _growth(self, name: str) -> FileWrite | None:
        """Return the next piece of a growing file; None if the keeper has all of it."""
        size, (at, tail) = self._disk.size(name), self._grown.get(name, (0, b""))
        if size == at:
            return None
        if at < 0:
            at = -1 - at
        elif size < at or self._tail(name, at) != tail:  # another file has taken its place
            at = 0
        return FileWrite(name, at, self._disk.read(name, at, min(size - at, PIECE_BYTES))) if size else None

    def _changed(self) -> list[FileWrite]:
        """Return the small files that differ at the keeper."""
        found = list[FileWrite]()
        for name in SMALL:
            size = self._disk.size(name)
            data = self._disk.read(name, 0, size) if size else b""
            if data and self._small.get(name) != xxhash.xxh3_64_intdigest(data):
                found.append(FileWrite(name, -1, data))
        return found


def _equal_bytes(one: bytes, other: bytes, size: int) -> int:
    """Return how many of the first `size` bytes have equal checksums, from the beginning, in whole pieces.

    >>> _equal_bytes(b"12345678abcdefgh", b"12345678ABCDEFGH", PIECE_BYTES + 7) == PIECE_BYTES
    True
    """
    pairs = zip(range(0, len(other), 8), range(0, size, PIECE_BYTES), strict=True)
    return next((at for place, at in pairs if one[place : place + 8] != other[place : place + 8]), size)

"""One crawl directory, opened: lock, journal, state and archive, repaired where a crash tore them.

What a crash can leave behind, and what opening does about it:

* a torn end of the journal: cut; those events were never acknowledged
* archive records that no event names: cut; their pages are fetched again, so no record is doubled
* an event whose record is not whole (a damaged disk): the page counts as never fetched again (`Lost`)
* derived files (`known.bin`, `urls.log`) behind or ahead of the snapshot: cut, or made again from the journal
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from evercrawl.arrays.hasher import SECRET_BYTES, Hasher
from evercrawl.decoding import json_of
from evercrawl.errors import ConfigError, EvercrawlError, StoreError
from evercrawl.store import folding, forgetting, forgotten
from evercrawl.store.archive.archive import Archive
from evercrawl.store.archive.pointer import ArchiveEnd, Pointer
from evercrawl.store.disk import stamped
from evercrawl.store.disk.disk import Disk, RealDisk
from evercrawl.store.disk.lock import PURPOSE, Lock
from evercrawl.store.journal.events import Lost, RequisiteFetched, Switched, Visit
from evercrawl.store.journal.journal import Journal
from evercrawl.store.post.book import PostBook
from evercrawl.store.post.ownership import Ownership, Share
from evercrawl.store.repair.kept import keep_archive_end
from evercrawl.store.requisites.losing import gone_of, lost_requisites, record_of
from evercrawl.store.scheme import Scheme
from evercrawl.store.skipping import SkippedEvents, UnfoldedError
from evercrawl.store.snapshots import snapshot
from evercrawl.store.snapshots.blocklog import BlockLog
from evercrawl.store.snapshots.head import KIND, OtherHashesError, OtherSitesError
from evercrawl.store.snapshots.restoring import restore, see_references
from evercrawl.store.state import State

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from evercrawl.store.journal.events import Event

__all__ = ["COPY", "FILE", "FORMAT", "SHARED_FORMAT", "Birth", "Partition", "Scheme", "is_crawl"]

FORMAT: Final = 2
"""Of the directory; those of format 1 have no secret, and so public hashes."""
SHARED_FORMAT: Final = 3
"""Of a directory that is one of several partitions: who does not know of the others must not crawl it."""
FILE: Final = "crawl.json"
PARTED: Final = "cluster.json"
"""What a directory has in which a crawl in several partitions is."""
COPY: Final = "crawl-copy.json"
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LATEST_S: Final = 1e11
KEY: Final = "crawl.key"
"""The secret once more: of all that those two say, nothing else could tell it."""


class SwitchProgress(msgspec.Struct, array_like=True, frozen=True):
    """How far a switch to another scheme had come that was asked to end.

    Attributes
    ----------
    events, upto
        How much of its work was done, by its own count, and how many events there were before it.
    sequence
        How many there were when it ended: where there are others, or fewer, the next start begins anew.
    """

    events: int
    upto: int
    sequence: int


class Birth(msgspec.Struct):
    """What a crawl directory says of itself: version of its format, the crawl's id and when it was made.

    Attributes
    ----------
    scheme
        How importance is learned; while it is being switched to another, still as before.
    begun
        How it was learned at first, where it has been switched since; with that the fold of the journal begins.
    unfinished
        Whether a switch was begun and has not ended; be it to the very scheme that `scheme` still names.
    judged
        How far it had come, if it was asked to end and nothing has happened since.
    secret
        Under which strangers' texts are hashed, in hexadecimal digits; see `Hasher`. Never shown.
    share
        Which partition of a crawl it is, where there are others.
    """

    format: int
    id: str
    made_at: float
    scheme: Scheme = Scheme()
    begun: Scheme | None = None
    unfinished: bool = False
    judged: SwitchProgress | None = None
    secret: str = ""
    share: Share | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        """See that there is a secret where the format has one, and that the id, which is in names of files, is one."""
        if self.format <= SHARED_FORMAT and len(bytes.fromhex(self.secret)) != (SECRET_BYTES if self.format > 1 else 0):
            raise ValueError("its secret is not one")
        if (self.format == SHARED_FORMAT) != isinstance(self.share, Share):
            raise ValueError("it does not say which partition it is")
        if not _ID.fullmatch(self.id) or not abs(self.made_at) < _LATEST_S:
            raise ValueError("its id or the instant at which it was made is none")

    def __repr__(self) -> str:
        """Return which crawl this is, without its secret."""
        return f"Birth(format={self.format}, id={self.id!r}, made_at={self.made_at})"

    @property
    def hasher(self) -> Hasher:
        """Return the hashes of the crawl."""
        return Hasher(bytes.fromhex(self.secret))

    @property
    def first(self) -> Scheme:
        """Return how importance was learned when the crawl began."""
        return self.begun or self.scheme


def write_birth(disk: Disk, birth: Birth) -> None:
    """Write it twice: the file is small, and without it nothing else can be understood."""
    for name in (FILE, COPY):
        disk.replace(name, [msgspec.json.encode(birth)], private=True)
    if birth.secret:
        disk.replace(KEY, [birth.secret.encode()], private=True)


def is_crawl(directory: Path) -> bool:
    """Whether a crawl was ever started in `directory`."""
    return (directory / FILE).is_file() or (directory / COPY).is_file()


def see_single(directory: Path) -> None:
    """See that a directory is not that of a crawl in several partitions, which has each of them in a folder below.

    Raises
    ------
    ConfigError
        It is; nothing may be written beside them.
    """
    if (directory / PARTED).is_file() and not is_crawl(directory):
        raise ConfigError(
            f"the crawl in {directory} has several partitions, each a directory of its own; name one of them, such as "
            f"{directory / 'part-0'}, or ask for all on the command line: evercrawl status --dir {directory}"
        )


def crawl_id(directory: Path) -> str:
    """Return the id of the crawl in `directory`; "" where none can be read.

    Every crawl has another, also one that took the place of a crawl that was removed.
    """
    return _id_in(lambda name: (directory / name).read_bytes())


def birth_id(disk: Disk) -> str:
    """Return the id of the crawl on a disk; "" where none can be read."""
    return _id_in(lambda name: disk.read(name, 0, disk.size(name)))


def _id_in(read: Callable[[str], bytes]) -> str:
    for name in (FILE, COPY):
        with contextlib.suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError, StoreError):
            return json_of(read(name), Birth).id
    return ""


class Partition:
    """The hosts of one crawl and all that is remembered of them.

    Parameters
    ----------
    secret
        Under which a new crawl hashes what strangers choose, 16 bytes: that of others with which it shares URLs. By
        default it is drawn.
    share
        Which partition of a crawl a new directory is; None for a crawl of its own.

    Attributes
    ----------
    random
        Draws bytes.
    hasher
        Hashes under the secret of the crawl.
    repairs
        Sentences on what opening had to mend; empty after a clean stop.
    new
        Whether there was no crawl before.
    forgotten_stamp
        As `forgotten.stamp` was when it was opened.
    skipped
        Events of the journal that are set aside; none unless it was opened `forgiving`.
    """

    def __init__(
        self,
        directory: Path,
        random: Callable[[int], bytes],
        *,
        now: float,
        writable: bool = True,
        software: str = "evercrawl",
        agent: str = "evercrawl",
        segment_bytes: int = 1 << 30,
        disk: Disk | None = None,
        fold_all: bool = False,
        lock: Lock | None = None,
        site: Callable[[str], str] = str,
        site_rules: int = 0,
        scheme: Scheme | None = None,
        secret: bytes | None = None,
        forgiving: bool = False,
        share: Share | None = None,
    ) -> None:
        self.directory = directory
        self.forgotten_stamp = forgotten.stamp(directory)
        self._forgiving, self._lost_end = forgiving, False
        self.random = random
        self._site, self._site_rules = site, site_rules
        self.repairs: list[str] = []
        if disk is None:
            see_single(directory)
        self._lock = Lock.take(directory, PURPOSE, now) if writable and lock is None and disk is None else lock
        try:
            self.disk: Disk = disk or RealDisk(directory, read_only=not writable)
            self._finish_forgetting(writable)
            self.birth = self._born(random, now, writable, scheme or Scheme(), secret, share)
            self.hasher = self.birth.hasher
            if isinstance(self.birth.share, Share):
                self.birth.share.check_rules(site_rules, directory)
            self.archive = Archive(
                self.disk, self.birth.id, random, software=software, agent=agent, segment_bytes=segment_bytes
            )
            self._archive_end = ArchiveEnd()
            self.skipped = SkippedEvents(self.disk, writable=writable)
            self._open(writable, fold_all, now)
        except BaseException:
            self.close()
            raise

    def _finish_forgetting(self, writable: bool) -> None:
        """Carry out what was begun, before anything of the directory is read."""
        if not forgetting.unfinished(self.disk):
            return
        if not writable:
            message = f"{self.directory} {forgetting.UNFINISHED}"
            raise StoreError(f"{message}; finish that with: evercrawl forget --finish --dir {self.directory}")
        forgetting.carry_out(self.directory, self.disk)
        self.repairs.append("what the crawl was told to forget was forgotten to the end")

    def _born(
        self,
        random: Callable[[int], bytes],
        now: float,
        writable: bool,
        scheme: Scheme,
        secret: bytes | None,
        share: Share | None,
    ) -> Birth:
        data = self.disk.read(FILE, 0, self.disk.size(FILE))
        lost = not data and bool(self.disk.names("journal-"))  # this file is written before any other
        self.new = not data and not lost
        if data or lost:
            return self._known_birth(data, writable)
        if not writable:
            raise ConfigError(
                f"there is no crawl in {self.directory}; start one with: evercrawl crawl URL --dir {self.directory}"
            )
        birth = Birth(
            FORMAT if share is None else SHARED_FORMAT, random(4).hex(), now, scheme,
            secret=(secret or random(SECRET_BYTES)).hex(), share=msgspec.UNSET if share is None else share,
        )  # fmt: skip
        self._write(birth)
        return birth

    def _known_birth(self, data: bytes, writable: bool) -> Birth:
        """Return what the file says, or its copy, where it is damaged or lost."""
        copy = self.disk.read(COPY, 0, self.disk.size(COPY))
        try:
            birth = json_of(data, Birth)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            try:
                birth = json_of(copy, Birth)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                what = f"damaged: {error}" if data else "lost, and a journal is there"
                raise StoreError(f"{self.directory / FILE} is {what}; restore it from a copy") from error
            self.repairs.append(f"{FILE} was {'damaged' if data else 'lost'}; {COPY} says what it said")
            data = copy
        if birth.format > SHARED_FORMAT:
            raise StoreError(
                f"{self.directory} was made by a newer evercrawl (format {birth.format}, "
                f"this one reads {SHARED_FORMAT}); upgrade evercrawl"
            )
        if writable and (self.repairs or copy != data or self.disk.read(KEY, 0, 64) != birth.secret.encode()):
            self._write(birth)
        return birth

    def _write(self, birth: Birth) -> None:
        write_birth(self.disk, birth)

    def _open(self, writable: bool, fold_all: bool, now: float) -> None:
        loaded, troubles = (None, []) if fold_all else snapshot.load(self.disk)
        self.repairs += troubles
        self.journal = Journal.open(self.disk, writable=writable, good=loaded.head.position if loaded else 0)
        if self.journal.repaired:
            self.repairs.append(self.journal.repaired)
        if writable and loaded is not None and loaded.head.sequence and not self.journal.sequence:
            raise StoreError(
                f"the journal of {self.directory} is gone, and snapshot {loaded.name} shows that there was one; "
                "restore the journal-* files from a copy, or start a new crawl in another directory"
            )
        if loaded is not None and loaded.head.sequence > self.journal.sequence:
            self.repairs.append(f"the journal ends before snapshot {loaded.name} was made; it is folded anew")
            self._lost_end = True
            if writable:  # once the journal has grown past it again, it would look as if it fitted
                self.disk.remove(loaded.name)
            loaded = None
        if writable:
            stamped.forget_later(self.disk, stamped.LESSONS, self.journal.sequence)
        try:
            self._fold_on(loaded, writable, fold_all, now)
        except (OtherHashesError, OtherSitesError):
            self._fold_on(None, writable, fold_all, now)
        except StoreError as error:
            if loaded is None:
                raise
            self.repairs.append(f"{error}; made again from the journal")
            self._fold_on(None, writable, fold_all, now)
        if writable:
            self._mend_archive(max(now, self.state.last_at()))  # the clock may have been set back

    def _fold_on(self, loaded: snapshot.Loaded | None, writable: bool, fold_all: bool, now: float) -> None:
        """Fold, and where our own code fails on an event begin again without that, if that is borne."""
        while True:
            try:
                return self._fold(loaded, writable, fold_all)
            except UnfoldedError as failed:
                if not self._forgiving:
                    raise failed.__cause__ or failed from None
                sentence = self.skipped.add(failed, now)
                self.repairs += [sentence] if writable else []

    def _fold(self, loaded: snapshot.Loaded | None, writable: bool, fold_all: bool) -> None:
        head = loaded.head if loaded else None
        post = self._empty_post()
        self._log = BlockLog(self.disk, KIND, loaded.placed if loaded else [])
        self.state = State(
            self.disk,
            self.birth.made_at,
            self.hasher,
            self._site,
            self.journal.read,
            scheme=self.birth.first,
            known=head.known if head else 0,
            tail=head.tail if head else [],
            writable=writable and not fold_all,
            site_rules=self._site_rules,
            post=post,
        )
        self.state.forgotten = forgotten.load(self.disk)
        if loaded is not None:
            restore(self.state, loaded, self.disk)
        self._archive_end = head.archive_end if head else ArchiveEnd()
        given_up = False
        for pointer, number, event in self.journal.replay(head.position if head else 0, follow=True):
            try:
                folding.replay(self.state, self.skipped.reduced(event, number), pointer, number)
            except (EvercrawlError, MemoryError):
                raise
            except Exception as error:
                raise UnfoldedError(event, number) from error
            if (record := record_of(event)) is not None:
                self._archive_end = max(self._archive_end, record.end)
            given_up = given_up or gone_of(event) is not None
        if loaded is not None:
            see_references(self.state, loaded.name)
        self.state.forget_pages()
        self.state.cashbook.saved = self.state.folded = None  # what is folded from now on is in no snapshot
        if loaded is not None and not self.state.cashbook.balance():
            raise StoreError(f"the cash of snapshot {loaded.name} does not add up")
        if given_up:  # the archive was cut in between
            self._archive_end = max((where.end for _, _, where in self._named()), default=ArchiveEnd())

    def _empty_post(self) -> PostBook | None:
        share = self.birth.share
        return PostBook(Ownership(share, self.hasher, self._site)) if isinstance(share, Share) else None

    def empty_state(self) -> State:
        """Return a state like this crawl's before its first event, which writes nothing: to fold the journal anew."""
        state = State(
            self.disk, self.birth.made_at, self.hasher, self._site, self.journal.read,
            scheme=self.birth.first, writable=False, post=self._empty_post(),
        )  # fmt: skip
        state.forgotten = self.state.forgotten
        return state

    @property
    def scheme(self) -> Scheme:
        """Return how importance is learned, by the journal: where a switch was begun and not ended, as it would be."""
        return self.state.scheme

    @property
    def unswitched(self) -> bool:
        """Whether a switch to another scheme was begun and has not ended, so that not all of the history is settled."""
        return self.birth.unfinished or self.state.scheme != self.birth.scheme

    def switching(self, now: float, goal: Scheme) -> None:
        """Begin to switch to another scheme; until `switched`, whoever opens the crawl knows of it."""
        self._switch(None)
        self.remember(Switched(now, goal))

    def pause_switch(self, events: int, upto: int) -> None:
        """Note how far a switch has come that ends here; all that it moved is on the disk. As in `SwitchProgress`."""
        assert self.journal.written == self.journal.sequence, "a switch ends with a commit"
        self._switch(SwitchProgress(events, upto, self.journal.sequence))

    def resume_switch(self, goal: Scheme) -> SwitchProgress | None:
        """Return how far a switch to a scheme had come, from where it may go on; None where it has to begin anew."""
        judged = self.birth.judged
        if judged is None or self.state.scheme != goal or self.journal.sequence != judged.sequence:
            return None
        self._switch(None)  # what is moved from now on is not counted until it ends
        return judged

    def _switch(self, judged: SwitchProgress | None) -> None:
        self.birth = msgspec.structs.replace(self.birth, begun=self.birth.first, unfinished=True, judged=judged)
        self._write(self.birth)

    def switched(self) -> None:
        """Make the scheme that the journal ends with the crawl's; all that the switch moved is on the disk."""
        assert self.journal.written == self.journal.sequence, "a switch ends with a commit"
        birth, scheme = self.birth, self.state.scheme
        self.birth = Birth(
            birth.format, birth.id, birth.made_at, scheme, birth.first, secret=birth.secret, share=birth.share
        )
        self._write(self.birth)

    def _named(self) -> Iterator[tuple[int, Visit | RequisiteFetched, Pointer]]:
        """Yield the events whose records should be in the archive, their places in the journal, and in the archive."""
        gone = {where: number for _, number, event in self.journal.replay() if (where := gone_of(event)) is not None}
        for pointer, number, event in self.journal.replay():
            if (where := record_of(event)) is not None and gone.get(where, -1) < number:
                assert isinstance(event, (Visit, RequisiteFetched))
                yield pointer, event, where

    def _mend_archive(self, now: float) -> None:
        """Make the archive end where the journal says it does, one way or the other."""
        end = self.archive.end
        if end > self._archive_end:
            if self._lost_end:  # what was acknowledged then is in the archive, though nothing names it any more
                keep_archive_end(self.disk, self.archive, self._archive_end)
            self.archive.cut(*self._archive_end)
            self.repairs.append("records at the archive's end that no acknowledged fetch names were cut off")
        elif end < self._archive_end:
            self._give_up_broken(now)

    def _give_up_broken(self, now: float) -> None:
        whole_end, broken = ArchiveEnd(), set[Pointer]()
        for _, _, where in self._named():
            if self.archive.whole(where):
                whole_end = max(whole_end, where.end)
            else:
                broken.add(where)
        self.archive.cut(*whole_end)
        if not self.archive.segments():  # elsewhere there may be copies of those that were here: no name comes again
            self.archive.cut(self._archive_end.segment + 1, 0)
        self._archive_end = whole_end
        lost = self.give_up(broken, now, "the archive ends before its record")
        if lost:
            self.repairs.append(f"the archive had lost {len(broken)} records; their pages will be fetched again")

    def give_up(self, broken: set[Pointer], now: float, why: str) -> list[Lost]:
        """Write down, for good, that these records of the archive are gone; return what was written.

        Pages whose newest content was in them are to be fetched again: their own, and those that had the same.
        """
        state, found, lost_at = self.state, list[Lost](), set[int]()
        for pointer, event, where in self._named():
            if isinstance(event, RequisiteFetched):
                continue
            index = state.record_of(event.slot)
            current = index is not None and int(state.records.rows["event"][index]) == pointer
            if where in broken:
                lost_at.add(pointer)
            if where in broken or (current and event.content in lost_at):
                found.append(Lost(event.slot, event.host, now, where, why, current))
        for lost in found:
            self.remember(lost)
        for requisite in lost_requisites(self.journal, broken, now):
            self.remember(requisite)
        self.journal.write(self.journal.seal())
        return found

    @property
    def archive_end(self) -> ArchiveEnd:
        """Return segment and size at which the archive ended by the journal, when this was opened."""
        return self._archive_end

    def tell(self, socket: str) -> None:
        """Say in the lock file where this process listens."""
        if self._lock is not None:
            self._lock.tell(socket)

    def remember(self, event: Event, held: Visit | None = None) -> int:
        """Journal an event whose discoveries are admitted, and fold it; return its pointer. Not yet acknowledged.

        `held` is the event that `links` points to, where it is at hand.
        """
        pointer = self.journal.append(event)
        folding.fold(self.state, event, folding.Place(pointer, held=held))
        return pointer

    async def snapshot(self, commit: Callable[[], Awaitable[None]], offload: Callable[..., Awaitable[Any]]) -> str:
        """Write a snapshot while the crawl goes on; see `evercrawl.store.snapshots.snapshot.write`."""
        while not self.state.cashbook.audit_some():
            await offload(_nothing)  # whatever else there is to do comes first
        return await snapshot.write(self.state, self.journal, self._log, self.disk, self.archive.end, commit, offload)

    def flush(self) -> None:
        """Write what the derived files are behind; they may be made again from the journal, so nothing is synced."""
        self.state.known.flush()
        self.state.urls.flush()

    def index_archive(self, current: bool = True, read_bytes: int | None = None) -> None:
        """Write the CDXJ index of every segment that has grown since; see `Archive.index`."""
        self.archive.index(current=current, read_bytes=read_bytes)

    def close(self) -> None:
        """Let the directory go; what is not committed is lost."""
        with contextlib.suppress(AttributeError):
            self.disk.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def _nothing() -> None:
    pass

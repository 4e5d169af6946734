"""A crawl directory, opened: lock, journal, state and archive, with repair of the traces of a crash.

A crash can leave the following traces:

* a torn end of the journal: it is cut; those events were never acknowledged
* archive records that no event names: they are cut; their pages are fetched again, so no record is duplicated
* an event whose record is incomplete (a damaged disk): the page counts as never fetched (`Lost`)
* derived files (`known.bin`, `urls.log`) that do not match the snapshot: they are cut, or rebuilt from the journal
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import msgspec

from evercrawl.arrays.hasher import SECRET_BYTES
from evercrawl.decoding import json_of
from evercrawl.errors import ConfigError, EvercrawlError, StoreError
from evercrawl.small_file import small
from evercrawl.store import folding, forgetting, forgotten, keeping
from evercrawl.store.archive.archive import Archive
from evercrawl.store.archive.pointer import ArchiveEnd, Pointer
from evercrawl.store.birth import (
    COPY,
    FILE,
    FORMAT,
    KEY,
    SHARED_FORMAT,
    UNFINISHED,
    Birth,
    SwitchProgress,
    see_finished,
    see_single,
    write_birth,
)
from evercrawl.store.disk import stamped
from evercrawl.store.disk.disk import Disk, RealDisk
from evercrawl.store.disk.lock import PURPOSE, Lock
from evercrawl.store.journal.events import Lost, Switched, Visit
from evercrawl.store.journal.journal import Journal
from evercrawl.store.journal.requisite_events import RequisiteFetched
from evercrawl.store.journal.segment import HEADER_BYTES, segments
from evercrawl.store.post.book import PostBook
from evercrawl.store.post.ownership import Ownership, Share
from evercrawl.store.repair.kept import keep_archive_end
from evercrawl.store.requisites.losing import gone_of, gone_records, lost_requisites, record_of
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


class Partition:
    """The state and files of one crawl, or of one of its partitions.

    Parameters
    ----------
    secret
        Key of a new crawl's hashes of foreign texts, 16 bytes: that of the crawls with which it shares URLs; random
        by default.
    share
        Which partition of a crawl a new directory is; None for a crawl of its own.

    Attributes
    ----------
    random
        Returns random bytes.
    hasher
        Hashes under the secret of the crawl.
    repairs
        Sentences about repairs at opening; empty after a clean stop.
    new
        Whether the crawl is new.
    forgotten_stamp
        Value of `forgotten.stamp` at opening.
    skipped
        Events of the journal that are skipped; none unless opened `forgiving`.
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
        self._forgiving = forgiving
        self.random = random
        self._site, self._site_rules = site, site_rules
        self.repairs: list[str] = []
        if disk is None:
            see_single(directory)
        self._lock = Lock.take(directory, PURPOSE, now) if writable and lock is None and disk is None else lock
        try:
            self.disk: Disk = disk or RealDisk(directory, read_only=not writable)
            see_finished(self.disk.size(UNFINISHED), directory)
            self._finish_forgetting(writable)
            self.birth = self._born(random, now, writable, scheme or Scheme(), secret, share)
            self.hasher = self.birth.hasher
            if isinstance(self.birth.share, Share):
                self.birth.share.check_rules(site_rules, directory)
            self.archive = Archive(
                self.disk, self.birth.id, random, software=software, agent=agent, segment_bytes=segment_bytes
            )
            self._archive_end = self._named_end = ArchiveEnd()
            self.skipped = SkippedEvents(self.disk, writable=writable)
            self._open(writable, fold_all, now)
        except BaseException:
            self.close()
            raise

    def _finish_forgetting(self, writable: bool) -> None:
        """Complete an interrupted forgetting, before anything else in the directory is read."""
        if not forgetting.unfinished(self.disk):
            return
        if not writable:
            message = f"{self.directory} {forgetting.UNFINISHED}"
            raise StoreError(f"{message}; finish that with: evercrawl forget --finish --dir {self.directory}")
        forgetting.carry_out(self.directory, self.disk)
        self.repairs.append("an interrupted forgetting was completed")

    def _born(
        self,
        random: Callable[[int], bytes],
        now: float,
        writable: bool,
        scheme: Scheme,
        secret: bytes | None,
        share: Share | None,
    ) -> Birth:
        data = small(self.disk, FILE)
        lost = not data and bool(self.disk.names("journal-"))  # this file is written before all others
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
        """Return the content of the file, or of its copy if the file is damaged or lost."""
        copy = small(self.disk, COPY)
        try:
            birth = json_of(data, Birth)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            try:
                birth = json_of(copy, Birth)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                what = f"damaged: {error}" if data else "lost, and a journal is there"
                raise StoreError(f"{self.directory / FILE} is {what}; restore it from a copy") from error
            self.repairs.append(f"{FILE} was {'damaged' if data else 'lost'}; it was read from {COPY}")
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
        if writable and loaded is not None:
            files = segments(self.disk)  # before a torn end is cut off
            self._see_reached(loaded.name, (files[-1].end if files else 0) + HEADER_BYTES >= loaded.head.position)
        self.journal = Journal.open(self.disk, writable=writable, good=loaded.head.position if loaded else 0)
        if self.journal.repaired:
            self.repairs.append(self.journal.repaired)
        for name in snapshot.names(self.disk) if writable else ():
            self._see_reached(name, stamped.stamp(name) <= self.journal.sequence)
        if loaded is not None and loaded.head.sequence > self.journal.sequence:
            self.repairs.append(f"the journal ends before snapshot {loaded.name} was made; it is folded again")
            loaded = None
        if loaded is not None and loaded.head.hashes != self.hasher.mark:  # known.bin may be of either secret
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
            self.repairs.append(f"{error}; rebuilt from the journal")
            self._fold_on(None, writable, fold_all, now)
        if writable:
            self._finish_keeping()
            self._mend_archive(max(now, self.state.last_at()))  # the clock may have been set back

    def _see_reached(self, name: str, reached: bool) -> None:
        """Refuse to go on where acknowledged events are gone: snapshots are written after the events they contain."""
        if not reached:
            raise StoreError(
                f"the journal of {self.directory} ends before snapshot {name} was made: acknowledged events are lost; "
                "restore the journal-* files from a copy, as with evercrawl verify --repair --from DIRECTORY, or give "
                "those events up with evercrawl verify --repair --cut"
            )

    def _fold_on(self, loaded: snapshot.Loaded | None, writable: bool, fold_all: bool, now: float) -> None:
        """Fold; if our own code fails on an event and that is tolerated, start again without the event."""
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
        self.state.cashbook.saved = self.state.folded = None  # no snapshot contains what is folded from now on
        if loaded is not None and not self.state.cashbook.balance():
            raise StoreError(f"the cash of snapshot {loaded.name} does not add up")
        self._named_end = self._archive_end
        if given_up:  # the archive was cut meanwhile
            self._archive_end = max((where.end for _, _, where in self._named()), default=ArchiveEnd())

    def _empty_post(self) -> PostBook | None:
        share = self.birth.share
        return PostBook(Ownership(share, self.hasher, self._site)) if isinstance(share, Share) else None

    def empty_state(self) -> State:
        """Return an empty state for this crawl that writes nothing, for folding the journal again."""
        state = State(
            self.disk, self.birth.made_at, self.hasher, self._site, self.journal.read,
            scheme=self.birth.first, writable=False, post=self._empty_post(),
        )  # fmt: skip
        state.forgotten = self.state.forgotten
        return state

    @property
    def scheme(self) -> Scheme:
        """Return the scheme of importance according to the journal; during an unfinished switch, the new one."""
        return self.state.scheme

    @property
    def unswitched(self) -> bool:
        """Return whether a switch to another scheme is unfinished, so that part of the history is not settled."""
        return self.birth.unfinished or self.state.scheme != self.birth.scheme

    def switching(self, now: float, goal: Scheme) -> None:
        """Begin to switch to another scheme; until `switched`, everyone who opens the crawl knows of it."""
        self._switch(None)
        self.remember(Switched(now, goal))

    def pause_switch(self, events: int, upto: int) -> None:
        """Record how far an interrupted switch has come, as in `SwitchProgress`; all its changes are on the disk."""
        assert self.journal.written == self.journal.sequence, "a switch ends with a commit"
        self._switch(SwitchProgress(events, upto, self.journal.sequence))

    def resume_switch(self, goal: Scheme) -> SwitchProgress | None:
        """Return how far a switch to a scheme has come, so that it can continue; None if it must start again."""
        judged = self.birth.judged
        if judged is None or self.state.scheme != goal or self.journal.sequence != judged.sequence:
            return None
        self._switch(None)  # changes from now on are counted only when it is interrupted or ends
        return judged

    def _switch(self, judged: SwitchProgress | None) -> None:
        self.birth = msgspec.structs.replace(self.birth, begun=self.birth.first, unfinished=True, judged=judged)
        self._write(self.birth)

    def switched(self) -> None:
        """Make the journal's last scheme the crawl's; all changes of the switch are on the disk."""
        assert self.journal.written == self.journal.sequence, "a switch ends with a commit"
        birth, scheme = self.birth, self.state.scheme
        self.birth = Birth(
            birth.format, birth.id, birth.made_at, scheme, birth.first, secret=birth.secret, share=birth.share
        )
        self._write(self.birth)

    def _named(self) -> Iterator[tuple[int, Visit | RequisiteFetched, Pointer]]:
        """Yield the events whose records should be in the archive, their places in the journal, and in the archive."""
        gone = gone_records(self.journal.replay())
        for pointer, number, event in self.journal.replay():
            if (where := record_of(event)) is not None and gone.get(where, -1) < number:
                assert isinstance(event, (Visit, RequisiteFetched))
                yield pointer, event, where

    def _finish_keeping(self) -> None:
        """Overwrite the records whose removal was begun, before others can be written in their place."""
        if (plan := keeping.read_plan(self.disk)) is not None:
            keeping.overwrite(self.directory, self.disk, self.archive, plan, gone_records(self.journal.replay()))

    def _mend_archive(self, now: float) -> None:
        """Make the end of the archive agree with the journal, by cutting the archive or giving up records."""
        end = self.archive.end
        if end > self._archive_end:
            if not self.journal.sequence:  # so the journal may have been lost, and nothing else is left of the crawl
                keep_archive_end(self.disk, self.archive, self._archive_end)
            self.archive.cut(*self._archive_end)
            self.repairs.append("records at the archive's end that no acknowledged fetch names were cut off")
        elif end < self._archive_end:
            self._give_up_broken(now)
        if not self.archive.segments() and self._named_end > ArchiveEnd():  # copies of old ones may exist elsewhere
            self.archive.cut(self._named_end.segment + 1, 0)  # so names must not repeat

    def _give_up_broken(self, now: float) -> None:
        whole_end, broken = ArchiveEnd(), set[Pointer]()
        for _, _, where in self._named():
            if self.archive.whole(where):
                whole_end = max(whole_end, where.end)
            else:
                broken.add(where)
        self.archive.cut(*whole_end)
        self._archive_end = whole_end
        lost = self.give_up(broken, now, "the archive ends before its record")
        if lost:
            self.repairs.append(f"the archive had lost {len(broken)} records; their pages will be fetched again")

    def give_up(self, broken: set[Pointer], now: float, why: str) -> list[Lost]:
        """Record durably that these archive records are gone; return the events written.

        Pages whose newest content was in them must be fetched again, including pages with the same content.
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
        """Return segment and size of the archive's end according to the journal, at opening."""
        return self._archive_end

    def tell(self, socket: str) -> None:
        """Record in the lock file where this process listens."""
        if self._lock is not None:
            self._lock.tell(socket)

    def remember(self, event: Event, held: Visit | None = None) -> int:
        """Append an event to the journal and fold it; return its pointer.

        The discoveries of the event must be admitted. It is acknowledged only by a later commit.
        `held` is the event that `links` points to, if it is at hand.

        Raises
        ------
        CeilingError
            There is no room for a further visited page; nothing was appended.
        """
        self.state.see_room(event)
        pointer = self.journal.append(event)
        folding.fold(self.state, event, folding.Place(pointer, held=held))
        return pointer

    async def snapshot(self, commit: Callable[[], Awaitable[None]], offload: Callable[..., Awaitable[Any]]) -> str:
        """Write a snapshot while the crawl continues; see `evercrawl.store.snapshots.snapshot.write`."""
        while not self.state.cashbook.audit_some():
            await offload(_nothing)  # let other pending work go first
        return await snapshot.write(self.state, self.journal, self._log, self.disk, self.archive.end, commit, offload)

    def flush(self) -> None:
        """Write pending data of derived files; they can be rebuilt from the journal, so nothing is synced."""
        self.state.known.flush()
        self.state.urls.flush()

    def index_archive(self, current: bool = True, read_bytes: int | None = None) -> None:
        """Write the CDXJ index of every segment that has grown; see `Archive.index`."""
        self.archive.index(current=current, read_bytes=read_bytes)

    def close(self) -> None:
        """Release the directory; uncommitted events are lost."""
        with contextlib.suppress(AttributeError):
            self.disk.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def _nothing() -> None:
    pass

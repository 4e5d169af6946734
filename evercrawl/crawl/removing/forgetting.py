"""Forgets pages and hosts for good: works out what to overwrite, stores it as a plan, then carries the plan out."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import numpy as np

from evercrawl import __version__
from evercrawl.clock import SystemClock
from evercrawl.config import FILE_NAME
from evercrawl.config.patterns import UrlPattern
from evercrawl.crawl.learn.reindex import reindex
from evercrawl.crawl.removing.requisites import ForgottenRequisites
from evercrawl.crawl.repairing import settled
from evercrawl.errors import ConfigError, StoreError
from evercrawl.model.stored.reader import opened
from evercrawl.parse.sites import found_site, site_rules
from evercrawl.parse.urls import hostname, normalise
from evercrawl.search.index import FOLDER as SEARCH_FOLDER
from evercrawl.store import forgetting
from evercrawl.store.archive.pointer import Pointer
from evercrawl.store.archive.warc import ID_BYTES
from evercrawl.store.disk.lock import Lock
from evercrawl.store.forgetting import Blank, Patch
from evercrawl.store.forgotten import Forgotten, ForgottenHost
from evercrawl.store.journal.events import Discovery, Event, Found, Obeyed, RequisiteFetched, RequisitesNeeded, Visit
from evercrawl.store.journal.frame import Press
from evercrawl.store.journal.segment import HEADER_BYTES, frames, segments
from evercrawl.store.keeper.folder import distrust, is_copy, noted_place
from evercrawl.store.objects.pushing import pushed_to
from evercrawl.store.orders import FILE as ORDERS
from evercrawl.store.orders import words_masked
from evercrawl.store.partition import Partition, is_crawl
from evercrawl.store.repair.archive import StandingPiece, filler, standing
from evercrawl.store.repair.kept import FOLDER as DAMAGED_FOLDER
from evercrawl.store.requisites.losing import gone_of, gone_records
from evercrawl.store.scheme import NETWORK
from evercrawl.types import NO_SLOT, Keys, Slots

PURPOSE: Final = "evercrawl forget"
_HOST: Final = re.compile(r"[\w.-]+|\[[0-9a-fA-F:.]+\]")
_URL: Final = re.compile(rb"https?://[^\s\"'<>\\]+")
_MASKED: Final = (ORDERS, "usage.jsonl", "signals.jsonl", "quarantine.json", "skipped.json")
_PIECE: Final = 1 << 14
_EVERY: Final = 256
_REQUEST_BYTES: Final = 1000  # of one request; more bytes before an answer hold requests of a browser

Watch = Callable[[str, int, int], None]


class ForgetTargets(NamedTuple):
    """What is to be forgotten.

    Attributes
    ----------
    slots, keys
        The pages, shape (n,) each; the slot is `NO_SLOT` for a URL that the crawl does not know.
    hosts
        Names of hosts; all of their pages are included.
    """

    slots: Slots
    keys: Keys
    hosts: tuple[str, ...]


class Forgot(NamedTuple):
    """The result of a forgetting.

    Attributes
    ----------
    pages, hosts, records, archive_bytes
        The number of pages and hosts, and of records and bytes of the archive.
    beyond
        A sentence for each place that may still hold what was forgotten.
    """

    pages: int
    hosts: int
    records: int
    archive_bytes: int
    beyond: tuple[str, ...]


def _with_root(url: str) -> str:
    """Return a URL as directories know it that were made while hosts kept the dot of the DNS root.

    >>> _with_root("http://example.org:8080/a")
    'http://example.org.:8080/a'
    """
    start = url.index("//") + 2
    end = start + len(hostname(url))
    return f"{url[:end]}.{url[end:]}"


def targets(partition: Partition, wanted: Sequence[str]) -> ForgetTargets:
    """Return what some words mean: each is a URL, the name of a host, or a regular expression searched for in URLs.

    Raises
    ------
    ConfigError
        A word is none of these, or no known URL matches an expression.
    """
    state, slots, unknown, hosts = partition.state, set[int](), list[int](), list[str]()
    for word in wanted:
        if word.startswith(("http://", "https://")):
            url = normalise(word)
            if url is None:
                raise ConfigError(f"{word!r} is not a URL; name a complete one, a host or an expression")
            found = {state.find_one(url), state.find_one(_with_root(url))} - {NO_SLOT}
            unknown += [] if found else [state.hasher.key(url)]
            slots |= found
        elif _HOST.fullmatch(word):
            host = hostname(normalise(f"http://{word}/") or f"http://{word}/")
            hosts.append(host)
            for name in (host, f"{host}."):
                number = state.hosts.find(name)
                if number is not None:
                    slots |= set(np.flatnonzero(state.known.columns().host == number).tolist())
                    hosts += [name] if name not in hosts else []
        else:
            found = set(_matching(partition, word))
            if not found:
                raise ConfigError(f"no known URL matches {word!r}; name a URL, a host or an expression found in URLs")
            slots |= found
    known = np.array(sorted(slots), np.uint32)
    known = known[~state.forgotten.mask(known)]
    keys = state.table.keys()[known].astype(np.uint64)
    new = [key for key in dict.fromkeys(unknown) if not state.forgotten.has_key(key)]
    return ForgetTargets(
        np.concatenate((known, np.full(len(new), NO_SLOT, np.uint32))),
        np.concatenate((keys, np.array(new, np.uint64))),
        tuple(dict.fromkeys(hosts)),
    )


def looked_up(directory: Path, wanted: Sequence[str]) -> ForgetTargets:
    """Return what some words mean in a crawl directory; nothing is changed."""
    partition = opened(directory)
    try:
        return targets(partition, wanted)
    finally:
        partition.close()


def finish(directory: Path) -> bool:
    """Carry out an unfinished plan and rebuild derived files; return whether there was a plan.

    Raises
    ------
    ConfigError
        There is no crawl in the directory.
    StoreError
        A crawl runs there, or the disk fails.
    """
    if not is_crawl(directory):
        raise ConfigError(f"there is no crawl in {directory}; name its directory with --dir")
    begun = forgetting.begun(directory)
    if begun:
        opened_to_forget(directory).close()
        _made_again(directory, search=True)
    return begun


def forget(
    directory: Path, wanted: Sequence[str], watch: Watch = lambda what, done, total: None, *, order: str = ""
) -> Forgot:
    """Forget pages and hosts of the crawl in `directory`, in which no crawl may run.

    Parameters
    ----------
    directory
        The crawl directory.
    wanted
        URLs, hosts and expressions; see `targets`.
    watch
        Called now and then with the present step, how much of it is done, and of how much.
    order
        The id of the order that asks for it, whose own words are masked too; "" if there is none. With an order, the
        search index is not rebuilt here: the crawl fills it while it runs.

    Raises
    ------
    ConfigError
        There is no crawl in the directory, or a word means nothing.
    StoreError
        A crawl runs there, it is damaged, or the disk fails. Once anything was overwritten, the next call or start
        completes it.
    """
    if not is_crawl(directory):
        raise ConfigError(f"there is no crawl in {directory}; name its directory with --dir")
    partition = opened_to_forget(directory)
    try:
        searchable = (directory / SEARCH_FOLDER).is_dir() and not order
        meant = targets(partition, wanted)
        table = _table(partition, meant)
        work = _Work(partition, table, meant, watch, order)
        plan = work.plan()
        result = Forgot(
            len(meant.slots), len(meant.hosts), len(plan.blanks), sum(each.size for each in plan.blanks),
            (*_beyond(directory, work), *_second_copy(partition)),
        )  # fmt: skip
        watch("overwriting", 0, 1)
        forgetting.write_plan(partition.disk, plan)
        forgetting.carry_out(directory, partition.disk)
    finally:
        partition.close()
    if not order:  # a crawl that resumes rebuilds it by itself
        _made_again(directory, search=searchable, watch=watch)
    return result


def opened_to_forget(directory: Path) -> Partition:
    """Open a crawl directory for changes, under its lock."""
    now = SystemClock().now()
    partition = Partition(
        directory, os.urandom, now=now, software=f"evercrawl/{__version__}", site=found_site,
        site_rules=site_rules(), lock=Lock.take(directory, PURPOSE, now), forgiving=True,
    )  # fmt: skip
    if not partition.hasher.secret:
        partition.close()
        what = f"the crawl in {directory} was started without a secret, so it cannot keep a private hash of it"
        raise StoreError(f"{what}; begin a new crawl and remove this one instead")
    return partition


def _made_again(directory: Path, *, search: bool, watch: Watch = lambda what, done, total: None) -> None:
    watch("snapshot", 0, 1)
    settled(directory)
    if search:
        reindex(directory, watch)


def _matching(partition: Partition, expression: str) -> Iterator[int]:
    try:
        pattern = UrlPattern(expression)
    except re.error as error:
        raise ConfigError(f"{expression!r} is not a valid expression: {error}; see exclude in the settings") from error
    state = partition.state
    for start in range(0, state.known.count, _PIECE):
        slots = range(start, min(start + _PIECE, state.known.count))
        urls = state.urls.get_many(slots)
        yield from (slot for slot, url in zip(slots, urls, strict=True) if pattern.search(url))


def _table(partition: Partition, meant: ForgetTargets) -> Forgotten:
    """Return the table of everything forgotten, old and new."""
    state, before = partition.state, partition.state.forgotten
    digests = {number: host.digest for number, host in before.hosts.items()}
    for name in meant.hosts:
        number = state.hosts.find(name)
        digest = state.hasher.short(name.encode())
        if number is None and digest not in digests.values():
            number = min(digests, default=0) - 1 if min(digests, default=0) < 0 else -1
        if number is not None:
            digests[number] = digest
    sites = state.site_of[: len(state.hosts)]
    hosts = dict[int, ForgottenHost]()
    for number, digest in digests.items():
        if number < 0:
            hosts[number] = ForgottenHost(digest, "")
            continue
        site = int(sites[number])
        kept = [each for each in np.flatnonzero(sites == site).tolist() if each not in digests]
        name, scheme = state.sites[site], partition.scheme
        if not kept and name in (*scheme.trusted, *scheme.distrusted):
            what = f"the settings list {name} as a trusted or distrusted site"
            raise ConfigError(f"{what}; take it out of {FILE_NAME}, start the crawl once, and forget it then")
        nobody = f"s{site}.forgotten.invalid{NETWORK if NETWORK in name else ''}"
        hosts[number] = ForgottenHost(digest, name if kept else nobody)
    return Forgotten(
        np.concatenate((before.slots, meant.slots)),
        np.concatenate((before.keys, meant.keys)),
        hosts,
        dict(before.frames),
    )


class _Work:
    """Works out what is to be overwritten."""

    def __init__(
        self, partition: Partition, table: Forgotten, meant: ForgetTargets, watch: Watch, order: str = ""
    ) -> None:
        self._partition, self._disk, self._hasher = partition, partition.disk, partition.hasher
        self._table, self._watch, self._order = table, watch, order
        self._hosts = [host.encode() for host in meant.hosts]
        self._slots = np.sort(meant.slots)
        self._new = Forgotten(meant.slots, meant.keys, {})
        self._ends: dict[int, int] = {}  # by segment: the end of the last named record that is there
        self._gone = gone_records(partition.journal.replay())
        self._passed: dict[int, int] = {}  # by segment: the end of the last lost record since then
        self._patches, self._blanks = list[Patch](), list[Blank]()
        forgotten = partition.state.forgotten
        self._beside = ForgottenRequisites(
            partition.journal, lambda slot: self._new.has(slot) or forgotten.has(slot), self._goes
        )

    def plan(self) -> forgetting.ForgetPlan:
        """Return the plan."""
        self._journal()
        for segment in sorted(self._passed):
            self._between(segment, self._ends.get(segment, 0), self._disk.size(self._partition.archive.name(segment)))
        for name in _MASKED:
            self._mask(name)
        now = SystemClock().now()
        return forgetting.new_plan(now, self._table.data(), self._patches, self._blanks, {})

    def _journal(self) -> None:
        press, files = Press(self._partition.state.forgotten.frames.get), segments(self._disk)
        decode = msgspec.msgpack.Decoder(Event).decode
        encode = msgspec.msgpack.Encoder().encode
        count = 0
        for segment in files:
            for frame in frames(self._disk, segment.start, segment.start + HEADER_BYTES):
                before = press.unpack(frame)
                events = [decode(data) for data in before]
                left = [self._without(event, number) for number, event in enumerate(events, frame.sequence)]
                if any(new is not event for new, event in zip(left, events, strict=True)):
                    packed = press.pack_again(frame, [encode(self._marked(event)) for event in left])
                    if packed is None:
                        shorter = [encode(self._marked(event, like_others=True)) for event in left]
                        packed = press.pack_again(frame, shorter)
                    self._table.frames.pop(frame.offset, None)
                    if packed is None:
                        packed, self._table.frames[frame.offset] = press.pack_moved(
                            frame, [encode(self._marked(event)) for event in left]
                        )
                    self._patches.append(Patch(segment.name, frame.offset - segment.start, packed))
                count += 1
                if count % _EVERY == 0:
                    self._watch("events", frame.sequence, self._partition.journal.sequence)

    def _without(self, event: Event, number: int) -> Event:
        """Return an event without what is to be forgotten; the event itself if it contains none of that."""
        if isinstance(event, Visit):
            gone = self._new.has(event.slot)
            self._archived(event, number, gone=gone)
            if gone:
                event = msgspec.structs.replace(
                    event, digest=0, digest_rest=0, simhash=0, words=0, archive=None, content=0, etag="",
                    last_modified="", mime="", title="", language="", error="", text=None, near=NO_SLOT,
                )  # fmt: skip
            elif event.error and self.masked(event.error.encode()) is not None:
                event = msgspec.structs.replace(event, error="")
        if isinstance(event, RequisitesNeeded):
            return self._beside.needed(event)
        if isinstance(event, RequisiteFetched):
            return self._beside.came(event, blanked=self._came(event, number))
        if isinstance(event, Obeyed):
            if self.masked(event.result.encode()) is not None:
                event = msgspec.structs.replace(event, result="forgotten")
            if event.root.encode() in self._hosts:
                event = msgspec.structs.replace(event, root="")
        if isinstance(event, (Visit, Found, Obeyed)) and event.found is not None and self._names(event.found):
            event = msgspec.structs.replace(event, found=self._table.told(event.found))
        return event

    def _names(self, found: Discovery) -> bool:
        """Whether an event made known a URL or host that is to be forgotten."""
        first, last = np.searchsorted(self._slots, (found.first_slot, found.first_slot + len(found.urls))).tolist()
        return bool(last > first) or any(name.encode() in self._hosts for name in found.new_hosts)

    def _marked(self, event: Event, *, like_others: bool = False) -> Event:
        """Return an event in the form that the journal keeps from now on."""
        if isinstance(event, (Visit, Found, Obeyed)) and event.found is not None:
            return msgspec.structs.replace(event, found=self._table.marked(event.found, like_others=like_others))
        return event

    def _archived(self, event: Visit, number: int, *, gone: bool) -> None:
        """Plan to overwrite the record of a visit, and its request, which precedes it."""
        if event.archive is None or self._given_up(event.archive, number):
            return
        segment, offset, length = event.archive
        start, self._ends[segment] = self._ends.get(segment, 0), offset + length
        if not gone:
            if offset - start > _REQUEST_BYTES or segment in self._passed:
                self._between(segment, start, offset)
            return
        name, own, first = self._partition.archive.name(segment), list[StandingPiece](), offset
        for one in self._standing(segment, start, offset):
            if one.record is not None and one.record.url:
                own.append(one)
            else:  # all before that belongs to another visit, whose record was given up
                self._blank_all(name, own)
                own = []
        for one in reversed(own):
            assert one.record is not None, "those that are damaged are not among them"
            first = one.start if self._goes(one.record.url) else first
        self._blank(name, first, offset + length - first)

    def _given_up(self, where: Pointer, number: int) -> bool:
        """Whether the record that an event names was given up later, so that something else may be in its place now."""
        gone = self._gone.get(where, -1) > number
        if gone:
            self._passed[where.segment] = max(self._passed.get(where.segment, 0), where.offset + where.length)
        return gone

    def _standing(self, segment: int, start: int, end: int) -> Iterator[StandingPiece]:
        """Yield what precedes a record that is there; plan to overwrite damaged parts of records that were given up."""
        name, passed = self._partition.archive.name(segment), segment in self._passed
        if self._passed.get(segment, 0) <= end:
            self._passed.pop(segment, None)
        for one in standing(self._disk, name, start, end):
            if one.record is None:
                if not passed:
                    what = f"{name} is damaged at byte {one.start}, and nothing was changed"
                    raise StoreError(f"{what}; run `evercrawl verify --repair` first")
                self._blank(name, one.start, one.end - one.start)
            yield one

    def _blank(self, name: str, offset: int, size: int) -> None:
        """Plan to overwrite a span of the archive."""
        noise = os.urandom(ID_BYTES)
        if not filler(size, 0.0, noise, ""):
            raise StoreError(f"{name}, byte {offset}: {size} bytes are too few for a record; nothing was changed")
        self._blanks.append(Blank(name, offset, size, noise))

    def _blank_all(self, name: str, among: Iterable[StandingPiece]) -> None:
        """Plan to overwrite those records that are of pages to be forgotten."""
        for one in among:
            if one.record is not None and self._goes(one.record.url):
                self._blank(name, one.start, one.end - one.start)

    def _between(self, segment: int, start: int, end: int) -> None:
        """Plan to overwrite records that are to be forgotten and that no event names.

        They are requests of a browser for a page that stays, or requests whose answers were given up.
        """
        self._blank_all(self._partition.archive.name(segment), self._standing(segment, start, end))

    def _came(self, event: RequisiteFetched, number: int) -> bool:
        """Plan to overwrite the record of a requisite and its request; return whether the record is overwritten."""
        if event.archive is None or gone_of(event) is not None or self._given_up(event.archive, number):
            return False
        segment, offset, length = event.archive
        name, before = self._partition.archive.name(segment), self._ends.get(segment, 0)
        if offset + length <= before:  # it is stored with the page whose browser requested it
            within = any(each.name == name and each.offset <= offset < each.offset + each.size for each in self._blanks)
            if within or not self._beside.goes(event.number):
                return within
            self._blank(name, offset, length)
            return True
        self._ends[segment] = offset + length
        if not self._beside.goes(event.number):
            if segment in self._passed:
                self._between(segment, before, offset)
            return False
        others, begins = list(self._standing(segment, before, offset)), offset
        if others and others[-1].record is not None and others[-1].record.kind == "request":
            begins = others.pop().start
        self._blank_all(name, others)
        self._blank(name, begins, offset + length - begins)
        return True

    def _goes(self, url: str) -> bool:
        """Whether a URL is to be forgotten, of a page or of a requisite."""
        if not url:
            return False
        return self._new.has_key(self._hasher.key(url)) or hostname(url).encode() in self._hosts

    def _mask(self, name: str) -> None:
        data = self._disk.read(name, 0, self._disk.size(name))
        masked = self.masked(data) if data else None
        if self._order and name == ORDERS:
            masked = words_masked(data if masked is None else masked, self._order)
        if masked is not None:
            self._patches.append(Patch(name, 0, masked))

    def masked(self, data: bytes) -> bytes | None:
        """Return a text with forgotten URLs and hosts overwritten; None if it contains none."""
        masked = _URL.sub(self._over, data)
        for host in self._hosts:
            for written in (
                host,
                re.escape(host.decode()).encode(),
                re.escape(host.decode()).encode().replace(b"\\", b"\\\\"),
            ):
                masked = masked.replace(written, b"~" * len(written))
        return masked if masked != data else None

    def _over(self, match: re.Match[bytes]) -> bytes:
        url = normalise(match[0].decode("utf-8", "replace").rstrip(".,;:)"))
        known = url is not None and self._new.has_key(self._hasher.key(url))
        return b"~" * len(match[0]) if known else match[0]


def _second_copy(partition: Partition) -> Iterator[str]:
    """Mark a second copy as not to be opened until it has caught up; yield a sentence about it."""
    noted = noted_place(partition.disk)
    place = Path(noted)
    if not noted:
        return
    if not place.is_absolute():  # on another machine
        yield (
            f"the second copy at {noted} holds it until the crawl has run again; until then it is not opened, if this "
            "was asked of the whole crawl, with --dir of all partitions"
        )
        return
    try:
        there = is_copy(place, partition.birth)
        if there:
            distrust(place)
    except (OSError, StoreError) as error:
        yield f"the second copy in {place} holds it and cannot be marked ({error}): remove it, or crawl with it again"
        return
    if there:
        yield f"the second copy in {place} holds it until the crawl has run again with it; until then it is not opened"
    else:
        yield f"the second copy in {place} holds it, but cannot be found: remove it, or crawl with it again"


def _beyond(directory: Path, work: _Work) -> Iterator[str]:
    """Yield a sentence for each place that may still hold what was forgotten."""
    yield "archived pages that stay and link to it still have its address in their links"
    settings = directory / FILE_NAME
    if settings.is_file() and work.masked(settings.read_bytes()) is not None:
        yield f"{settings} names it: edit the file"
    if (directory / DAMAGED_FOLDER).is_dir():
        yield f"{directory / DAMAGED_FOLDER} holds what repairs removed: check it, or remove it"
    for url in pushed_to(directory):
        yield f"the archive's copy in {url} holds it until `evercrawl export archive -o {url}` has run again"
    yield "exports, backups, other copies in object storage and webhooks that were delivered: remove it there yourself"

"""Keeps the URLs found by events after damage in the journal while the journal is cut, and makes them known again.

The events themselves build on what is damaged, so they cannot be kept; a URL stands for itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.decoding import json_of, msgpack_of
from evercrawl.errors import StoreError
from evercrawl.parse.urls import hostname, normalise
from evercrawl.store import forgotten
from evercrawl.store.forgotten import is_nowhere
from evercrawl.store.journal.events import Discovery, Event, Found, Obeyed, Visit
from evercrawl.store.journal.frame import Press
from evercrawl.store.journal.segment import Segment, segment_name
from evercrawl.store.journal.tail import later_frames
from evercrawl.store.repair.journal import SoundJournal, file_starts
from evercrawl.store.repair.kept import FOLDER

if TYPE_CHECKING:
    from evercrawl.store.disk.disk import Disk
    from evercrawl.store.partition import Partition

SALVAGED_FILE: Final = f"{FOLDER}/urls-to-know-again.jsonl"
"""The file with one line for each list of URLs that an event made known."""
_AT_ONCE: Final = 1_000


class SalvagedUrls(msgspec.Struct, frozen=True):
    """URLs that one event made known, and their distance from a seed."""

    urls: list[str]
    depth: int = 0
    hops: int = 0
    thin: int = 0


def salvage(disk: Disk, sound: SoundJournal) -> int:
    """Save the URLs that intact frames after the damage made known; return their number."""
    lines = [msgspec.json.encode(SalvagedUrls(found.urls, max(found.depth, 1), found.hops, found.thin)) + b"\n"
             for found in _discoveries(disk, sound)]  # fmt: skip
    kept = disk.read(SALVAGED_FILE, 0, disk.size(SALVAGED_FILE))  # of an interrupted repair
    if lines:
        disk.replace(SALVAGED_FILE, [kept, *lines])
    return sum(len(found.urls) for found in _discoveries(disk, sound))


def known_again(partition: Partition, at: float) -> int:
    """Make the saved URLs known to the crawl; return how many it did not know."""
    state, disk, more = partition.state, partition.disk, 0
    for one in _kept(disk):
        for first in range(0, len(one.urls), _AT_ONCE):
            part = one.urls[first : first + _AT_ONCE]
            urls = [url for url in dict.fromkeys(part) if normalise(url) == url and not is_nowhere(url)]
            urls = [url for url in urls if not state.forgotten.has_url(state.hasher, url, hostname(url))]
            found = _admitted(partition, urls, one, at) if urls else None
            if found is not None:
                partition.remember(Found(at, found))
                more += len(found.urls)
    partition.journal.write(partition.journal.seal())
    disk.remove(SALVAGED_FILE)
    return more


def _admitted(partition: Partition, urls: list[str], one: SalvagedUrls, at: float) -> Discovery | None:
    state = partition.state
    keys, first_slot = state.hasher.keys(urls), state.table.known
    _, new = state.table.intern(keys)
    if not new.any():
        return None
    urls = [url for url, is_new in zip(urls, new.tolist(), strict=True) if is_new]
    first_host, new_hosts = len(state.hosts), list[str]()
    hosts = [state.host_number(hostname(url), new_hosts) for url in urls]
    found = Discovery(first_slot, urls, hosts, first_host, new_hosts, depth=one.depth, hops=one.hops, thin=one.thin)
    state.admit(found, at, keys[new])
    return found


def _kept(disk: Disk) -> Iterator[SalvagedUrls]:
    for line in disk.read(SALVAGED_FILE, 0, disk.size(SALVAGED_FILE)).splitlines():
        try:
            yield json_of(line, SalvagedUrls)
        except msgspec.MsgspecError:
            continue


def _discoveries(disk: Disk, sound: SoundJournal) -> Iterator[Discovery]:
    for event in _events(disk, sound):
        found = event.found if isinstance(event, Visit | Found | Obeyed) else None
        if found is not None and found.urls:
            yield found


def _events(disk: Disk, sound: SoundJournal) -> Iterator[Event]:
    """Yield the events of all intact frames after the sound part."""
    press = Press(forgotten.load(disk).frames.get)
    for start in file_starts(disk):
        if start < sound.start:
            continue
        segment = Segment(start, start + disk.size(segment_name(start)))
        for frame in later_frames(disk, segment, max(sound.offset, start)):
            try:
                events = [msgpack_of(data, Event) for data in press.unpack(frame)]
            except (StoreError, msgspec.MsgspecError):
                continue
            yield from events

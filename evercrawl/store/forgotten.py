"""What a crawl was told to forget: keyed hashes of URLs and hosts, by which they are recognised and excluded.

The journal has short marks in place of their texts, because slots and hosts are counted in its order. When the
journal is folded, each mark becomes a name that cannot exist (RFC 2606), under the key of the forgotten URL: links to
it lead to the same slot as before, and no text of it is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
import xxhash

from evercrawl.decoding import msgpack_of
from evercrawl.errors import StoreError
from evercrawl.store.journal.events import Discovery
from evercrawl.types import Keys, Slots

if TYPE_CHECKING:
    from pathlib import Path

    from evercrawl.arrays.hasher import Hasher
    from evercrawl.store.disk.disk import Disk

FILES: Final = ("forgotten.bin", "forgotten-copy.bin")
VERSION: Final = 2
_WITHOUT_FRAMES: Final = 1
_MAGIC: Final = b"evforgot"
_MARK: Final = "~"
_ROOT_MARK: Final = "~///"  # of a URL without a path
_NOWHERE: Final = "forgotten.invalid"


class ForgottenHost(msgspec.Struct, array_like=True, frozen=True):
    """A forgotten host: 64 bits of its name's keyed hash, and the new name of its site."""

    digest: int
    site: str


class _Kept(msgspec.Struct, array_like=True, frozen=True):
    version: int
    slots: bytes
    keys: bytes
    hosts: dict[int, ForgottenHost]
    frames: dict[int, bytes] = {}


class Forgotten:
    """The forgotten pages and hosts.

    Attributes
    ----------
    slots, keys
        Of the pages, shape (n,) each; slots are ascending.
    hosts
        Number of a host -> what remains of it.
    frames
        Offset in the journal -> body of the frame there, if the rest of the frame did not fit in its place.
    """

    def __init__(
        self, slots: Slots, keys: Keys, hosts: dict[int, ForgottenHost], frames: dict[int, bytes] | None = None
    ) -> None:
        self.frames = frames or {}
        order = np.argsort(slots, kind="stable")
        self.slots: Slots = slots[order].astype(np.uint32)
        self.keys: Keys = keys[order].astype(np.uint64)
        self.hosts = hosts
        self._sorted_keys: Keys = np.sort(self.keys)
        self._digests = frozenset(host.digest for host in hosts.values())

    @classmethod
    def nothing(cls) -> Forgotten:
        """Return the value of a crawl that has forgotten nothing."""
        return cls(np.zeros(0, np.uint32), np.zeros(0, np.uint64), {})

    def __bool__(self) -> bool:
        """Return whether anything was forgotten."""
        return bool(len(self.slots) or self.hosts)

    def has(self, slot: int) -> bool:
        """Return whether a page was forgotten."""
        if not len(self.slots):
            return False
        place = int(np.searchsorted(self.slots, slot))
        return place < len(self.slots) and int(self.slots[place]) == slot

    def mask(self, slots: Slots) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return which of `slots`, shape (n,), were forgotten."""
        if not len(self.slots):
            return np.zeros(len(slots), np.bool_)
        places = np.minimum(np.searchsorted(self.slots, slots), len(self.slots) - 1)
        return np.asarray(self.slots[places] == slots, np.bool_)

    def has_url(self, hasher: Hasher, url: str, host: str) -> bool:
        """Return whether a URL or its host was forgotten, so that it must never be requested."""
        return bool(self) and (self.has_key(hasher.key(url)) or self.has_host(hasher, host))

    def has_host(self, hasher: Hasher, name: str) -> bool:
        """Return whether a host was forgotten."""
        return bool(self._digests) and hasher.short(name.encode()) in self._digests

    def has_key(self, key: int) -> bool:
        """Return whether a URL with this key was forgotten."""
        place = int(np.searchsorted(self._sorted_keys, np.uint64(key)))
        return place < len(self._sorted_keys) and int(self._sorted_keys[place]) == key

    def site_of(self, number: int) -> str | None:
        """Return the site of a forgotten host; None for other hosts."""
        host = self.hosts.get(number)
        return host.site if host is not None else None

    def keys_of(self, found: Discovery, hasher: Hasher) -> Keys:
        """Return the keys of the URLs that an event made known, including forgotten ones; shape (n,)."""
        keys = hasher.keys(found.urls)
        if not self:
            return keys
        first, last = np.searchsorted(self.slots, (found.first_slot, found.first_slot + len(found.urls)))
        if last > first:
            keys = keys.copy()
            keys[self.slots[first:last] - np.uint32(found.first_slot)] = self.keys[first:last]
        return keys

    def told(self, found: Discovery) -> Discovery:
        """Return the discovery of an event with names in place of the marks."""
        if not self:
            return found
        last = found.first_slot + len(found.urls)
        first_place, end = (int(np.searchsorted(self.slots, slot)) for slot in (found.first_slot, last))
        first_host = found.first_host
        names = [each for each in range(first_host, first_host + len(found.new_hosts)) if each in self.hosts]
        if first_place == end and not names:
            return found
        urls, new_hosts = list(found.urls), list(found.new_hosts)
        slots: list[int] = self.slots[first_place:end].tolist()
        for slot in slots:
            root = _is_root(urls[slot - found.first_slot])
            urls[slot - found.first_slot] = f"http://{slot}.{_NOWHERE}/" if root else f"http://{_NOWHERE}/{slot}"
        for number in names:
            new_hosts[number - found.first_host] = f"h{number}.{_NOWHERE}"
        return msgspec.structs.replace(found, urls=urls, new_hosts=new_hosts)

    def marked(self, found: Discovery, *, like_others: bool = False) -> Discovery:
        """Return the discovery of an event as in the journal: with marks in place of forgotten texts.

        A mark says only whether the URL had a path. With `like_others` it is the text of the last URL that stays,
        which takes less space among URLs with consecutive numbers.
        """
        urls, new_hosts, others = list(found.urls), list(found.new_hosts), dict[bool, str]()
        for i, url in enumerate(urls):
            root = _is_root(url)
            if self.has(found.first_slot + i):
                urls[i] = others.get(root, _ROOT_MARK if root else _MARK)
            elif like_others:
                others[root] = url
        for i in range(len(new_hosts)):
            if found.first_host + i in self.hosts:
                new_hosts[i] = _MARK
        return msgspec.structs.replace(found, urls=urls, new_hosts=new_hosts)

    def data(self) -> bytes:
        """Return the content of the file."""
        version = VERSION if self.frames else _WITHOUT_FRAMES  # earlier versions can read the latter
        kept = _Kept(
            version, self.slots.astype("<u4").tobytes(), self.keys.astype("<u8").tobytes(), self.hosts, self.frames
        )
        packed = msgspec.msgpack.encode(kept)
        return _MAGIC + xxhash.xxh3_64_digest(packed) + packed


def load(disk: Disk) -> Forgotten:
    """Return what a crawl has forgotten, from one of two files.

    Raises
    ------
    StoreError
        Both files are damaged, or a newer evercrawl wrote them.
    """
    there = False
    for name in FILES:
        data = disk.read(name, 0, disk.size(name))
        there = there or bool(data)
        if data.startswith(_MAGIC) and xxhash.xxh3_64_digest(data[16:]) == data[8:16]:
            if msgpack_of(data[16:])[0] not in (_WITHOUT_FRAMES, VERSION):
                raise StoreError(f"{name} was made by a newer evercrawl; upgrade evercrawl to open this crawl")
            kept = msgpack_of(data[16:], _Kept)
            return Forgotten(np.frombuffer(kept.slots, "<u4"), np.frombuffer(kept.keys, "<u8"), kept.hosts, kept.frames)
    if there:
        raise StoreError(f"{FILES[0]} and {FILES[1]} are damaged; restore one of them from a copy of the directory")
    return Forgotten.nothing()


def stamp(directory: Path) -> tuple[int, int]:
    """Return a value that changes when a crawl forgets something; holders of its texts must then reopen it."""
    try:
        about = (directory / FILES[0]).stat()
    except OSError:
        return 0, 0
    return about.st_mtime_ns, about.st_ino


def is_nowhere(url: str | None) -> bool:
    """Return whether a URL stands for a forgotten one.

    >>> is_nowhere("http://12.forgotten.invalid/"), is_nowhere("http://forgotten.invalid.example.org/")
    (True, False)
    """
    return url is not None and url.startswith("http://") and url.split("/", 3)[2].endswith(_NOWHERE)


def _is_root(url: str) -> bool:
    return url[-1] == "/" and url.count("/") == 3

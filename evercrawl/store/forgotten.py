"""What a crawl was told to forget: keyed hashes of URLs and hosts, by which they are known again and kept out.

The journal has short marks where their texts were, since slots and hosts are counted in its order. When it is folded,
each mark becomes a name that cannot exist (RFC 2606), under the key of the URL that was there: links to it lead to the
same slot as before, and no text of it is left.
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
    """A host that was forgotten: 64 bits of its name's keyed hash, and the name of its site from now on."""

    digest: int
    site: str


class _Kept(msgspec.Struct, array_like=True, frozen=True):
    version: int
    slots: bytes
    keys: bytes
    hosts: dict[int, ForgottenHost]
    frames: dict[int, bytes] = {}


class Forgotten:
    """The pages and hosts that were forgotten.

    Attributes
    ----------
    slots, keys
        Of the pages, shape (n,) each; slots ascending.
    hosts
        Host number -> what is left of the host.
    frames
        Offset in the journal -> body of the frame there, where what was left of it had no room.
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
        """Return what a crawl has that forgot nothing."""
        return cls(np.zeros(0, np.uint32), np.zeros(0, np.uint64), {})

    def __bool__(self) -> bool:
        """Whether anything was forgotten."""
        return bool(len(self.slots) or self.hosts)

    def has(self, slot: int) -> bool:
        """Whether a page was forgotten."""
        if not len(self.slots):
            return False
        place = int(np.searchsorted(self.slots, slot))
        return place < len(self.slots) and int(self.slots[place]) == slot

    def mask(self, slots: Slots) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Tell which of `slots`, shape (n,), were forgotten."""
        if not len(self.slots):
            return np.zeros(len(slots), np.bool_)
        places = np.minimum(np.searchsorted(self.slots, slots), len(self.slots) - 1)
        return np.asarray(self.slots[places] == slots, np.bool_)

    def has_url(self, hasher: Hasher, url: str, host: str) -> bool:
        """Whether a URL must never be requested, or its host."""
        return bool(self) and (self.has_key(hasher.key(url)) or self.has_host(hasher, host))

    def has_host(self, hasher: Hasher, name: str) -> bool:
        """Whether a host was forgotten."""
        return bool(self._digests) and hasher.short(name.encode()) in self._digests

    def has_key(self, key: int) -> bool:
        """Whether a URL with this key was forgotten."""
        place = int(np.searchsorted(self._sorted_keys, np.uint64(key)))
        return place < len(self._sorted_keys) and int(self._sorted_keys[place]) == key

    def site_of(self, number: int) -> str | None:
        """Return the site of a forgotten host; None for any other."""
        host = self.hosts.get(number)
        return host.site if host is not None else None

    def keys_of(self, found: Discovery, hasher: Hasher) -> Keys:
        """Return the keys of URLs that an event made known, those that were forgotten among them; shape (n,)."""
        keys = hasher.keys(found.urls)
        if not self:
            return keys
        first, last = np.searchsorted(self.slots, (found.first_slot, found.first_slot + len(found.urls)))
        if last > first:
            keys = keys.copy()
            keys[self.slots[first:last] - np.uint32(found.first_slot)] = self.keys[first:last]
        return keys

    def told(self, found: Discovery) -> Discovery:
        """Return what an event made known with names in the place of marks."""
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
        """Return what an event made known as the journal has it: without the texts that were forgotten.

        Which mark stands there says only whether the URL had a path. With `like_others` it is the text of the last URL
        that stays, which takes less room among URLs that are numbered through.
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
        """Return the bytes of the file."""
        version = VERSION if self.frames else _WITHOUT_FRAMES  # which earlier versions read
        kept = _Kept(
            version, self.slots.astype("<u4").tobytes(), self.keys.astype("<u8").tobytes(), self.hosts, self.frames
        )
        packed = msgspec.msgpack.encode(kept)
        return _MAGIC + xxhash.xxh3_64_digest(packed) + packed


def load(disk: Disk) -> Forgotten:
    """Return what a crawl forgot, from one of two files.

    Raises
    ------
    StoreError
        Neither is whole, or a newer evercrawl wrote them.
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
    """Return what tells whether a crawl was told to forget something since: whoever holds its texts opens it anew."""
    try:
        about = (directory / FILES[0]).stat()
    except OSError:
        return 0, 0
    return about.st_mtime_ns, about.st_ino


def is_nowhere(url: str | None) -> bool:
    """Whether a URL stands for one that was forgotten.

    >>> is_nowhere("http://12.forgotten.invalid/"), is_nowhere("http://forgotten.invalid.example.org/")
    (True, False)
    """
    return url is not None and url.startswith("http://") and url.split("/", 3)[2].endswith(_NOWHERE)


def _is_root(url: str) -> bool:
    return url[-1] == "/" and url.count("/") == 3

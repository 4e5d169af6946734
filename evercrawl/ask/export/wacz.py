"""Export to WACZ: the archive, its index and a list of pages in one file, for replayweb.page and other viewers.

References
----------
Web Archive Collection Zipped, version 1.1.1, https://specs.webrecorder.net/wacz/1.1.1/
"""

from __future__ import annotations

import hashlib
import json
import struct
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple, cast

from evercrawl import __version__
from evercrawl.ask.export.files import json_text
from evercrawl.ask.export.tables import table
from evercrawl.store.archive import cdxj
from evercrawl.store.archive.warc import iso_date
from evercrawl.store.disk.whole import atomic_file

if TYPE_CHECKING:
    from evercrawl.store.disk.disk import Disk
    from evercrawl.store.partition import Partition

SUFFIX: Final = ".wacz"
VERSION: Final = "1.1.1"
_PIECE: Final = 1 << 20
_TIMESTAMP: Final = 0x5455  # extended timestamp of Info-ZIP: a byte of flags, and the modification time
_HELD: Final = frozenset({"ok", "truncated", "duplicate"})


class WaczFile(NamedTuple):
    """Figures of a written file: pages listed, lines of the index, and bytes of the archive."""

    pages: int
    captures: int
    archive_bytes: int


def write(
    partition: Partition, path: Path, watch: Callable[[int, int], None] = lambda done, total: None, title: str = ""
) -> WaczFile:
    """Write the archive of a crawl as of when it was opened; the file gets its name once it is complete.

    Parameters
    ----------
    partition
        The crawl, just opened for reading; a crawl may run meanwhile.
    path
        The file.
    watch
        Progress callback: bytes of the archive done, and total.
    title
        Title of the collection; by default it is named after the first page.

    Raises
    ------
    StoreError
        A record of the archive is damaged, or the file cannot be written.
    """
    end = partition.archive_end
    names = [partition.archive.name(number) for number in partition.archive.segments() if number <= end.segment]
    sizes = {name: partition.disk.size(name) for name in names[:-1]} | ({names[-1]: end.size_bytes} if names else {})
    total, done = sum(sizes.values()), 0
    with (
        atomic_file(path) as made,
        zipfile.ZipFile(made, "w", zipfile.ZIP_STORED, allowZip64=True) as whole,
        tempfile.TemporaryFile("w+", encoding="utf-8") as rows,
    ):
        box, found = _Box(whole), list[str]()
        for name, size in sizes.items():
            upto = _Upto(partition.disk, name, size)
            with box.entry(name) as write:
                for at in range(0, size, _PIECE):
                    write(upto.read(name, at, min(_PIECE, size - at)))
                    done += min(_PIECE, size - at)
                    watch(done, total)
            found += cdxj.lines(cdxj.captures(cast("Disk", upto), name), name.rpartition("/")[2])
        with box.entry("indexes/index.cdx") as write:
            write("".join(f"{row}\n" for row in sorted(found)).encode())
        pages, first = _list(partition, rows)
        rows.seek(0)
        with box.entry("pages/pages.jsonl") as write:
            while piece := rows.read(_PIECE):
                write(piece.encode())
        box.close(title or f"evercrawl: {first or 'no page'}", first)
    return WaczFile(pages, len(found), total)


def _list(partition: Partition, out: IO[str]) -> tuple[int, str]:
    """Write a line for each page whose content is held; return the number of pages, and the first."""
    print(json.dumps({"format": "json-pages-1.0", "id": "pages", "title": "All pages"}), file=out)
    count, first = 0, ""
    for piece in table(partition, "pages"):
        for url, label, title, at in zip(
            piece["url"], piece["class"], piece["title"], piece["visited_at"], strict=True
        ):
            if label not in _HELD:
                continue
            count, first = count + 1, first or str(url)
            row = {"id": str(count), "url": url, "title": title or url, "ts": _date(float(cast("float", at)))}
            print(json_text(row), file=out)
    return count, first


def _date(at: float) -> str:
    return f"{iso_date(at)[:19]}Z"


class _Upto:
    """A segment limited to a size, which hides what the crawl appends meanwhile."""

    def __init__(self, disk: Disk, name: str, size: int) -> None:
        self._disk, self._name, self._size = disk, name, size

    def read(self, name: str, offset: int, size: int) -> bytes:
        """Return `size` bytes from `offset`; fewer at the end."""
        return self._disk.read(name, offset, max(min(size, self._size - offset), 0))

    def size(self, name: str) -> int:
        """Return the size in bytes."""
        return self._size


class _Box:
    """The zip file, and the datapackage that describes its entries."""

    def __init__(self, whole: zipfile.ZipFile) -> None:
        self._whole, self._resources = whole, list[dict[str, object]]()

    def entry(self, name: str) -> _Entry:
        """Return a new entry to write to."""
        return _Entry(self._whole, name, self._resources)

    def close(self, title: str, first: str) -> None:
        """Write the datapackage and its digest."""
        package = {
            "profile": "data-package",
            "title": title,
            "created": _date(time.time()),
            "wacz_version": VERSION,
            "software": f"evercrawl/{__version__}",
            "resources": self._resources,
        }
        package |= {"mainPageUrl": first} if first else {}
        data = json.dumps(package, indent=2).encode()
        self._whole.writestr("datapackage.json", data)
        digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(data).hexdigest()}"}
        self._whole.writestr("datapackage-digest.json", json.dumps(digest))


class _Entry:
    """One entry of the zip file while it is being written."""

    def __init__(self, whole: zipfile.ZipFile, name: str, resources: list[dict[str, object]]) -> None:
        self._name, self._resources = name, resources
        now = time.time()
        about = zipfile.ZipInfo(name, time.gmtime(now)[:6])
        # Without an extra field in the central directory, ReplayWeb.page assumes that the entry has none either, and
        # reads at the wrong offset: the entry has one, for sizes beyond 4 GiB.
        about.extra = struct.pack("<HHBI", _TIMESTAMP, 5, 1, int(now))
        self._out = whole.open(about, "w", force_zip64=True)
        self._digest, self._bytes = hashlib.sha256(), 0

    def __enter__(self) -> Callable[[bytes], None]:
        return self._write

    def __exit__(self, *_: object) -> None:
        self._out.close()
        self._resources.append(
            {
                "name": self._name.rpartition("/")[2],
                "path": self._name,
                "hash": f"sha256:{self._digest.hexdigest()}",
                "bytes": self._bytes,
            }
        )

    def _write(self, data: bytes) -> None:
        self._out.write(data)
        self._digest.update(data)
        self._bytes += len(data)

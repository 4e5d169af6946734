"""A cache, among the derived files, of which changes are noise: each change is classified only once.

The key of a change consists of its page, the instant of its version and the digests of both contents, so results stay
valid when the journal is cut or rewritten. A result holds as long as the page has no later changes than it had then,
because a change is also compared with later ones.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from evercrawl.model.stored.derived.derived import FOLDER
from evercrawl.store.disk.owner import of_another

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evercrawl.model.stored.derived.runs import Runs
    from evercrawl.types import Ints

FILE: Final = "noise.bin"
_ROW: Final = np.dtype([("key", "<u8"), ("later", "u1"), ("noise", "u1"), ("check", "<u2")])
_EVERY: Final = 256
"""Number of new results after which they are written."""
UNKNOWN: Final = 2
"""No result yet; 0 is content and 1 is noise."""


class NoiseBook:
    """Results of classification, in a file to which several processes may append; in memory if there is no file.

    Parameters
    ----------
    directory
        The crawl directory.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / FOLDER / FILE
        self._new = dict[tuple[int, int], bool]()
        self._unsaved = list[tuple[int, int, bool]]()
        self._keys, self._noise = self._read()

    def known(self, key: int, later: int) -> bool | None:
        """Return whether a change is noise; None if there is no result for this number of later changes."""
        found = self._new.get((key, later))
        if found is not None:
            return found
        noise = int(self.known_many(np.array([key], np.uint64), later)[0])
        return None if noise == UNKNOWN else noise == 1

    def known_many(self, keys: NDArray[np.uint64], later: int) -> NDArray[np.uint8]:
        """Return for each change whether it is noise: 0, 1 or `UNKNOWN`; shape (n,). Unsaved results are not used."""
        wanted = _mixed(keys, np.uint64(later))
        found = np.full(len(keys), UNKNOWN, np.uint8)
        if len(self._keys):
            place = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
            here = self._keys[place] == wanted
            found[here] = self._noise[place[here]]
        return found

    def put(self, key: int, later: int, noise: bool) -> None:
        """Record a result."""
        self._new[key, later] = noise
        self._unsaved.append((key, later, noise))
        if len(self._unsaved) >= _EVERY:
            self.save()

    def save(self) -> None:
        """Write new results; if that fails, they are computed again another time."""
        if not self._unsaved or not self._path.parent.is_dir() or of_another(self._path.parent.parent):
            return
        rows = np.zeros(len(self._unsaved), _ROW)
        rows["key"], rows["later"], rows["noise"] = zip(*self._unsaved, strict=True)
        rows["check"] = _check(rows)
        self._unsaved.clear()
        with contextlib.suppress(OSError):
            fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            try:
                os.write(fd, rows.tobytes())  # in one write: other processes may append too
            finally:
                os.close(fd)

    def _read(self) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
        """Return the results in the file, by ascending keys; rows after one torn by a crash are ignored."""
        try:
            data = self._path.read_bytes()
        except OSError:
            data = b""
        rows = np.frombuffer(data, _ROW, len(data) // _ROW.itemsize)
        rows = rows[(rows["check"] == _check(rows)) & (rows["noise"] <= 1)]
        keys = _mixed(rows["key"], rows["later"].astype(np.uint64))
        order = np.argsort(keys, kind="stable")
        return keys[order], rows["noise"][order]


def change_keys(runs: Runs, slots: Ints, versions: Ints, before: Ints) -> NDArray[np.uint64]:
    """Return the keys of changes, shape (n,)."""
    columns = (
        slots.astype(np.uint64), runs.take("at", versions).astype(np.float64).view(np.uint64),
        runs.take("digest", versions).astype(np.uint64), runs.take("digest", before).astype(np.uint64),
    )  # fmt: skip
    keys = np.zeros(len(slots), np.uint64)
    for column in columns:
        keys = _mixed(keys, column)
    return keys


def _mixed(keys: NDArray[Any], others: NDArray[Any] | np.uint64) -> NDArray[np.uint64]:
    """Return 64 bits for each pair (the finaliser of SplitMix64)."""
    with np.errstate(over="ignore"):
        z = keys * np.uint64(0x9E3779B97F4A7C15) + others + np.uint64(0x632BE59BD9B4E019)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)), np.uint64)


def _check(rows: NDArray[Any]) -> NDArray[np.uint16]:
    """Return a checksum for each row."""
    mixed = _mixed(rows["key"], rows["later"].astype(np.uint64) * np.uint64(2) + rows["noise"].astype(np.uint64))
    return np.asarray(mixed >> np.uint64(48), np.uint16)

"""Where pages are: their folders, and by which names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xxhash

if TYPE_CHECKING:
    from evercrawl.types import Ints, Keys, Slots


def folders(site: Ints, paths: list[str]) -> Slots:
    """Return a number for each page's folder, shape (n,): its path up to the last slash, on its site.

    >>> folders(np.array([0, 0, 1]), ["a/b", "a/c", "a/d"]).tolist()
    [0, 0, 1]
    """
    numbers = dict[tuple[int, str], int]()
    pairs = zip(site.tolist(), (path.rpartition("/")[0] for path in paths), strict=True)
    return np.fromiter((numbers.setdefault(pair, len(numbers)) for pair in pairs), np.uint32, len(paths))


def names(site: Ints, paths: list[str]) -> Keys:
    """Return a key, never 0, of each page's site and the last part of its path, shape (n,).

    >>> keys = names(np.array([0, 0, 1]), ["en/news", "de/news", "en/news"])
    >>> bool(keys[0] == keys[1]), bool(keys[0] == keys[2])
    (True, False)
    """
    parts = zip(site.tolist(), (path.rpartition("/")[2] for path in paths), strict=True)
    keys = (max(xxhash.xxh3_64_intdigest(part.encode(), seed=number), 1) for number, part in parts)
    return np.fromiter(keys, np.uint64, len(paths))

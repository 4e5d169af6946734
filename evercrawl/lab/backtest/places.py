"""Places of recorded pages: folders, file names, and features of their URLs."""

import numpy as np
import xxhash

from evercrawl.model.policy.place_keys import stems
from evercrawl.parse.dynamic import dynamic
from evercrawl.schedule.pages import KIN_LEVELS
from evercrawl.types import Floats, Ints, Keys, Slots


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


def kin(site: Ints, paths: list[str]) -> Keys:
    """Return keys of each page's site and path prefixes, by which kin are found; shape (n, KIN_LEVELS), 0 for none.

    >>> keys = kin(np.array([0, 0, 1]), ["a/window", "a/widow", "a/window"])
    >>> (keys[0] == keys[1])[:5].tolist(), bool(keys[0, 0] == keys[2, 0])
    ([True, True, True, False, False], False)
    """
    keys = np.zeros((len(paths), KIN_LEVELS), np.uint64)
    for row, number, path in zip(keys, site.tolist(), paths, strict=True):
        found = [max(xxhash.xxh3_64_intdigest(stem.encode(), seed=number), 1) for stem in stems(path)]
        row[: len(found)] = found
    return keys


def looks_of(paths: list[str]) -> tuple[Floats, Floats, Floats]:
    """Return each page's depth in folders, the bytes of its path, and 1.0 for dynamic URLs; shape (n,) each.

    >>> [column.tolist() for column in looks_of(["a", "a/b/c?d=1", "http://e.example/f/g"])]
    [[0.0, 2.0, 1.0], [1.0, 9.0, 20.0], [0.0, 1.0, 0.0]]
    """
    urls = [path if "//" in path else f"//-/{path}" for path in paths]
    depth = np.array([max(url.count("/") - 3, 0) for url in urls], np.float64)
    size = np.array([max(len(path.encode()), 1) for path in paths], np.float64)
    return depth, size, np.array([dynamic(url) for url in urls], np.float64)

"""Places of pages: hash keys of their folders, of their file names and of their kin."""

from collections.abc import Iterable
from typing import Final

import numpy as np

from evercrawl.arrays.hasher import Hasher
from evercrawl.schedule.pages import KIN_LEVELS
from evercrawl.types import Keys

_FOLDERS: Final = 6  # that stems end with, at most: those nearest to the root, and the page's own
_LETTERS: Final = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16)  # of the name, that they end with


def stems(path: str) -> list[str]:
    """Return the beginnings of a path that pages of the same kin share, from short to long, `KIN_LEVELS` at most.

    Each ends after a folder, or after some of the letters of the file name. Where it ends does not depend on what
    follows, so the more alike two paths are, the more stems they share.

    >>> stems("a.example/api/window.html")[:5]
    ['a.example/', 'a.example/api/', 'a.example/api/w', 'a.example/api/wi', 'a.example/api/win']
    """
    folder, slash, name = path.rpartition("/")
    ends = [at + 1 for at, letter in enumerate(folder) if letter == "/"][: _FOLDERS - 1]
    whole = len(folder) + len(slash)
    ends += [whole, *(whole + letters for letters in _LETTERS if letters < len(name))]
    return [path[:end] for end in ends if end]


def place_keys(urls: Iterable[str], sites: Iterable[str], hasher: Hasher) -> tuple[Keys, Keys, Keys]:
    """Return keys of pages' folders and names, shape (n,), and of their `stems`, shape (n, KIN_LEVELS); 0 for none.

    Parameters
    ----------
    urls
        Normalised.
    sites
        The site of each page: a key of a name is per site, a key of a folder per host.
    hasher
        The crawl's hasher.

    Examples
    --------
    Two languages of one page, and another:

    >>> from evercrawl.arrays.hasher import Hasher
    >>> urls = ["http://a.example/en/x.html", "http://a.example/de/x.html", "http://a.example/de/y.html?q=a/b"]
    >>> folders, names, related = place_keys(urls, ["a.example"] * 3, Hasher(bytes(16)))
    >>> [bool(folders[1] == folders[i]) for i in (0, 2)], [bool(names[0] == names[i]) for i in (1, 2)]
    ([False, True], [True, False])
    >>> (related[1] == related[2])[:3].tolist(), int(np.count_nonzero(related[2]))
    ([True, True, False], 7)
    """
    folders, names, kin, counts = list[str](), list[str](), list[str](), list[int]()
    for url, site in zip(urls, sites, strict=True):
        path, mark, query = url.partition("?")
        folder, _, name = path.rpartition("/")
        folders.append(folder)
        names.append(f"{site} {name}{mark}{query}")
        found = stems(path.partition("//")[2])
        kin += [f"{stem}*" for stem in found]
        counts.append(len(found))
    related = np.zeros((len(counts), KIN_LEVELS), np.uint64)
    related[np.arange(KIN_LEVELS) < np.array(counts, np.int64)[:, None]] = hasher.keys(kin)
    return hasher.keys(folders), hasher.keys(names), related

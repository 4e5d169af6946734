"""Places of pages: hash keys of their folders and of their file names."""

from collections.abc import Iterable

from evercrawl.arrays.hasher import Hasher
from evercrawl.types import Keys


def places(urls: Iterable[str], sites: Iterable[str], hasher: Hasher) -> tuple[Keys, Keys]:
    """Return keys of pages' folders and of their file names, shape (n,) each.

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
    >>> folders, names = places(urls, ["a.example"] * 3, Hasher(bytes(16)))
    >>> [bool(folders[1] == folders[i]) for i in (0, 2)], [bool(names[0] == names[i]) for i in (1, 2)]
    ([False, True], [True, False])
    """
    folders, names = list[str](), list[str]()
    for url, site in zip(urls, sites, strict=True):
        path, mark, query = url.partition("?")
        folder, _, name = path.rpartition("/")
        folders.append(folder)
        names.append(f"{site} {name}{mark}{query}")
    return hasher.keys(folders), hasher.keys(names)

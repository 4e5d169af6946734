"""Groups of pages: by top-level domain, site, depth or content type."""

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from evercrawl.lab.histories.history import History
from evercrawl.parse.urls import hostname
from evercrawl.types import Ints

NONE: Final = "-"
"""The group of pages whose group is unknown."""
_ENDING: Final = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,5})$")


class PageGroups(NamedTuple):
    """The group of each page.

    Attributes
    ----------
    names
        Names of the groups, in the order of the output.
    group
        Index of each page's group, shape (pages,).
    """

    names: list[str]
    group: Ints


def grouped(histories: Sequence[History], by: str) -> PageGroups:
    """Return the groups of the pages of histories, by one of `BY`.

    Raises
    ------
    KeyError
        `by` is not one of them.
    """
    found = [name for history in histories for name in BY[by](history)]
    return _groups(found)


def neighbours(histories: Sequence[History]) -> tuple[Ints, Ints]:
    """Return the site and the folder of each page of histories, as numbers; shape (pages,) each."""
    found = ([name for history in histories for name in of(history)] for of in (site, folder))
    sites, folders = (_groups(names).group for names in found)
    return sites, folders


def _groups(found: Sequence[str]) -> PageGroups:
    names = sorted(set(found), key=_numbers_first)
    number = {name: i for i, name in enumerate(names)}
    return PageGroups(names, np.fromiter((number[name] for name in found), np.int64, len(found)))


def top_level(history: History) -> list[str]:
    """Return the last label of each page's host name; `NONE` for IP addresses, and for pages without host."""
    hosts = [hostname(path) if "://" in path else "" for path in history.paths]
    labels = (host.rpartition(".")[2] for host in hosts)
    return [label if label and not label.isdigit() and "]" not in label else NONE for label in labels]


def site(history: History) -> list[str]:
    """Return the name of each page's site."""
    return [history.sites[number] for number in history.site.tolist()]


def folder(history: History) -> list[str]:
    """Return the site and the folder of each page, joined to one name."""
    folders = (path.partition("?")[0].rpartition("/")[0] for path in history.paths)
    return [f"{name}\n{folder}" for name, folder in zip(site(history), folders, strict=True)]


def depth(history: History) -> list[str]:
    """Return the depth of each page: the number of folders in its path.

    Examples
    --------
    >>> [len(_folders(path)) for path in ("index.html", "docs/a/b.html", "http://a.example/", "http://a.example/docs/")]
    [0, 2, 0, 1]
    """
    return [str(len(_folders(path))) for path in history.paths]


def content_type(history: History) -> list[str]:
    """Return each page's media type if a crawl recorded it, otherwise its file name extension."""
    seen = history.seen
    types: Sequence[str] = seen.types if seen is not None else ("",) * len(history)
    return [mime or _ending(path) for mime, path in zip(types, history.paths, strict=True)]


BY: Final[dict[str, Callable[[History], list[str]]]] = {
    "tld": top_level,
    "site": site,
    "depth": depth,
    "type": content_type,
}
"""The criteria by which pages can be grouped."""


def _numbers_first(name: str) -> tuple[float, str]:
    return (float(name), "") if name.isdigit() else (np.inf, name)


def _local(path: str) -> str:
    """Return the path of a URL; a string that is not a URL is returned whole."""
    if "://" in path:
        path = path.partition("://")[2].partition("/")[2]
    return path.partition("?")[0]


def _folders(path: str) -> list[str]:
    return [name for name in _local(path).split("/")[:-1] if name]


def _ending(path: str) -> str:
    found = _ENDING.search(_local(path))
    return found[1].lower() if found else NONE

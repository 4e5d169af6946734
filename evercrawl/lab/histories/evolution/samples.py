"""Samples of a history's pages: by site or address, random, or by topic."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.errors import ConfigError
from evercrawl.lab.histories.history import History
from evercrawl.search.schema import words_of

Flags = NDArray[np.bool_]

_NAMED: Final = 10  # maximum number of sites that an error names


def of_sites(histories: Sequence[History], names: Iterable[str]) -> Flags:
    """Return which pages are on the named sites, shape (pages,).

    Raises
    ------
    ConfigError
        There is no such site.
    """
    wanted = set(names)
    known = dict.fromkeys(name for history in histories for name in history.sites)
    for name in wanted - set(known):
        raise ConfigError(f"there is no site {name}; the sites are {_some(list(known))}")
    chosen = (np.array([name in wanted for name in history.sites], np.bool_)[history.site] for history in histories)
    return np.concatenate(list(chosen))


def random_pages(histories: Sequence[History], count: int, seed: int, among: Flags | None = None) -> Flags:
    """Return a uniform random sample of `count` pages, shape (pages,); all pages if there are fewer.

    The same seed draws the same pages, and a larger sample contains the smaller ones.

    Parameters
    ----------
    histories
        The histories of the pages.
    count, seed
        Size of the sample, and the random seed.
    among
        The pages to sample from, shape (pages,); None for all.
    """
    pages = sum(len(history) for history in histories)
    order = np.random.default_rng(seed).permutation(pages)
    chosen = np.zeros(pages, np.bool_)
    chosen[(order if among is None else order[among[order]])[:count]] = True
    return chosen


def on_addresses(addresses: Sequence[str], count: int, seed: int) -> Flags:
    """Return the pages of `count` random addresses, drawn uniformly whatever their number of pages; shape (pages,).

    This corresponds to a survey of servers that tries random addresses. The same seed draws the same addresses.

    Parameters
    ----------
    addresses
        The address of each page; pages with an unknown address ("") are never drawn.
    count, seed
        Number of addresses, and the random seed.

    Raises
    ------
    ConfigError
        No address is known.

    Examples
    --------
    >>> int(on_addresses(["192.0.2.1"] * 9 + ["192.0.2.2", ""], 2, seed=1).sum())
    10
    """
    known = sorted(set(addresses) - {""})
    if not known:
        raise ConfigError("no address is known; only the archives of crawls have addresses, recorded histories do not")
    places: list[int] = np.random.default_rng(seed).permutation(len(known))[:count].tolist()
    drawn = {known[place] for place in places}
    return np.array([address in drawn for address in addresses], np.bool_)


def about(histories: Sequence[History], topics: Iterable[str]) -> Flags:
    """Return which pages have all words of at least one topic in their URL or title, shape (pages,)."""
    wanted = [set(words_of(topic)) for topic in topics]
    said = (set(words_of(_spaced(text))) for history in histories for text in _texts(history))
    return np.array([any(topic and topic <= words for topic in wanted) for words in said], np.bool_)


def asked_for(histories: Sequence[History], log: Iterable[str]) -> Flags:
    """Return which pages a gateway's log names, shape (pages,): a sample of the pages that its users request.

    Every word of a line that is a URL or a path counts, so the log may be a list of URLs, a proxy's log, or a server's
    (`"GET /a.html HTTP/1.1"`). A page is named by its URL, with or without scheme, or by its path if a history has only
    paths.

    Raises
    ------
    ConfigError
        The log names no page of these histories.
    """
    words = {_bare(word) for line in log for word in line.replace('"', " ").split()}
    found = np.array([_bare(path) in words for history in histories for path in history.paths], np.bool_)
    if not found.any():
        raise ConfigError("the gateway's log names no page of these histories; give one with their URLs or paths")
    return found


def _bare(url: str) -> str:
    """Return a URL without scheme, fragment, and leading and trailing slashes.

    >>> _bare("https://example.org/a/#top"), _bare("/a.html")
    ('example.org/a', 'a.html')
    """
    return url.partition("#")[0].partition("://")[2].strip("/") or url.partition("#")[0].strip("/")


def _texts(history: History) -> Iterator[str]:
    titles = history.seen.titles if history.seen is not None else ("",) * len(history)
    for path, title in zip(history.paths, titles, strict=True):
        yield f"{path} {title}"


def _spaced(text: str) -> str:
    """Return a URL with its parts separated into words; an underscore would join them."""
    return text.replace("_", " ").replace("%20", " ")


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more

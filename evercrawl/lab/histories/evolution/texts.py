"""Texts of crawled pages, read from archives, for the statistics of lasting words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evercrawl.lab.histories.evolution.aspects import PageAspects
from evercrawl.lab.histories.evolution.bodies import aspects_of_crawl
from evercrawl.lab.histories.evolution.staying import Texts, texts
from evercrawl.lab.histories.versions import versions_of_crawl
from evercrawl.store.birth import is_crawl

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evercrawl.lab.histories.history import History

_LEAST = 3  # two versions, and the repetition of the last one at its last visit


def texts_of_crawls(
    paths: Sequence[Path], histories: Sequence[History], chosen: NDArray[np.bool_] | None, since: float, until: float
) -> dict[int, Texts]:
    """Return the statistics of the versions of pages, by the pages' places in the order of the histories.

    Parameters
    ----------
    paths, histories
        The path of each history, and the history; only crawls have texts.
    chosen
        Which pages are read, in that order, shape (pages,); None for all.
    since, until
        The period of the visits that count, in seconds since the epoch.

    Raises
    ------
    StoreError
        A crawl is damaged.
    """
    found = dict[int, Texts]()
    for path, pages, urls in _asked(paths, histories, chosen):
        coming = versions_of_crawl(path, urls, since, until)
        found |= {pages[place]: texts(of) for place, of in coming if len(of) >= _LEAST}
    return found


def aspects_of_crawls(
    paths: Sequence[Path], histories: Sequence[History], chosen: NDArray[np.bool_] | None, since: float, until: float
) -> dict[int, PageAspects]:
    """Return the aspects of the versions of pages, by the pages' places; arguments as in `texts_of_crawls`."""
    found = dict[int, PageAspects]()
    for path, pages, urls in _asked(paths, histories, chosen):
        found |= {pages[place]: of for place, of in aspects_of_crawl(path, urls, since, until)}
    return found


def _asked(
    paths: Sequence[Path], histories: Sequence[History], chosen: NDArray[np.bool_] | None
) -> Iterator[tuple[Path, list[int], list[str]]]:
    """Yield each crawl, the places of its chosen pages, and their URLs."""
    first = 0
    for path, history in zip(paths, histories, strict=True):
        if is_crawl(path):
            rows = [row for row in range(len(history)) if chosen is None or chosen[first + row]]
            yield path, [first + row for row in rows], [history.paths[row] for row in rows]
        first += len(history)

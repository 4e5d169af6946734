"""The texts of the pages of crawls, read from their archives, for what is told of what stays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evercrawl.lab.histories.evolution.staying import Texts, texts
from evercrawl.lab.histories.versions import versions_of_crawl
from evercrawl.store.partition import is_crawl

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evercrawl.lab.histories.history import History

_LEAST = 3  # two versions, and the last one again as it was last seen


def texts_of_crawls(
    paths: Sequence[Path], histories: Sequence[History], chosen: NDArray[np.bool_] | None, since: float, until: float
) -> dict[int, Texts]:
    """Return what the versions of pages show, by the pages' places in the order of the histories.

    Parameters
    ----------
    paths, histories
        Where each is, and what it says; those that are no crawls have no texts.
    chosen
        Which pages are read, in that order, shape (pages,); all without it.
    since, until
        Between which instants visits count, in seconds since the epoch.

    Raises
    ------
    StoreError
        A crawl is damaged.
    """
    found, first = dict[int, Texts](), 0
    for path, history in zip(paths, histories, strict=True):
        if is_crawl(path):
            pages = [row for row in range(len(history)) if chosen is None or chosen[first + row]]
            coming = versions_of_crawl(path, [history.paths[row] for row in pages], since, until)
            found |= {first + pages[place]: texts(of) for place, of in coming if len(of) >= _LEAST}
        first += len(history)
    return found

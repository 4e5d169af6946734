"""Standing: a page's importance relative to the pages of its site, used in ranking."""

from typing import Any

import numpy as np

from evercrawl.model.view import View
from evercrawl.store.records.records import MEMBER
from evercrawl.types import Floats, Slots


class Standing:
    """Importance from links, relative to the mean page of the same site.

    A page's share of its site's source depends on the number of pages, not on how much each matters; it would
    dominate any comparison of a site of three pages with one of three thousand. So it is left out, and sites are not
    compared.

    Parameters
    ----------
    view
        The view of the crawl, read now for the means of its sites.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        state = view.state
        rows: Any = state.records.rows[: state.records.count]
        sites, count = state.site_of[rows["host"]], len(state.sites)
        given = np.bincount(sites, weights=earned(view, rows["slot"]), minlength=count)
        self._means = given / np.maximum(np.bincount(sites, minlength=count), 1)

    def __call__(self, slots: Slots) -> Floats:
        """Return the standing of pages, shape (n,); 1 for the mean page of a site, 0 without incoming links."""
        _, rows = self._view.records(slots)
        sites = self._view.state.site_of[rows["host"]]
        means = np.where(sites < len(self._means), self._means.take(sites, mode="clip"), 0.0)  # 0: site found later
        standing: Floats = np.divide(earned(self._view, slots), means, out=np.zeros(len(slots)), where=means > 0)
        return standing


def earned(view: View, slots: Slots) -> Floats:
    """Return importance from links, shape (n,), in units of the mean page, without the site's source."""
    state, (seen, rows) = view.state, view.records(slots)
    has_part = seen & ((rows["flags"] & MEMBER) != 0) & (state.accounts.sources() > 0)
    part = np.where(has_part, state.accounts.shares(state.site_of[rows["host"]]), 0.0) / view.total
    gained: Floats = np.maximum(view.importance[slots] - part, 0.0) * view.counted
    return gained

"""How a page stands among the pages of its site: what ranking takes for its importance."""

from typing import Any

import numpy as np

from evercrawl.model.view import View
from evercrawl.store.records.records import MEMBER
from evercrawl.types import Floats, Slots


class Standing:
    """What links give pages, measured by what they give the mean page of the same site.

    What pages have of their site's own source tells how many they are, and not how much each of them matters; between a
    site of three pages and one of three thousand it would decide alone. So it is left out, and sites are not compared.

    Parameters
    ----------
    view
        What is believed of the crawl; asked now, for the means of its sites.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        state = view.state
        rows: Any = state.records.rows[: state.records.count]
        sites, count = state.site_of[rows["host"]], len(state.sites)
        given = np.bincount(sites, weights=earned(view, rows["slot"]), minlength=count)
        self._means = given / np.maximum(np.bincount(sites, minlength=count), 1)

    def __call__(self, slots: Slots) -> Floats:
        """Return it for pages, shape (n,); 1 for the mean page of a site, 0 where links give nothing."""
        _, rows = self._view.records(slots)
        sites = self._view.state.site_of[rows["host"]]
        means = np.where(sites < len(self._means), self._means.take(sites, mode="clip"), 0.0)  # 0 of a site found later
        standing: Floats = np.divide(earned(self._view, slots), means, out=np.zeros(len(slots)), where=means > 0)
        return standing


def earned(view: View, slots: Slots) -> Floats:
    """Return what links give pages, shape (n,), in units of the mean page; a site's own source is left out."""
    state, (seen, rows) = view.state, view.records(slots)
    has_part = seen & ((rows["flags"] & MEMBER) != 0) & (state.accounts.sources() > 0)
    part = np.where(has_part, state.accounts.shares(state.site_of[rows["host"]]), 0.0) / view.total
    gained: Floats = np.maximum(view.importance[slots] - part, 0.0) * view.counted
    return gained

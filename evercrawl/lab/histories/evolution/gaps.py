"""Gaps between the changes of a page, also where only visits tell of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evercrawl.change.estimators.irregular import most_likely
from evercrawl.types import Floats, Ints

if TYPE_CHECKING:
    from evercrawl.lab.histories.evolution.changed import Changes


class Gaps(NamedTuple):
    """Gaps between changes, shape (n,) each.

    Attributes
    ----------
    page
        Place of the page among those that have any, by their numbers.
    quiet_s
        From when the first change was found to the last look that found the page as it was then.
    gap_s
        From when the first change was found to the second.
    """

    page: Ints
    quiet_s: Floats
    gap_s: Floats


def gaps(changes: Changes, seed: int = 0) -> Gaps:
    """Return the gaps between changes in one life of a page; changes at one instant are one.

    Where pages are visited it is known only between which two looks a change was made. Did pages change at random
    moments, then the time from one finding to the next change would be exponential, whatever came before; where it ends
    between two looks, that is drawn from the very same distribution, with the page's most likely rate. So pages that do
    change at random look as if they did, however seldom they are visited, and bursts between two looks are not seen.

    Parameters
    ----------
    changes
        By page and time.
    seed
        Draws the instants.
    """
    quiet_s = np.diff(changes.found_at) - changes.unseen_s[1:]
    unseen_s = changes.unseen_s[1:]
    within = (np.diff(changes.life) == 0) & (quiet_s + unseen_s > 0)
    quiet_s, unseen_s = np.maximum(quiet_s[within], 0.0), unseen_s[within]
    pages, page = np.unique(changes.page[1:][within], return_inverse=True)
    hidden = unseen_s > 0
    if not hidden.any():
        return Gaps(page, quiet_s, quiet_s)
    quiet = np.asarray(np.bincount(page, quiet_s, len(pages)), np.float64)
    rate = most_likely(len(pages), page[hidden], unseen_s[hidden], quiet)
    drawn_s = _drawn_s(rate[page], unseen_s, np.random.default_rng(seed).random(len(page)))
    return Gaps(page, quiet_s, quiet_s + drawn_s)


def _drawn_s(rate: Floats, within_s: Floats, u: Floats) -> Floats:
    """Return when in a time a change was made, if one was: exponential, cut off at its end; evenly, at no rate."""
    told = np.isfinite(rate) & (rate > 0) & (within_s > 0)
    rate = np.where(told, rate, 1.0)
    return np.where(told, -np.log1p(u * np.expm1(-rate * within_s)) / rate, u * within_s)

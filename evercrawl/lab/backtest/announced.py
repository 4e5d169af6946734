"""Announced changes, as in a sitemap's lastmod, for replays.

Also the schedule by which a replay values all pages, and how far ahead it may choose.
"""

from typing import Final, NamedTuple

import numpy as np

from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.lab.backtest.truth import Truth
from evercrawl.lab.polling.changing import AnnouncedSignals
from evercrawl.schedule.base import InvalidatedBy, Policy


class ReplayLooks(NamedTuple):
    """The schedule by which a replay values pages.

    Attributes
    ----------
    ticks
        Ticks between two valuations of all pages.
    kept
        Pages of each kind, new and polled before, that are kept between two valuations, per poll; enough that choices
        hardly differ from those among all pages.
    steady
        Whether the polls of several ticks may be chosen at once, without learning in between. This is so if the page
        that has waited longest is always next, whatever polls find, and no page is due twice in that time.
    stirred
        Whether a changed page makes the other pages of its folder candidates.
    """

    ticks: int
    kept: float
    steady: bool = False
    stirred: bool = False


_LOOKS: Final[dict[InvalidatedBy, ReplayLooks]] = {
    "everything": ReplayLooks(1, 0.0),
    "nothing": ReplayLooks(15, 1.0, steady=True),
    "plans": ReplayLooks(6, 2.0),
    "batches": ReplayLooks(4, 1.5, stirred=True),
}


def looks(policy: Policy, setting: ReplaySetting) -> ReplayLooks:
    """Return the schedule for a policy, by what affects its values; tick by tick if changes are announced.

    Examples
    --------
    >>> from evercrawl.lab.backtest.setting import ReplaySetting
    >>> from evercrawl.schedule.policies.uniform import Uniform
    >>> looks(Uniform(), ReplaySetting(0.1)).steady, looks(Uniform(), ReplaySetting(0.1, discovery="links")).steady
    (True, False)
    """
    if policy.clairvoyant or setting.lastmod > 0:
        return _LOOKS["everything"]
    found = _LOOKS[policy.invalidated_by]
    return _LOOKS["plans"] if found.steady and setting.discovery != "born" else found


class Announced:
    """Announces a share of the changes as they happen.

    Parameters
    ----------
    pages
        Their recorded versions.
    part
        Share of the changes that are announced, from 0 to 1.
    seed
        Random seed of the selection.
    """

    def __init__(self, pages: Truth, part: float, seed: int) -> None:
        page = np.repeat(np.arange(len(pages)), np.diff(pages.first))
        before = np.r_[-1, pages.state[:-1]]
        before[pages.first[:-1]] = -1
        changes = np.flatnonzero((before >= 0) & (pages.state >= 0) & (pages.state != before))
        told = changes[np.random.default_rng([seed, 3]).random(len(changes)) < part]
        told = told[np.argsort(pages.at[told], kind="stable")]
        self._at, self._page = pages.at[told], page[told]
        self._pages, self._passed = len(pages), 0

    def pass_to(self, now: float) -> AnnouncedSignals | None:
        """Return the announcements up to `now` that were not returned yet; None without any."""
        before, self._passed = self._passed, int(np.searchsorted(self._at, now, "right"))
        if before == self._passed:
            return None
        right = np.bincount(self._page[before : self._passed], minlength=self._pages)
        return AnnouncedSignals(right, np.zeros(self._pages, np.int64))

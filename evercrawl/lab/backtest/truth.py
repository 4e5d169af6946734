"""Recorded versions of pages in the replayed part of a history, laid out for the replay's inner loops."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.errors import ConfigError
from evercrawl.lab.backtest.places import folders, kin, names
from evercrawl.lab.backtest.setting import DAY_S, ReplaySetting
from evercrawl.lab.histories import REMOVED, TECHNICAL, History
from evercrawl.types import Floats, Ints, Keys, Slots

GONE: Final = -1
"""The state of a page that does not exist."""
_SHARE: Final = 0.9  # share of a history that is replayed if it is shorter than requested
_YEAR_DAYS: Final = 365.25


@dataclass(frozen=True)
class Truth:
    """Versions of pages, sorted by page and time; page p has rows `first[p]` up to `first[p + 1]`.

    Attributes
    ----------
    start, measured_at, end
        Start of the replay, start of measurement, and end of the replay, in seconds since the epoch.
    first
        Shape (pages + 1,).
    at
        Time at which each version appeared, `start` for older ones; shape (versions,).
    state
        Number of the state among those of its page, or GONE; equal states have equal contents.
    simhash
        Similarity hash of its words.
    size_bytes
        Size of its content; -1 if unknown.
    words
        Number of its words; -1 if unknown.
    modified_at
        Time of the last change: `at`, except for versions from before `start`, and for versions that do not differ
        from the one before.
    row
        Number of each page in the history, shape (pages,).
    site, folder, name
        Number of each page's site; number of its folder within the site; key of its site and the last part of its path.
    kin
        Keys of its site and path prefixes, by which kin are found; shape (pages, KIN_LEVELS), 0 for none.
    """

    start: float
    measured_at: float
    end: float
    first: Ints
    at: Floats
    state: Ints
    simhash: Keys
    size_bytes: Ints
    words: Ints
    modified_at: Floats
    row: Ints
    site: Slots
    folder: Slots
    name: Keys
    kin: Keys

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self.row)


def window(history: History, setting: ReplaySetting) -> tuple[float, float, float]:
    """Return the start, the start of measurement, and the end of a replay.

    Raises
    ------
    ConfigError
        The history has no event in that period.
    """
    if not len(history.at):
        raise ConfigError(f"{history.name} is empty: it has no events")
    first, last = float(history.at[0]), float(history.at[-1])
    end = last if setting.until is None else setting.until
    start = max(end - setting.years * _YEAR_DAYS * DAY_S, end - _SHARE * (end - first))
    start = start if setting.since is None else setting.since
    if not start < end or end < first:
        from_to = " to ".join(str(np.datetime64(int(at), "s").astype("datetime64[m]")) for at in (first, last))
        raise ConfigError(f"{history.name} has no events in that period; its events are from {from_to} (UTC)")
    return start, start + setting.warming * (end - start), end


def truth(history: History, setting: ReplaySetting) -> Truth:
    """Return the versions of the pages that exist in the replayed part of a history."""
    start, measured_at, end = window(history, setting)
    rows = np.flatnonzero(history.at <= end)
    order = rows[np.argsort(history.page[rows], kind="stable")]  # by page, then by time
    page, at, op = history.page[order], history.at[order].astype(np.float64), history.op[order]
    state = _states(page, op, history.content[order])
    following = np.r_[at[1:], np.inf]
    last_of_page = np.r_[page[1:] != page[:-1], True]
    until = np.where(last_of_page, np.inf, following)
    seen = (until > start) & ~((op == REMOVED) & (at <= start))  # versions that exist in the replayed part
    chosen = _sampled(history, np.unique(page[seen & (op != REMOVED)]), setting)
    kept = seen & np.isin(page, chosen)
    counts = np.bincount(np.searchsorted(chosen, page[kept]), minlength=len(chosen))
    numbers: list[int] = chosen.tolist()
    paths, site = [history.paths[number] for number in numbers], history.site[chosen]
    return Truth(
        start, measured_at, end,
        np.r_[0, np.cumsum(counts)].astype(np.int64),
        np.maximum(at[kept], start), state[kept], history.simhash[order][kept], history.size_bytes[order][kept],
        history.words[order][kept], _modified_at(page, at, state)[kept],
        chosen, site.astype(np.uint32), folders(site, paths), names(site, paths),
        kin(site, paths),
    )  # fmt: skip


def _states(page: Ints, op: NDArray[np.int8], content: Keys) -> Ints:
    """Return a number for each version's state, GONE after a removal.

    Equal contents have equal numbers, and so have the contents before and after a technical event.
    """
    key = _numbered(page, content)
    technical: list[int] = np.flatnonzero(op == TECHNICAL).tolist()
    ends = np.searchsorted(page, page[technical], "right")
    for row, end in zip(technical, ends.tolist(), strict=True):
        if row and page[row - 1] == page[row] and op[row - 1] != REMOVED:
            later = slice(row, end)
            key[later] = np.where(key[later] == key[row], key[row - 1], key[later])
    return np.where(op == REMOVED, GONE, key)


def _numbered(page: Ints, content: Keys) -> Ints:
    """Return a number for each pair of page and content, equal for equal pairs."""
    order = np.lexsort((content, page))
    differs = (page[order][1:] != page[order][:-1]) | (content[order][1:] != content[order][:-1])
    number = np.empty(len(page), np.int64)
    number[order] = np.r_[0, np.cumsum(differs)]
    return number


def _modified_at(page: Ints, at: Floats, state: Ints) -> Floats:
    """Return the time of the last change at each version, shape (versions,); equal states are not changes."""
    same = np.r_[False, (page[1:] == page[:-1]) & (state[1:] == state[:-1])]
    return at[np.maximum.accumulate(np.where(same, 0, np.arange(len(at))))]


def _sampled(history: History, pages: Ints, setting: ReplaySetting) -> Ints:
    """Return the sampled pages, `setting.sample` of each site, sorted."""
    if setting.sample is None:
        return pages
    draw = np.random.default_rng([setting.seed, len(history)])
    shuffled = draw.permutation(pages)
    by_site = shuffled[np.argsort(history.site[shuffled], kind="stable")]
    sites = history.site[by_site]
    place = np.arange(len(by_site)) - np.searchsorted(sites, sites)
    return np.sort(by_site[place < setting.sample])

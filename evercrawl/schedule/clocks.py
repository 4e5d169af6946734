"""The clocks of folders: a page's exposure to change is told by a clock that runs fast while its folder changes.

Change comes in batches, by site and folder, and in bursts of a page. So the age of a copy is not told in seconds, but
as its *exposure*: with it in place of the age, a page's changes are a Poisson process as good as can be, whose rate is
Gamma distributed. The exposure since a visit is the sum of five parts, each times a factor that its site has learned:

* the time that passed, and the time that passed on the folder's clock: together these are one on the mean,
* the page's own burst: after a change more follow, the less likely the longer ago it was,
* its cohort, the pages that changed with it the last time: if one of them changed since, it may have as well,
* its siblings, the pages of the same name in other folders (other languages, other versions): likewise.

**Clock.** How far a folder's clock went in each of 256 bins, which reach back about four cycles, is Gamma distributed
before anything is seen: a site's by its variance per second, and so a folder's in each bin around its site's. Pages
that were watched through a bin, of rates that sum to E, and that made C changes in it, make it (d / c + C) / (1 / c +
E), d being the bin's width and c the variance. A change that has no date is spread over the bins in which it can have
been, as the clock has it.

**Factors.** When a visit finds a change, each part has caused a share of it that is its share of the exposure, and of
rate x exposure / (1 - e^(-rate x exposure)) changes that were made; the factor is what it caused over what it foretold
(the EM steps of a Poisson regression), with 20 changes' worth of the whole crawl's.

**Rates.** The mean of a folder's rates is shrunk to the site's, and that to the crawl's. How they spread is told by
whether a page's past excess over its folder foretells its next.

References
----------
Cox (1955). Some statistical methods connected with series of events: the doubly stochastic Poisson process. Madan,
Seneta (1990). The variance gamma model for share market returns: time as a Gamma process. Hawkes (1971). Spectra of
some self-exciting and mutually exciting point processes: bursts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from evercrawl.kernels import Library, pointer
from evercrawl.schedule._clock_layout import (
    BINS,
    FOLDER,
    GROUP,
    NONE,
    PAGE,
    PARTS,
    RENEWED,
    RING,
    SITE_COLUMNS,
)
from evercrawl.schedule.kept import Kept
from evercrawl.schedule.numbering import Numbering
from evercrawl.schedule.pacing import Pace

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evercrawl.schedule.base import Pages, Visits
    from evercrawl.types import Floats, Ints, Keys, Slots

_KERNELS: Final = Library("evercrawl.schedule._clock_kernel")
_DAY_S: Final = 86_400.0
_TICKS: Final = 60.0  # bins a cycle
_SITE_VARIES: Final = (3 * _DAY_S, 1.5)  # the clocks' variance per second, in seconds, and at most in cycles
_FOLDER_VARIES: Final = (30 * _DAY_S, 15.0)
_BURST_LASTS: Final = (10 * _DAY_S, 5.0)
_FIRST_GAP: Final = (60 * _DAY_S, 20.0)
_BURST: Final = 2.0
_FORGET: Final = 0.03
_TOGETHER: Final = (3600.0, 1 / 48)  # changes nearer than that were made together: seconds, and at most in cycles
_SIBLINGS: Final = 30  # a name that more pages have says nothing
_OWN_RING: Final = 4  # pages a folder has that keeps a clock of its own


_BATCH: Final = 3.0  # standard deviations
_SURPRISE, _FORETOLD = 9 + 6 + 3 * PARTS, 9 + 7 + 3 * PARTS  # among the settings
_NEW_PAGE: Final = (0.0, 0.0, 0.0, 0, NONE, NONE, 0, 0.0, 0.0)
_EARLY: Final = 256  # visits
_SCALES: Final = (_SITE_VARIES, _FOLDER_VARIES, _BURST_LASTS, _TOGETHER, _FIRST_GAP)


class Exposure(NamedTuple):
    """What is thought of copies, shape (n,) each.

    Attributes
    ----------
    shape, scale_s
        Posterior of the rate of change on the clock, Gamma(shape, scale_s).
    exposure_s
        Time since the visit, on the clock.
    speed
        How fast that grows now, on the mean.
    """

    shape: Floats
    scale_s: Floats
    exposure_s: Floats
    speed: Floats


class Clocks:
    """Learns from visits how pages change together, and tells how exposed copies are.

    Parameters
    ----------
    cycle_s
        About how long it takes to visit all pages once, before it can be told from visits.
    """

    def __init__(self, cycle_s: float = _DAY_S) -> None:
        self._jumped_at = -np.inf
        self._pace, self._visits, self._paced, self._known = Pace(), 0, 0, 0
        self._pages = Kept(PAGE, _NEW_PAGE)
        self._folders, self._sites = _Rows(FOLDER), _Rows(np.dtype((np.float64, SITE_COLUMNS)))
        self._cohorts, self._siblings = _Rows(GROUP), _Rows(GROUP)
        self._members = _Rows(np.dtype("u1"))  # of each name
        self._by_folder, self._by_cohort, self._by_name = Numbering(), Numbering(), Numbering()
        self._heads, self._done, self._at = (_Rows(np.dtype(kind)) for kind in ("i8", "i8", "f8"))
        self._changes, self._expected = (_Rows(np.dtype((np.float32, BINS))) for _ in range(2))
        self._clock = _Rows(np.dtype((np.float64, BINS)))
        self._rings = 0
        self._settings = np.zeros(9 + 8 + 3 * PARTS)
        self._settings[4], self._settings[6] = _BURST, _FORGET
        self._width = 0.0
        self.set_cycle(cycle_s)

    def set_cycle(self, cycle_s: float) -> None:
        """Say how long it takes to visit all pages once; bins are made wider or narrower when that is twice as long."""
        self._settings[1] = cycle_s
        for place, (most_s, cycles) in zip((2, 3, 5, 7, 8), _SCALES, strict=True):
            self._settings[place] = min(most_s, cycles * cycle_s)
        wanted = cycle_s / _TICKS
        while self._width and wanted >= 2 * self._width:
            self._widen()
        while self._width and wanted <= 0.5 * self._width:
            self._narrow()
        self._width = self._width or wanted
        self._settings[0] = self._width

    def exposures(self, pages: Pages, now: float) -> Exposure:
        """Return how exposed copies are, and their rates; by the pages' own columns where nothing was learned."""
        n = len(pages.slot)
        slots, visited_at = np.ascontiguousarray(pages.slot), np.ascontiguousarray(pages.visited_at, np.float64)
        shape, scale_s = np.array(pages.shape, np.float64), np.array(pages.scale_s, np.float64)
        exposure_s, speed = np.maximum(now - visited_at, 0.0), np.ones(n)
        _KERNELS["exposures"](
            pointer(slots), pointer(visited_at), n, now, *self._memory(),
            pointer(shape), pointer(scale_s), pointer(exposure_s), pointer(speed),
        )  # fmt: skip
        return Exposure(shape, scale_s, exposure_s, speed)

    def learn(self, visits: Visits) -> None:
        """Take note of what visits found, no page twice."""
        first = 0
        while first < len(visits):
            last = min(first + _until_next(self._visits), len(visits))
            self._learn(visits.take(slice(first, last)))
            self._visits += last - first
            if _until_next(self._visits) == _every(self._visits):  # a stretch is whole, however it was told of
                self._pace.made(self._visits - self._paced, float(visits.at[last - 1]))
                self._paced = self._visits
                self.set_cycle(self._pace.cycle_s(self._known))
            first = last

    def _learn(self, visits: Visits) -> None:
        assert visits.folder is not None, "whoever tells of visits says where pages are"
        assert visits.name is not None, "whoever tells of visits says what pages are called"
        gone = visits.slot[visits.gone]
        if len(gone):
            rows = self._pages.upto(int(gone.max()) + 1)
            self._known -= int(rows["known"][gone].sum())
            rows["known"][gone] = 0
        seen = visits.take(visits.read & ~visits.gone)
        if not len(seen):
            return
        rows = self._pages.upto(int(seen.slot.max()) + 1)
        new = rows["known"][seen.slot] == 0
        self._known += int(new.sum())
        self._place(seen.take(new), rows)
        later = ~new & ~np.isnan(seen.interval_s)
        if later.any():
            self._teach(seen.take(later))
        self._join_cohorts(seen.take(new | seen.changed), rows)

    def jumped(self, now: float) -> bool:
        """Return whether more pages changed than was foretold, by far, since it last said so an eighth of a cycle ago.

        Where pages change in batches, those that were not visited since are older than they were thought to be.
        """
        surprise, foretold = self._settings[_SURPRISE], self._settings[_FORETOLD]
        if now < self._jumped_at + self._settings[1] / 8 or surprise < _BATCH * max(1.0, np.sqrt(foretold)):
            return False
        self._jumped_at, self._settings[_SURPRISE], self._settings[_FORETOLD] = now, 0.0, 0.0
        return True

    def memory(self) -> dict[str, NDArray[Any]]:
        """Return all that was learned, as arrays; `recall` goes on from there."""
        told = [self._visits, self._paced, self._known, self._rings, *self._pace.memory(), self._width, *self._settings]
        tables = {name: table.upto(0) for name, table in self._tables().items()}
        keys = {name: numbers.keys() for name, numbers in self._numberings().items()}
        return {"told": np.array(told), "pages": self._pages.upto(0), **tables, **keys}

    def recall(self, memory: dict[str, NDArray[Any]]) -> None:
        """Go on from what `memory` returned.

        Raises
        ------
        ValueError, KeyError
            It is not the memory of clocks as they are now; then nothing was recalled.
        """
        tables, told = self._tables(), memory["told"].tolist()
        kinds = {name: table.upto(0) for name, table in tables.items()} | {"pages": self._pages.upto(0)}
        if len(told) != 8 + len(self._settings) or any(
            (memory[name].dtype, memory[name].shape[1:]) != (rows.dtype, rows.shape[1:]) for name, rows in kinds.items()
        ):
            raise ValueError("the memory is of clocks of another make")
        self._visits, self._paced, self._known, self._rings = (int(each) for each in told[:4])
        self._pace.recall(*told[4:7])
        self._width, self._settings[:] = told[7], told[8:]
        self._pages = Kept(PAGE, _NEW_PAGE, rows=memory["pages"])
        for name, table in tables.items():
            table.recall(memory[name])
        for name, numbers in self._numberings().items():
            numbers.of(memory[name])

    def _tables(self) -> dict[str, _Rows]:
        return {
            "folders": self._folders, "sites": self._sites, "cohorts": self._cohorts, "siblings": self._siblings,
            "members": self._members, "heads": self._heads, "done": self._done, "at": self._at,
            "changes": self._changes, "expected": self._expected, "clock": self._clock,
        }  # fmt: skip

    def _numberings(self) -> dict[str, Numbering]:
        return {"by_folder": self._by_folder, "by_cohort": self._by_cohort, "by_name": self._by_name}

    def _teach(self, visits: Visits) -> None:
        columns = (visits.slot, visits.at, visits.interval_s, visits.changed, visits.age_s)
        kinds = (np.uint32, np.float64, np.float64, np.bool_, np.float64)
        arrays = [np.ascontiguousarray(column, kind) for column, kind in zip(columns, kinds, strict=True)]
        _KERNELS["learn"](*(pointer(array) for array in arrays), len(visits), *self._memory())

    def _place(self, visits: Visits, rows: NDArray[Any]) -> None:
        """Give pages that are visited for the first time their folders and siblings."""
        if not len(visits) or visits.folder is None or visits.name is None:
            return
        fresh = rows["folder"][visits.slot] == 0
        rows["known"][visits.slot] = 1
        first = visits.take(fresh)
        if not len(first) or first.folder is None or first.name is None:
            return
        self._found_sites(first.site)
        folder = self._by_folder.of(first.folder) + np.uint32(1)  # 0 is for what was never placed
        folders = self._folders.upto(len(self._by_folder) + 1)
        folders["site"][folder] = first.site
        folders["pages"] += np.bincount(folder, minlength=len(folders)).astype(np.float32)
        rows["folder"][first.slot] = folder
        self._give_rings(np.unique(folder), folders)
        rows["sibling"][first.slot] = self._named(first.name)

    def _found_sites(self, sites: Slots) -> None:
        known = len(self._sites)
        table = self._sites.upto(int(sites.max()) + 1)
        more = np.arange(known, len(self._sites))
        table[more, RENEWED] = -1.0
        table[more, RING] = self._more_rings(len(more))

    def _give_rings(self, folders: Slots, table: NDArray[Any]) -> None:
        """Give rings to folders that have got enough pages."""
        table["ring"][folders[table["ring"][folders] == 0]] = NONE
        grown = folders[(table["ring"][folders] == NONE) & (table["pages"][folders] >= _OWN_RING)]
        table["ring"][grown] = self._more_rings(len(grown))

    def _more_rings(self, count: int) -> NDArray[np.int64]:
        first = max(self._rings, 1)  # 0 is nobody's
        self._rings = first + count
        for column in (self._heads, self._done, self._at, self._changes, self._expected, self._clock):
            column.upto(self._rings)
        for column in (self._heads, self._done):
            column.upto(self._rings)[first:] = -1
        return np.arange(first, self._rings)

    def _named(self, names: Keys) -> Slots:
        """Return the group of each page's name; NONE where too many have it."""
        group = self._by_name.of(names)
        members = self._members.upto(len(self._by_name))
        self._siblings.upto(len(self._by_name))
        np.add.at(members, group, np.uint8(1))
        np.minimum(members, np.uint8(_SIBLINGS + 1), out=members)
        return np.where(members[group] > _SIBLINGS, np.uint32(NONE), group)

    def _join_cohorts(self, visits: Visits, rows: NDArray[Any]) -> None:
        """Let pages that changed belong to those that changed in the same hour, where the date is known."""
        rows["cohort"][visits.slot] = NONE
        dated = visits.take(~np.isnan(visits.age_s))
        if len(dated):
            hour = np.floor((dated.at - dated.age_s) / self._settings[7]).astype(np.int64).astype(np.uint64)
            key = (hour + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) ^ (dated.site.astype(np.uint64) << np.uint64(40))
            rows["cohort"][dated.slot] = self._by_cohort.of(np.maximum(key, np.uint64(1)))
            self._cohorts.upto(len(self._by_cohort))

    def _memory(self) -> tuple[Any, ...]:
        tables = (self._pages.upto(1), *(each.all() for each in (self._folders, self._sites, self._cohorts, self._siblings)))
        rings = (self._heads, self._done, self._at, self._changes, self._expected, self._clock)
        pairs = [value for table in tables for value in (pointer(table), len(table))]
        return (pointer(self._settings), *pairs, *(pointer(each.all()) for each in rings), self._rings)

    def _widen(self) -> None:
        """Make bins twice as wide: of two, changes are added, and who was watched is the mean."""
        self._rebin(2.0 * self._width, lambda head: head >> 1, _pairs)

    def _narrow(self) -> None:
        """Make bins half as wide: half of the changes were in either, and who was watched was it in both."""
        self._rebin(0.5 * self._width, lambda head: 2 * head + 1, _halves)

    def _rebin(self, width: float, moved: Callable[[Ints], Ints], parts: Callable[[Ints], tuple[Ints, Ints, float]]) -> None:
        heads = self._heads.all()[:, None]
        after = np.where(heads < 0, -1, moved(heads))
        bins = after - np.arange(BINS)
        one, other, share = parts(bins)
        row = np.arange(len(heads))[:, None]
        for column, times in ((self._changes.all(), 2 * share), (self._expected.all(), 1.0)):
            both = [np.where((k <= heads) & (k > heads - BINS) & (k >= 0), column[row, k % BINS], 0.0) for k in (one, other)]
            column[row, bins % BINS] = 0.5 * times * (both[0] + both[1])
        self._heads.all()[:] = after[:, 0]
        self._done.all()[:] = -1
        self._sites.all()[:, RENEWED] = -1.0
        self._width = width


def _every(visits: int) -> int:
    """Return after how many visits the cycle is measured again.

    >>> _every(0), _every(40), _every(5000)
    (16, 16, 256)
    """
    return 16 if visits < _EARLY else 256


def _until_next(visits: int) -> int:
    """Return how many visits are left before the cycle is measured again.

    >>> _until_next(0), _until_next(17), _until_next(5000)
    (16, 15, 120)
    """
    return _every(visits) - visits % _every(visits)


def _pairs(bins: Ints) -> tuple[Ints, Ints, float]:
    """Return which two bins make each that is twice as wide, and how many of these changes were in one of them."""
    return 2 * bins, 2 * bins + 1, 1.0


def _halves(bins: Ints) -> tuple[Ints, Ints, float]:
    """Return which bin holds each that is half as wide, and which part of its changes that gets."""
    return bins >> 1, bins >> 1, 0.5


class _Rows:
    """Rows that grow, all zero at first."""

    def __init__(self, kind: np.dtype[Any]) -> None:
        self._rows: NDArray[Any] = np.zeros(8, kind)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def upto(self, count: int) -> NDArray[Any]:
        """Return so many rows at least, in place; valid until it is called again."""
        if count > len(self._rows):
            more = np.zeros((max(count, 2 * len(self._rows)) - len(self._rows), *self._rows.shape[1:]), self._rows.dtype)
            self._rows = np.concatenate([self._rows, more])
        self._count = max(self._count, count)
        return self._rows[: self._count]

    def recall(self, rows: NDArray[Any]) -> None:
        """Take these rows in place of those there are."""
        self._rows = self._rows[:0]
        self.upto(max(len(rows), 8))[: len(rows)] = rows
        self._count = len(rows)

    def all(self) -> NDArray[Any]:
        """Return all rows, in place."""
        return self._rows[: max(self._count, 1)]

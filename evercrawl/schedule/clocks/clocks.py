"""The clocks of folders: a page's exposure to change is told by a clock that runs fast while its folder changes.

Change comes in batches, by site and folder, and in bursts of a page. So the age of a copy is not told in seconds, but
as its *exposure*: with it in place of the age, a page's changes are a Poisson process as good as can be, whose rate is
Gamma distributed. The exposure since a visit is the sum of six parts, each times a factor that its site has learned:

* the time that passed, and the time that passed on the folder's clock: together these are one on the mean,
* the page's own burst: after a change more follow, the less likely the longer ago it was,
* its cohort, the pages that changed with it the last time: if one of them changed since, it may have as well; a page
  that was read but once has the date that it said then,
* its siblings, the pages of the same name in other folders (other languages, other versions): likewise,
* its kin, at most 16 pages whose paths begin alike: likewise. In a small folder all pages are kin; in a large one,
  those whose names begin alike.

**Clock.** How far a folder's clock went in each of 80 cells, which reach back about four cycles, is Gamma distributed
before anything is seen: a site's by its variance per second, and so a folder's in each cell around its site's. The
latest 32 cells are a bin each, a sixtieth of a cycle, and the oldest are eight. Pages that were watched through a cell,
of rates that sum to E, and that made C changes in it, make it (d / c + C) / (1 / c + E), d being the cell's width and c
the variance. The rates are those in seconds, as time alone tells them: with those on the clock, both could drift apart,
one as much faster as the other is slower. A change that has no date is spread over the cells in which it can have been,
as the clock has it. What a cell holds is counted in 65,536 units, of a size of the ring's own.

**Factors.** When a visit finds a change, each part has caused a share of it that is its share of the exposure, and of
rate x exposure / (1 - e^(-rate x exposure)) changes that were made; the factor is what it caused over what it foretold
(the EM steps of a Poisson regression), with 20 changes' worth of the whole crawl's.

**Rates.** The mean of a folder's rates is shrunk to the site's, and that to the crawl's. How they spread is told by
whether a page's past excess over its folder foretells its next.

**One for all.** The page of a folder that was visited last tells, when it is visited again, of all others since then:
if it changed, so did they perhaps. Its visit is therefore worth as much as if it weighed, besides itself, what those
weigh that would be visited then (`price`). So folders of which nobody thinks that they change are looked at too.

**Seconds.** A site's clock may run faster or slower than time does on the mean of all visits. What is told is in the
seconds of that mean, for sites compete by how long copies last.

**Whether to believe it.** Of each site there is a probability that its clocks are right, and not the belief of each
page's rate that the policy has without them (`Visits.fresh_by_time`). Before anything is seen it is what other sites
have on the mean; each visit changes it by Bayes' rule, by how likely either had made what was found, and a little of it
goes back, so that it can change its mind (fixed share). What is told of a copy is the mean over both models.

References
----------
Cox (1955). Some statistical methods connected with series of events: the doubly stochastic Poisson process. Madan,
Seneta (1990). The variance gamma model for share market returns: time as a Gamma process. Hawkes (1971). Spectra of
some self-exciting and mutually exciting point processes: bursts.
Herbster, Warmuth (1998). Tracking the best expert: fixed share.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.addresses import Addresses
from evercrawl.arrays.numbering import Numbering
from evercrawl.arrays.rows import Rows
from evercrawl.arrays.saved import SavedRows
from evercrawl.kernels import Library, pointer
from evercrawl.schedule.clocks._layout import (
    BURST,
    BURST_LASTS,
    CHANGES,
    CYCLE,
    FIRST_GAP,
    FOLDER_VARIES,
    FORGET,
    GONE,
    KNOWN,
    NONE,
    PAGE,
    RING,
    SETTINGS,
    SITE_VARIES,
    SURPRISE,
    SURPRISE_VARIES,
    TOGETHER,
    WIDTH,
)
from evercrawl.schedule.clocks.cohorts import Cohorts
from evercrawl.schedule.clocks.exposure import Exposure, by_age
from evercrawl.schedule.clocks.folder_tables import FolderTables
from evercrawl.schedule.clocks.rings import ClockRings
from evercrawl.schedule.clocks.stretches import Stretches
from evercrawl.schedule.clocks.trust import ClockTrust, trust
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.types import Ints, Slots

PARTS: Final = ("exposure", "clock", "burst", "cohorts", "siblings", "kin", "mates")
"""What `without` can leave out: `exposure` (everything but time), `clock` (clocks of folders and sites), `burst` (the
page's own), `cohorts`, `siblings`, `kin`, and `mates` (that one page's visit tells of its whole folder)."""
_ASK: Final = Library("evercrawl.schedule.clocks._exposure_kernel")
_LEARN: Final = Library("evercrawl.schedule.clocks._learn_kernel")
_DAY_S: Final = 86_400.0
_TICKS: Final = 60.0  # bins a cycle
_SCALES: Final = {  # in seconds, and at most in cycles
    SITE_VARIES: (3 * _DAY_S, 1.5),
    FOLDER_VARIES: (800 * _DAY_S, 100.0),
    BURST_LASTS: (10 * _DAY_S, 5.0),
    TOGETHER: (3600.0, 1 / 48),
    FIRST_GAP: (60 * _DAY_S, 20.0),
}
_BURST: Final = 2.0
_FORGET: Final = 0.03
_STEADY: Final = 1e-3  # of a clock that goes as time does
_BATCH: Final = 3.0  # standard deviations
_LOOKS: Final = 8.0  # a cycle, at most, for batches
_NEW_PAGE: Final = (0.0, 0.0, 0.0, 0, NONE, NONE, 0, 0.0, 0.0, NONE)


class Clocks:
    """Learns from visits how pages change together, and tells how exposed copies are.

    It takes 44 bytes a page, 32 a folder and 400 a site, and 344 more for each of these as soon as one of its pages is
    read a second time, if four were read; and some 40 a name, a kin and a cohort.

    Parameters
    ----------
    cycle_s
        About how long it takes to visit all pages once, before it can be told from visits.
    without
        Of `PARTS`, those that are left out, to see what they are good for.

    Examples
    --------
    Until clocks foretell better than time, the exposure is the age, and rates are the pages' own:

    >>> from evercrawl.schedule import Pages
    >>> one, none = np.ones(1), np.zeros(1)
    >>> pages = Pages(np.zeros(1, np.uint32), 5 * one, one, none, one, 9 * one, one, none, none)
    >>> [float(column[0]) for column in Clocks().exposures(pages, now=7.0)[:4]]
    [1.0, 9.0, 2.0, 1.0]
    """

    def __init__(self, cycle_s: float = _DAY_S, without: Collection[str] = ()) -> None:
        assert set(without) <= set(PARTS), "there is such a part"
        self._without = without
        self._jumped_at = -np.inf
        self._stretches = Stretches()
        self._pages = SavedRows(PAGE, _NEW_PAGE)
        self._rings = ClockRings(cycle_s / _TICKS)
        self._places, self._cohorts = FolderTables(self._rings), Cohorts()
        settings = Rows("f8", rows=np.zeros(SETTINGS))
        self._settings = settings.all()
        self._addresses = Addresses(
            settings, self._pages, self._places.folders, self._places.sites, self._cohorts.groups, self._places.names,
            self._places.kin,
            *self._rings.in_order(),
        )  # fmt: skip
        self._settings[BURST], self._settings[FORGET] = 0.0 if "burst" in without else _BURST, _FORGET
        self.set_cycle(cycle_s)

    def set_cycle(self, cycle_s: float) -> None:
        """Say how long it takes to visit all pages once; bins are made wider or narrower when that is twice as long."""
        assert cycle_s > 0, "a cycle takes some time"
        self._settings[CYCLE] = cycle_s
        for scale, (most_s, cycles) in _SCALES.items():
            self._settings[scale] = min(most_s, cycles * cycle_s)
        if "clock" in self._without:
            self._settings[SITE_VARIES] = self._settings[FOLDER_VARIES] = _STEADY
        self._rings.fit(cycle_s / _TICKS)
        self._settings[WIDTH] = self._rings.width_s

    def exposures(self, pages: Pages, now: float) -> Exposure:
        """Return how exposed copies are, and their rates; by the pages' own columns where nothing was learned."""
        n = len(pages.slot)
        rows, visited_at = (
            np.ascontiguousarray(pages.rows, np.uint32),
            np.ascontiguousarray(pages.visited_at, np.float64),
        )
        told = np.stack(by_age(pages, now))
        _ASK["exposures"](pointer(rows), pointer(visited_at), n, now, self.words(rows), pointer(told))
        return Exposure(*told)

    def learn(self, visits: Visits) -> None:
        """Take note of what visits found, no page twice; how they are parted into calls makes no difference."""
        if "exposure" in self._without:
            return
        if "siblings" in self._without:
            visits = replace(visits, name=None)
        if "kin" in self._without:
            visits = replace(visits, kin=None)
        first = 0
        while first < len(visits):
            last = min(first + self._stretches.left(), len(visits))
            self._learn(visits if last - first == len(visits) else visits.take(slice(first, last)))
            if self._stretches.passed(last - first, float(visits.at[last - 1])):
                self.set_cycle(self._stretches.cycle_s)
                self._cohorts.forget_empty()
            self._rings.go_on()
            first = last

    def words(self, rows: Slots) -> int:
        """Return the address of the table of addresses that kernels take (`AT_SETTINGS` and so on).

        It is valid until the clocks learn again, and only for the pages of these rows.
        """
        if self._rings.stale:
            self._rings.settle(self._rings_of(self._pages.take(rows)["folder"]))
        return self._addresses.at()

    def jumped(self, now: float) -> bool:
        """Return whether more pages changed than was foretold, by far, since it last said so an eighth of a cycle ago.

        Where pages change in batches, those that were not visited since are older than they were thought to be.
        """
        surprise, varies = self._settings[SURPRISE], self._settings[SURPRISE_VARIES]
        if now < self._jumped_at + self._settings[CYCLE] / _LOOKS or surprise < _BATCH * max(1.0, np.sqrt(varies)):
            return False
        self._jumped_at, self._settings[SURPRISE], self._settings[SURPRISE_VARIES] = now, 0.0, 0.0
        return True

    def trust(self, row: int) -> ClockTrust | None:
        """Return how likely clocks are to be right of a page, 0 where none saw a change; None of one not seen yet."""
        page = self._pages.take(np.array([row], np.uint32))[0]
        if page["known"] != KNOWN:
            return None
        folder = self._places.folders.all()[int(page["folder"])]
        site = self._places.sites.all()[int(folder["site"])]
        found = trust(site, self._settings)
        return found if site[CHANGES] > 0.0 or page["changed_at"] > 0.0 else found._replace(believed=0.0)

    def nbytes(self) -> dict[str, int]:
        """Return bytes of memory in use: of `pages`, of `folders` with their clocks and sites, and of `groups`."""
        placed, groups = self._places.nbytes(), self._cohorts.nbytes
        return {
            "pages": self._pages.nbytes,
            "folders": placed["folders"] + self._rings.nbytes,
            "groups": placed["names"] + groups,
        }

    @property
    def folders(self) -> int:
        """How many folders are known."""
        return max(len(self._places.folders) - 1, 0)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all that was learned, as arrays; `restore` goes on from there."""
        return self.rest() | {name: rows.upto(0) for name, rows in self.saved_rows().items()}

    def saved_rows(self) -> dict[str, SavedRows]:
        """Return what is saved block by block of all that was learned."""
        keys = {name: numbers.known for name, numbers in self._numberings().items()}
        return {"pages": self._pages, **self._tables(), **keys}

    def rest(self) -> dict[str, NDArray[Any]]:
        """Return the rest of what was learned; `resume` takes it."""
        told = np.array([*self._stretches.state(), self._rings.width_s, *self._settings])
        return {"told": told, **self._rings.rest()}

    def resume(self, rest: dict[str, NDArray[Any]]) -> None:
        """Go on from `rest`, once the saved rows are what they were.

        Raises
        ------
        ValueError, KeyError
            It is of another kind; then nothing was restored.
        """
        told, now = rest["told"].tolist(), self.rest()["told"]
        if len(told) != len(now):
            raise ValueError("the state is of clocks of another make")
        split = len(told) - len(self._settings)
        self._stretches.restore(*told[: split - 1])
        self._rings.width_s, self._settings[:] = told[split - 1], told[split:]
        for numbers in self._numberings().values():
            numbers.loaded()
        self._cohorts.restored(self._pages.upto(0))
        self._rings.resume(rest)

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what `state` returned.

        Raises
        ------
        ValueError, KeyError
            It is not the state of clocks as they are now; then nothing was recalled.
        """
        now = self.state()
        same = now.keys() - self._rings.rest().keys()
        if any(_kind(state[name]) != _kind(now[name]) for name in same) or len(state["told"]) != len(now["told"]):
            raise ValueError("the state is of clocks of another make")
        for name, rows in self.saved_rows().items():
            rows.restore(state[name])
        self.resume(state)

    def _learn(self, visits: Visits) -> None:
        self._note_gone(visits.rows[visits.gone])
        seen = _those(visits, visits.read & ~visits.gone)
        if not len(seen):
            return
        rows = self._pages.upto(int(seen.rows.max()) + 1)
        new = rows["known"][seen.rows] != KNOWN
        if new.any():
            self._stretches.known += int(new.sum())
            self._places.place(_those(seen, new), rows)
        self._places.give_rings(seen, rows)
        self._teach(seen)
        other = new | seen.changed
        if "cohorts" not in self._without and other.any():
            self._cohorts.join(_those(seen, other), rows, self._settings[TOGETHER])
        if "mates" in self._without:
            self._places.folders.all()["scout"] = NONE
            self._places.folders.changed.note_rows(0, len(self._places.folders))

    def _note_gone(self, gone: NDArray[Any]) -> None:
        if len(gone):
            rows = self._pages.upto(int(gone.max()) + 1)
            self._pages.note(gone)
            there = gone[rows["known"][gone] == KNOWN]
            self._stretches.known -= len(there)
            rows["known"][there] = GONE

    def _teach(self, visits: Visits) -> None:
        columns = (visits.rows, visits.at, visits.interval_s, visits.changed, visits.age_s)
        kinds = (np.uint32, np.float64, np.float64, np.bool_, np.float64)
        arrays: list[NDArray[Any]] = [np.ascontiguousarray(c, kind) for c, kind in zip(columns, kinds, strict=True)]
        claims = [
            np.full(len(visits), np.nan) if column is None else np.ascontiguousarray(column, np.float64)
            for column in (visits.predicted_fresh, visits.fresh_by_time)
        ]
        _LEARN["learn"](*(pointer(array) for array in (*arrays, *claims)), len(visits), self.words(visits.rows))
        self._note(visits)

    def _note(self, visits: Visits) -> None:
        """Note what was written to that is told of visits; of pages those rows, and where they belonged before."""
        pages = self._pages.all()[visits.rows]
        folders = self._places.folders.all()[pages["folder"]]
        sites = folders["site"]
        self._pages.note(visits.rows)
        self._places.folders.note(pages["folder"])
        self._places.sites.note(sites)
        self._rings.note(self._rings_of(pages["folder"]))
        groups = (
            (self._cohorts.groups, "cohort"), (self._places.names, "sibling"), (self._places.kin, "kin"),
        )  # fmt: skip
        for table, column in groups:
            numbers = pages[column]
            table.note(numbers[numbers != NONE])

    def _rings_of(self, folders: Slots) -> Ints:
        """Return the rings of folders and of their sites."""
        rows = self._places.folders.all()[folders]
        rings: Ints = np.concatenate((rows["ring"], self._places.sites.all()[rows["site"], RING])).astype(np.int64)
        return rings

    def _tables(self) -> dict[str, SavedRows]:
        return {**self._rings.tables(), **self._places.tables(), **self._cohorts.tables()}

    def _numberings(self) -> dict[str, Numbering]:
        return {**self._places.numberings(), **self._cohorts.numberings()}


def _those(visits: Visits, which: NDArray[np.bool_]) -> Visits:
    """Return some of the visits, mostly all: to copy their columns would cost more than to learn from them."""
    return visits if which.all() else visits.take(which)


def _kind(rows: NDArray[Any]) -> tuple[Any, ...]:
    return rows.dtype, *rows.shape[1:]

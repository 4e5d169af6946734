"""The clocks of folders: a page's exposure to change is measured by a clock that runs fast while its folder changes.

Changes come in batches, by site and folder, and in bursts of a page. So the age of a copy is measured not in seconds,
but as its *exposure*: as a function of exposure, a page's changes approximate a Poisson process with a Gamma
distributed rate. The exposure since a visit is the sum of six parts, each times a factor learned for the site:

* elapsed time, and elapsed time on the folder's clock: together these are one on average,
* the page's own burst: after a change more follow, with a probability that decreases with time,
* its cohort, the pages that changed with it the last time: if one of them changed since, the page may have changed
  too; for a page read only once, the date that it showed then counts,
* its siblings, the pages of the same name in other folders (other languages, other versions), in the same way,
* its kin, up to 16 pages whose paths begin alike, in the same way. In a small folder all pages are kin; in a large
  one, those whose names begin alike.

**Clock.** The advance of a folder's clock in each of 80 cells, which reach back about four cycles, has a Gamma prior: a
site's by its variance per second, and a folder's in each cell around its site's. The latest 32 cells are one bin each,
a sixtieth of a cycle, and the oldest are eight. If pages observed through a cell have rates that sum to E, and made C
changes in it, the advance is (d / c + C) / (1 / c + E), where d is the cell's width and c the variance. The rates are
those in seconds, by time alone: with rates on the clock, both could drift apart, the rates becoming slower as the clock
becomes faster. A change without a date is spread over its possible cells in proportion to the clock. The counts of a
cell are stored in 65,536 units, whose size is the ring's own.

**Factors.** When a visit finds a change, each part has caused a share of it equal to its share of the exposure, and of
rate x exposure / (1 - e^(-rate x exposure)) expected changes. The factor is the ratio of caused to predicted changes
(the EM steps of a Poisson regression), shrunk to that of the whole crawl with a weight of 20 changes.

**Rates.** The mean rate of a folder is shrunk to the site's, and that to the crawl's. The spread of the rates is
estimated from how well a page's past excess over its folder predicts its next.

**One for all.** The next visit to the page of a folder that was visited last shows whether all others may have changed
since then. Its visit is therefore worth as much as if it had, in addition to its own weight, that of the pages that
would then be visited (`price`). So folders that are believed not to change are checked too.

**Seconds.** A site's clock may run faster or slower than time, averaged over all visits. Results are converted to
seconds of that average, because sites compete by how long copies last.

**Model choice.** Each site has a probability that its clocks are right, rather than the posterior of each page's rate
that the policy has without them (`Visits.fresh_by_time`). Its prior is the mean over other sites. Each visit updates it
by Bayes' rule, with the likelihoods of the result under both models, and a small fraction returns to the prior, so that
the choice can change (fixed share). Predictions about a copy are means over both models.

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
"""Values of `without`: `exposure` (everything but time), `clock` (clocks of folders and sites), `burst` (the page's
own), `cohorts`, `siblings`, `kin`, and `mates` (that one page's visit is informative about its whole folder)."""
_ASK: Final = Library("evercrawl.schedule.clocks._exposure_kernel")
_LEARN: Final = Library("evercrawl.schedule.clocks._learn_kernel")
_DAY_S: Final = 86_400.0
_TICKS: Final = 60.0  # bins per cycle
_SCALES: Final = {  # in seconds, and maximum in cycles
    SITE_VARIES: (3 * _DAY_S, 1.5),
    FOLDER_VARIES: (800 * _DAY_S, 100.0),
    BURST_LASTS: (10 * _DAY_S, 5.0),
    TOGETHER: (3600.0, 1 / 48),
    FIRST_GAP: (60 * _DAY_S, 20.0),
}
_BURST: Final = 2.0
_FORGET: Final = 0.03
_STEADY: Final = 1e-3  # variance of a clock that runs as time does
_BATCH: Final = 3.0  # standard deviations
_LOOKS: Final = 8.0  # maximum number of checks for batches per cycle
_NEW_PAGE: Final = (0.0, 0.0, 0.0, 0, NONE, NONE, 0, 0.0, 0.0, NONE)


class Clocks:
    """Learns from visits how pages change together, and measures how exposed copies are.

    It takes 44 bytes per page, 32 per folder and 400 per site, and 344 more for each folder and site once one of its
    pages is read a second time, if four pages were read; and about 40 per name, group of kin and cohort.

    Parameters
    ----------
    cycle_s
        Approximate time needed to visit all pages once, until it can be measured.
    without
        Items of `PARTS` to leave out, to measure their effect.

    Examples
    --------
    Until clocks predict better than time, the exposure is the age, and rates are the pages' own:

    >>> from evercrawl.schedule import Pages
    >>> one, none = np.ones(1), np.zeros(1)
    >>> pages = Pages(np.zeros(1, np.uint32), 5 * one, one, none, one, 9 * one, one, none, none)
    >>> [float(column[0]) for column in Clocks().exposures(pages, now=7.0)[:4]]
    [1.0, 9.0, 2.0, 1.0]
    """

    def __init__(self, cycle_s: float = _DAY_S, without: Collection[str] = ()) -> None:
        assert set(without) <= set(PARTS), "every part is known"
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
        """Set the time needed to visit all pages once; a change by a factor of two changes the width of bins."""
        assert cycle_s > 0, "a cycle has a positive length"
        self._settings[CYCLE] = cycle_s
        for scale, (most_s, cycles) in _SCALES.items():
            self._settings[scale] = min(most_s, cycles * cycle_s)
        if "clock" in self._without:
            self._settings[SITE_VARIES] = self._settings[FOLDER_VARIES] = _STEADY
        self._rings.fit(cycle_s / _TICKS)
        self._settings[WIDTH] = self._rings.width_s

    def exposures(self, pages: Pages, now: float) -> Exposure:
        """Return the exposures and rates of copies; from the pages' own columns where nothing was learned."""
        n = len(pages.slot)
        rows, visited_at = (
            np.ascontiguousarray(pages.rows, np.uint32),
            np.ascontiguousarray(pages.visited_at, np.float64),
        )
        told = np.stack(by_age(pages, now))
        _ASK["exposures"](pointer(rows), pointer(visited_at), n, now, self.words(rows), pointer(told))
        return Exposure(*told)

    def learn(self, visits: Visits) -> None:
        """Learn from visits, at most one per page; how visits are split into calls makes no difference."""
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
        """Return whether far more pages changed than predicted, at most once per eighth of a cycle.

        If pages change in batches, those not visited since are older than estimated.
        """
        surprise, varies = self._settings[SURPRISE], self._settings[SURPRISE_VARIES]
        if now < self._jumped_at + self._settings[CYCLE] / _LOOKS or surprise < _BATCH * max(1.0, np.sqrt(varies)):
            return False
        self._jumped_at, self._settings[SURPRISE], self._settings[SURPRISE_VARIES] = now, 0.0, 0.0
        return True

    def trust(self, row: int) -> ClockTrust | None:
        """Return the probability that clocks are right for a page, 0 without any change; None for an unknown page."""
        page = self._pages.take(np.array([row], np.uint32))[0]
        if page["known"] != KNOWN:
            return None
        folder = self._places.folders.all()[int(page["folder"])]
        site = self._places.sites.all()[int(folder["site"])]
        found = trust(site, self._settings)
        return found if site[CHANGES] > 0.0 or page["changed_at"] > 0.0 else found._replace(believed=0.0)

    def nbytes(self) -> dict[str, int]:
        """Return the memory use in bytes: of `pages`, of `folders` with their clocks and sites, and of `groups`."""
        placed, groups = self._places.nbytes(), self._cohorts.nbytes
        return {
            "pages": self._pages.nbytes,
            "folders": placed["folders"] + self._rings.nbytes,
            "groups": placed["names"] + groups,
        }

    @property
    def folders(self) -> int:
        """The number of known folders."""
        return max(len(self._places.folders) - 1, 0)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the whole state, as arrays; `restore` resumes from it."""
        return self.rest() | {name: rows.upto(0) for name, rows in self.saved_rows().items()}

    def saved_rows(self) -> dict[str, SavedRows]:
        """Return the part of the state that is saved block by block."""
        keys = {name: numbers.known for name, numbers in self._numberings().items()}
        return {"pages": self._pages, **self._tables(), **keys}

    def rest(self) -> dict[str, NDArray[Any]]:
        """Return the rest of the state; `resume` takes it."""
        told = np.array([*self._stretches.state(), self._rings.width_s, *self._settings])
        return {"told": told, **self._rings.rest()}

    def resume(self, rest: dict[str, NDArray[Any]]) -> None:
        """Resume from `rest`, after the saved rows have been restored.

        Raises
        ------
        ValueError, KeyError
            The state is of another kind; nothing was restored.
        """
        told, now = rest["told"].tolist(), self.rest()["told"]
        if len(told) != len(now):
            raise ValueError("the saved clocks have another format")
        split = len(told) - len(self._settings)
        self._stretches.restore(*told[: split - 1])
        self._rings.width_s, self._settings[:] = told[split - 1], told[split:]
        for numbers in self._numberings().values():
            numbers.loaded()
        self._cohorts.restored(self._pages.upto(0))
        self._rings.resume(rest)

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Resume from the result of `state`.

        Raises
        ------
        ValueError, KeyError
            The state does not fit the clocks as configured now; nothing was restored.
        """
        now = self.state()
        same = now.keys() - self._rings.rest().keys()
        if any(_kind(state[name]) != _kind(now[name]) for name in same) or len(state["told"]) != len(now["told"]):
            raise ValueError("the saved clocks have another format")
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
        """Record which rows learning from visits changes; for pages, their rows and previous groups."""
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
    """Return some of the visits, usually all of them uncopied, because copying would cost more than learning."""
    return visits if which.all() else visits.take(which)


def _kind(rows: NDArray[Any]) -> tuple[Any, ...]:
    return rows.dtype, *rows.shape[1:]

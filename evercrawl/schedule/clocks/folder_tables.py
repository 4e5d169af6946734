"""The folders, sites, names and kin of pages, numbered in the order in which they were met."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.numbering import Numbering
from evercrawl.arrays.saved import SavedRows
from evercrawl.schedule.clocks._layout import (
    FOLDER,
    KIN_PAGES,
    KNOWN,
    NAME,
    NONE,
    OWN_RING,
    PAGES,
    RENEWED,
    RING,
    SITE_COLUMNS,
    UNKNOWN,
)
from evercrawl.schedule.clocks.rings import ClockRings
from evercrawl.schedule.pages import Visits
from evercrawl.types import Keys, Slots

_ODD: Final = np.uint64(0x9E3779B97F4A7C15)  # multiplier that spreads site numbers over keys


class FolderTables:
    """Tables of folders, sites, names and kin; folder 0 holds pages without a folder yet.

    Parameters
    ----------
    rings
        Source of the clocks of folders and sites with enough pages.
    """

    def __init__(self, rings: ClockRings) -> None:
        self._rings = rings
        self.folders, self.sites, self.names, self.kin = (
            SavedRows(FOLDER), SavedRows((np.float64, SITE_COLUMNS)), SavedRows(NAME), SavedRows(NAME),
        )  # fmt: skip
        self._by_folder, self._by_site, self._by_name, self._by_kin = (Numbering() for _ in range(4))

    def place(self, visits: Visits, rows: NDArray[Any]) -> None:
        """Assign pages to folders, names and kin, unless they have them; rows are those of `PAGE`.

        Without known folders, the site is one folder.
        """
        visits = visits.take(rows["folder"][visits.rows] == 0)
        if not len(visits):
            return
        sites, site_keys = self._sites(visits.site), (visits.site.astype(np.uint64) + np.uint64(1)) * _ODD
        given = site_keys if visits.folder is None else np.where(visits.folder == 0, site_keys, visits.folder)
        folders = self._by_folder.of(given) + np.uint32(1)
        rows["folder"][visits.rows] = folders
        self.folders.upto(len(self._by_folder) + 1)["site"][folders] = sites
        if visits.name is not None:
            named = visits.take(visits.name != 0)
            rows["sibling"][named.rows] = _numbers(named.name, self._by_name, self.names)
        if visits.kin is not None:
            related = visits.take(visits.kin[:, 0] != 0)
            rows["kin"][related.rows] = self._kin(related.kin)

    def give_rings(self, visits: Visits, rows: NDArray[Any]) -> None:
        """Assign a clock to each folder and site, of which a page is read again, if it has enough pages."""
        pages = rows[visits.rows]
        again = (pages["known"] == KNOWN) & ~np.isnan(visits.interval_s)
        if not again.any():
            return
        table, sites = self.folders.all(), self.sites.all()
        visited, new = pages["folder"][again], pages["folder"][pages["known"] == UNKNOWN]
        self._give(visited, new, table["pages"], table["ring"])
        self._give(table["site"][visited], table["site"][new], sites[:, PAGES], sites[:, RING])

    def nbytes(self) -> dict[str, int]:
        """Return the memory use in bytes: of `folders` and their sites, and of `names` and kin."""
        folders = self.folders.nbytes + self.sites.nbytes + self._by_folder.nbytes + self._by_site.nbytes
        names = self.names.nbytes + self._by_name.nbytes + self.kin.nbytes + self._by_kin.nbytes
        return {"folders": folders, "names": names}

    def tables(self) -> dict[str, SavedRows]:
        """Return the whole state except keys, by name."""
        return {"folders": self.folders, "sites": self.sites, "names": self.names, "kin": self.kin}

    def numberings(self) -> dict[str, Numbering]:
        """Return the numbers of the keys, by name."""
        return {
            "by_folder": self._by_folder, "by_site": self._by_site, "by_name": self._by_name, "by_kin": self._by_kin,
        }  # fmt: skip

    def _sites(self, sites: Slots) -> Slots:
        """Return the rows of sites; only sites that were met have one, because their numbers may be sparse."""
        known = len(self._by_site)
        found = self._by_site.of(sites.astype(np.uint64) + np.uint64(1))
        self.sites.upto(len(self._by_site))[known:, RENEWED] = -1.0
        return found

    def _give(self, visited: Slots, more: Slots, pages: NDArray[Any], rings: NDArray[Any]) -> None:
        """Assign rings to visited owners with enough pages that have none; `more` counts one for each new page."""
        met, wanted = np.unique(visited), rings[np.unique(visited)] == 0
        met = met[wanted]
        counts = pages[met] + np.bincount(more, minlength=int(met.max(initial=0)) + 1)[met]
        grown: Slots = met[counts >= OWN_RING]
        if len(grown):
            rings[grown] = self._rings.more(len(grown))

    def _kin(self, stems: Keys | None) -> Slots:
        """Return the groups of pages by their stems: the first one with room, from short to long.

        So a few pages are grouped by their folders, and many by their names; the earliest ones stay together.
        """
        assert stems is not None, "the visits have stems"
        known = self._by_kin.find(stems.ravel()).reshape(stems.shape)
        counts = self.kin.take(known.ravel())["pages"].reshape(stems.shape)
        more, chosen = dict[int, int](), list[int]()
        for keys, before in zip(stems.tolist(), counts.tolist(), strict=True):
            for key, count in zip(keys, before, strict=True):
                if key and count + more.get(key, 0) < KIN_PAGES:
                    more[key] = more.get(key, 0) + 1
                    chosen.append(key)
                    break
            else:
                chosen.append(0)
        wanted = np.array(chosen, np.uint64)
        numbers = np.full(len(wanted), NONE, np.uint32)
        numbers[wanted != 0] = _numbers(wanted[wanted != 0], self._by_kin, self.kin)
        return numbers


def _numbers(keys: Keys | None, by_key: Numbering, groups: SavedRows) -> Slots:
    """Return the numbers of groups by their keys, creating new ones."""
    assert keys is not None, "the visits have keys"
    numbers = by_key.of(keys)
    groups.upto(len(by_key))
    return numbers

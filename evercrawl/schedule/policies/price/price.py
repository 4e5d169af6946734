"""Price: the visit with the highest worth per unit of the budget; one price for new and visited pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from evercrawl.schedule.abilities import SavesRows, Sizes, TableSize
from evercrawl.schedule.clocks.clocks import PARTS, Clocks
from evercrawl.schedule.formulas.index import HARMONIC
from evercrawl.schedule.parameters import Annotated, Share, Switch, bounded, several
from evercrawl.schedule.shared.by_price import CLOSE, ByPrice
from evercrawl.schedule.shared.earlier_versions import EarlierVersions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evercrawl.arrays.saved import SavedRows
    from evercrawl.schedule.abilities import Assessed
    from evercrawl.schedule.base import Context
    from evercrawl.schedule.clocks.trust import ClockTrust
    from evercrawl.schedule.pages import Pages, Visits
    from evercrawl.types import Floats

_PARTS: Final = (*PARTS, "age")
_VERSIONS: Final = "versions"


class Price(SavesRows, Sizes, ByPrice):
    """Visit the page with the highest worth per unit of the budget, and learn the price of a unit from the visits.

    A page falls due when a visit is worth the price. The price follows the values of the visits made: if they exceed
    it, it rises, fewer pages fall due, and the budget goes to those that need it most. New pages compete with the
    worth that a first visit would have after a wait of `patience`.

    On sites where the clock of the page's folder predicted changes better than elapsed time, the age of a copy is
    measured by this clock, which runs fast while pages in the folder change (see `clocks`). Elsewhere it is measured in
    seconds, by the Gamma posterior of the page's rate. A copy also becomes invalid when its page vanishes, so the rate
    at which pages vanish is added to the rate of change. For a page that was found gone, the awaited event is its
    return instead of a change, by the posterior of how fast pages come back (see `change.comebacks`).

    Parameters
    ----------
    harmonic
        theta, the weight of the harmonic index: a larger value gives more visits to pages that change too often to
        follow. Unless it is 0, it is at least 0.05 for new pages, so that none is left unread.
    close
        Precision of a due time: the last step of the search, as a fraction of the age.
    without
        Parts to leave out, to measure their effect, such as `burst,cohorts`: `exposure`, all evidence other than time;
        `clock`, the clocks of sites and folders; `burst`, the page's own recent change; `cohorts`, pages that changed
        together with it; `siblings`, pages with the same name; `kin`, pages whose paths begin alike; `mates`, one page
        that represents its folder; and `age`, the worth of age alone.
    flicker
        1: a return to one of the last four versions of a page is not a change, so only lasting changes count; for pages
        that alternate between versions. Takes 12 bytes per page.

    Raises
    ------
    ConfigError
        A part does not exist, or a number is not from 0 to 1.

    Examples
    --------
    An hour after a visit, the page that changes about once a day is worth more than the one that hardly ever changes; a
    month after, it is worth less, because it will have changed again in any case.

    >>> import numpy as np
    >>> from evercrawl.schedule import Context, Pages
    >>> day, one, none = 86400.0, np.ones(2), np.zeros(2)
    >>> pages = Pages(np.arange(2, dtype=np.uint32), none, one, none, 50 * one, day * np.array([50.0, 5000.0]),
    ...               one, none, none)
    >>> policy = Price()
    >>> [policy.value(pages, Context(age_s)).argsort()[::-1].tolist() for age_s in (3600.0, 30 * day)]
    [[0, 1], [1, 0]]

    References
    ----------
    See `index` and `clocks`; and Busa-Fekete et al. (2025), Cho, Garcia-Molina (2003), for the price in the optimum.
    """

    learns_places: ClassVar[bool] = True

    @bounded
    def __init__(
        self,
        harmonic: Share = HARMONIC,
        close: Share = CLOSE,
        without: Annotated[str, several(*_PARTS)] = "",
        flicker: Switch = 0,
    ) -> None:
        left_out = frozenset(part.strip() for part in without.split(",") if part)
        super().__init__(harmonic, close, Clocks(without=left_out - {"age"}), longs="age" not in left_out)
        self._versions = EarlierVersions() if flicker else None

    def learn(self, visits: Visits) -> None:
        """Update the clocks of folders; with `flicker`, only with lasting changes."""
        self.clocks.learn(visits if self._versions is None else self._versions.heed(visits))

    def fresh(self, pages: Pages, context: Context) -> Floats:
        """Return the probability that each copy is fresh; with `flicker`, that its lasting content is."""
        return super().fresh(self._believed(pages), context)

    def _assess(self, pages: Pages, context: Context, valued: int, due_from: int, *, fresh: bool = False) -> Assessed:
        return super()._assess(self._believed(pages), context, valued, due_from, fresh=fresh)

    def _believed(self, pages: Pages) -> Pages:
        """Return the pages with the rates that apply."""
        return pages if self._versions is None else self._versions.slowed(pages)

    def wants_rescan(self, context: Context) -> bool:
        """Return whether pages changed in a batch, so that other pages of their folders deserve an earlier visit."""
        return self.clocks.jumped(context.now)

    def table_sizes(self) -> tuple[TableSize, ...]:
        """Return the memory use of the clocks."""
        taken = self.clocks.nbytes()
        return (
            TableSize("pages on clocks", "page", -1, taken["pages"]),
            TableSize("cohorts and siblings", "page", -1, taken["groups"]),
            TableSize("folders and their clocks", "folder", self.clocks.folders, taken["folders"]),
        )

    def trust(self, row: int) -> ClockTrust | None:
        """Return whether the clocks of a page's site are used instead of elapsed time; None for an unknown page."""
        return self.clocks.trust(row)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the state of the clocks."""
        own = {} if self._versions is None else {_VERSIONS: self._versions.rows.upto(0)}
        return self.clocks.state() | own

    def saved_rows(self) -> dict[str, SavedRows]:
        """Return the rows of the clocks that are saved block by block."""
        own = {} if self._versions is None else {_VERSIONS: self._versions.rows}
        return self.clocks.saved_rows() | own

    def rest(self) -> dict[str, NDArray[Any]]:
        """Return the rest of the state of the clocks."""
        return self.clocks.rest()

    def resume_rows(self, rest: dict[str, NDArray[Any]]) -> None:
        """Resume from the saved state of the clocks."""
        self.clocks.resume(rest)

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Resume from the saved state of the clocks."""
        if self._versions is not None:
            versions = state[_VERSIONS]
            if versions.dtype != self._versions.rows.kind:
                raise ValueError("the saved page versions have another format")
        self.clocks.restore(state)
        if self._versions is not None:
            self._versions.rows.restore(state[_VERSIONS])

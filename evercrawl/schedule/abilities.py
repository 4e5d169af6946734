"""Optional abilities of policies besides ordering pages; callers test for one with `isinstance(policy, Learns)`."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.saved import SavedRows
from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.clocks.trust import ClockTrust
from evercrawl.schedule.formulas.index import survival
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.types import Floats, Slots


class Learns(ABC):
    """Learns from the result of every visit; after a restart the journal replays earlier visits first."""

    counts_links: ClassVar[bool] = False
    """Whether the policy learns from the links and bytes of visits: `received`, `size`, `links`, `relinked`, `found`.
    A replay has to look these values up, and passes them only if this is set."""

    learns_places: ClassVar[bool] = False
    """Whether visits carry the folder and name of pages that were never read before."""

    @abstractmethod
    def learn(self, visits: Visits) -> None:
        """Learn from the results of visits, in order.

        A page occurs at most once per call. How visits are split into calls does not change what is learned.
        """

    def wants_rescan(self, context: Context) -> bool:
        """Return whether enough was learned since the last True answer that all pages must be assessed again.

        By default never: pages fall due at the instants that `due` returned.
        """
        return False

    def state(self) -> dict[str, NDArray[Any]]:
        """Return everything learned from visits as arrays that can be stored on disk; empty by default.

        For a policy without state, a resumed crawl replays all visits.
        """
        return {}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Resume from the arrays that `state` returned, instead of replaying those visits.

        Raises
        ------
        ValueError, KeyError
            The state does not fit this policy as configured now; nothing was restored.
        """
        raise ValueError(f"{type(self).__name__} keeps no state")


class SavesRows(Learns):
    """Learns in rows that are saved block by block, so that the cost of saving depends only on what changed."""

    @abstractmethod
    def saved_rows(self) -> dict[str, SavedRows]:
        """Return the row tables by name; always the same objects, whatever they contain."""

    @abstractmethod
    def rest(self) -> dict[str, NDArray[Any]]:
        """Return everything else that was learned, as arrays whose size does not grow with the rows."""

    @abstractmethod
    def resume_rows(self, rest: dict[str, NDArray[Any]]) -> None:
        """Resume from what `rest` returned, after the rows have been restored.

        Raises
        ------
        ValueError, KeyError
            The state does not fit this policy as configured now; nothing was restored.
        """


class Plans(ABC):
    """Considers all pages together at intervals."""

    keeps_notes: ClassVar[bool] = False
    """Whether the `notes` made by a plan must survive a kill. If so, the journal records them before the first visit
    of each plan, in addition to the snapshots. Such a policy also `Resumes`."""

    @abstractmethod
    def plan(self, pages: Pages, unread: int, context: Context) -> float:
        """Consider all pages together, and return the instant at which the policy wants to plan again.

        Parameters
        ----------
        pages
            Every visited page that waits for a refresh.
        unread
            Number of waiting pages that were never visited.
        context
            The context at this instant.
        """


class Allocates(Plans):
    """Plans a visit rate for every page."""

    @abstractmethod
    def rates(self, slots: Slots) -> Floats:
        """Return visits per second according to the last plan, shape (n,)."""

    @property
    def at_random(self) -> bool:
        """Whether the visits to a page are placed at random moments instead of evenly."""
        return False


class Predicts(ABC):
    """Predicts changes by more than the posteriors of rates."""

    @abstractmethod
    def fresh(self, pages: Pages, context: Context) -> Floats:
        """Return the probability that each copy is still current, shape (n,); nan for unvisited pages."""

    def trust(self, row: int) -> ClockTrust | None:
        """Return whether the clocks of the page's site are used instead of elapsed time; None if it has no clocks.

        `row` is the page's row, as in `Pages`.
        """
        return None


class Priced(Policy):
    """Visits pages that are worth a price per unit of the budget; the price is learned from the visits made."""

    price: float
    """In importance times seconds per unit of the budget; nan before the first visit."""

    @abstractmethod
    def at_price(self, price: float) -> Self:
        """Return the same policy with another price; what was learned is shared."""


class Tunable(ABC):
    """Accepts new values for its parameters while the crawl runs."""

    @abstractmethod
    def adjust(self, options: Mapping[str, float | str]) -> None:
        """Set new values for parameters of the constructor.

        Raises
        ------
        ConfigError
            A parameter cannot be changed, or the value is not valid for it.
        """

    def ineffective_option(self, context: Context) -> str:
        """Return which parameter has no effect in this crawl, and why, as a sentence; "" if all have an effect.

        The sentence is reported when a run begins, and after a plan that causes it.
        """
        return ""


class Follows(ABC):
    """Observes which pages are being visited."""

    @abstractmethod
    def chosen(self, values: Floats, context: Context, new: int = 0) -> None:
        """Observe the values of the pages that are being visited.

        Pages that were put back because another page had to come first are not included.

        Parameters
        ----------
        values
            As returned by `value`, shape (n,).
        context
            The context when the pages were chosen, except that `known` is current.
        new
            Number of these pages that were never visited before.
        """


class Resumes(ABC):
    """Resumes from a few numbers that snapshots keep."""

    @abstractmethod
    def notes(self) -> dict[str, float]:
        """Return the numbers; they are also shown to people who inspect the crawl."""

    @abstractmethod
    def resume(self, notes: dict[str, float]) -> None:
        """Resume from the notes of an earlier run of this or another policy."""


class Assesses(ABC):
    """Answers all queries of one choice in a single, faster call."""

    @abstractmethod
    def assess(self, pages: Pages, context: Context, valued: int, due_from: int) -> Assessed:
        """Return the value of the first `valued` pages, and the due times of the pages from `due_from` on."""


class Places(ABC):
    """Returns values that are positions in an order and have no meaning as worth."""

    @abstractmethod
    def place(self, page: Pages, context: Context) -> str:
        """Return a description of the position of the only page in `pages`."""


class Tabulates(ABC):
    """Keeps tables for inspection."""

    @abstractmethod
    def tables(self, context: Context) -> dict[str, dict[str, NDArray[Any]]]:
        """Return the tables: name -> column -> values; all columns of a table have the same length.

        A column named `slot` identifies pages.
        """


class TableSize(NamedTuple):
    """The memory use of one table: its name, what a row stands for ("page", "folder"), number of rows, bytes."""

    name: str
    of: str
    rows: int
    size_bytes: int


class Sizes(ABC):
    """Reports the memory use of its tables."""

    @abstractmethod
    def table_sizes(self) -> tuple[TableSize, ...]:
        """Return the sizes, in constant time; -1 rows stands for all visited pages."""


class Assessed(NamedTuple):
    """The assessment of the pages among which a choice is made.

    Attributes
    ----------
    values
        Values of the first pages, as returned by `Policy.value`.
    due
        Due times of the last pages, as returned by `Policy.due`; the two ranges may overlap.
    fresh
        Freshness of the first pages, as returned by `Predicts.fresh`; None if the caller should request it only for the
        chosen pages.
    """

    values: Floats
    due: Floats
    fresh: Floats | None = None


def price_of(policy: Policy) -> float:
    """Return the price of a unit of the budget; nan if the policy has no price or does not know it yet."""
    return policy.price if isinstance(policy, Priced) else math.nan


def notes_of(policy: Policy) -> dict[str, float]:
    """Return the numbers that a policy resumes from; empty if it does not implement `Resumes`."""
    return policy.notes() if isinstance(policy, Resumes) else {}


def assessed(policy: Policy, pages: Pages, context: Context, valued: int, due_from: int) -> Assessed:
    """Return the value of the first `valued` pages, and the due times of the pages from `due_from` on."""
    values = np.ascontiguousarray(policy.value(pages, context)[:valued], np.float64)
    if due_from == len(pages.slot):
        return Assessed(values, np.zeros(0))
    due = policy.due(pages.part(due_from, len(pages.slot)), context)
    return Assessed(values, np.ascontiguousarray(due, np.float64))


def p_fresh(policy: Policy, pages: Pages, context: Context) -> Floats:
    """Return the probability that each page's copy is current, shape (n,); nan for unvisited pages.

    The probability comes from the policy if it implements `Predicts`. Otherwise it follows from the posterior of the
    page's rate, announcements, and the rate at which pages vanish.
    """
    if isinstance(policy, Predicts):
        return policy.fresh(pages, context)
    age_s = np.maximum(context.now - pages.visited_at, 0.0)
    doubt = pages.neg_log_unchanged + context.deaths_per_s * age_s
    found = survival(pages.shape, pages.scale_s, age_s) * np.exp(-doubt)
    if pages.announced_share is None:
        return found
    return found / survival(pages.shape, pages.scale_s, pages.announced_share * age_s)  # given no announcement

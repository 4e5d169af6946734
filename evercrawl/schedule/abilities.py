"""What some policies can do besides ordering pages; whoever wants it asks `isinstance(policy, Learns)` and so on."""

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
    """Is told what comes of every visit: those of earlier runs first, from the journal."""

    counts_links: ClassVar[bool] = False
    """Whether it learns from what visits show of links and bytes: `received`, `size`, `links`, `relinked`, `found`.
    A replay, which would have to look them up, tells them only then."""

    learns_places: ClassVar[bool] = False
    """Whether it is told, of pages that were never read before, in which folder they are, and by which name."""

    @abstractmethod
    def learn(self, visits: Visits) -> None:
        """Take note of what came of visits, in order.

        No page is there twice in one call. How visits are parted into calls makes no difference to what is learned.
        """

    def wants_rescan(self, context: Context) -> bool:
        """Return whether so much was learned since it last said so that all pages are to be looked at again.

        By default never: pages fall due when they were said to.
        """
        return False

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all that was learned from visits, as arrays that may be kept on disk; by default nothing.

        A policy that keeps nothing is told of all visits again when the crawl goes on.
        """
        return {}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what `state` returned, in place of being told of those visits.

        Raises
        ------
        ValueError, KeyError
            It is not the state of this policy as it is now; then nothing was restored.
        """
        raise ValueError(f"{type(self).__name__} keeps no state")


class SavesRows(Learns):
    """Learns in rows that are saved block by block, at the cost of what changed."""

    @abstractmethod
    def saved_rows(self) -> dict[str, SavedRows]:
        """Return these rows by name: always the same, whatever is in them."""

    @abstractmethod
    def rest(self) -> dict[str, NDArray[Any]]:
        """Return what else was learned, as arrays that are small however much that is."""

    @abstractmethod
    def resume_rows(self, rest: dict[str, NDArray[Any]]) -> None:
        """Go on from what `rest` returned, once the rows are what they were then.

        Raises
        ------
        ValueError, KeyError
            It is not the state of this policy as it is now; then nothing was taken of it.
        """


class Plans(ABC):
    """Looks at all pages together from time to time."""

    keeps_notes: ClassVar[bool] = False
    """Whether its `notes` after a plan must hold though the crawl is killed: the journal keeps them then, before the
    first visit by each plan, and not only snapshots do. It `Resumes` then."""

    @abstractmethod
    def plan(self, pages: Pages, unread: int, context: Context) -> float:
        """Look at all pages together; return the instant at which it wants to do so again.

        Parameters
        ----------
        pages
            Every page that was visited and waits for its refresh.
        unread
            How many wait that were never visited.
        context
            What holds now.
        """


class Allocates(Plans):
    """Plans a rate of visits for every page."""

    @abstractmethod
    def rates(self, slots: Slots) -> Floats:
        """Return visits a second by the last plan, shape (n,)."""

    @property
    def at_random(self) -> bool:
        """Whether the visits of a page come at random moments, not evenly spaced."""
        return False


class Predicts(ABC):
    """Believes something of change that the posteriors of rates do not say."""

    @abstractmethod
    def fresh(self, pages: Pages, context: Context) -> Floats:
        """Return the probability that each copy is as its page is now, shape (n,); nan without a visit."""

    def trust(self, row: int) -> ClockTrust | None:
        """Return whether the clocks of a page's site are used, rather than time; None where it has none.

        `row` is the page's as in `Pages`.
        """
        return None


class Priced(Policy):
    """Visits what is worth a price per unit of the budget, which it learns from the visits that are made."""

    price: float
    """In importance times seconds per unit of the budget; nan before the first visit."""

    @abstractmethod
    def at_price(self, price: float) -> Self:
        """Return the same policy under another price; what was learned is shared."""


class Tunable(ABC):
    """Takes other values for its parameters while the crawl runs."""

    @abstractmethod
    def adjust(self, options: Mapping[str, float | str]) -> None:
        """Take other values for parameters of the constructor.

        Raises
        ------
        ConfigError
            Where one cannot be changed, or the value is none for it.
        """

    def ineffective_option(self, context: Context) -> str:
        """Return which parameter changes nothing in this crawl, and why, as a sentence; "" by default: all are used.

        It is reported when a run begins, and when a plan has made it so.
        """
        return ""


class Follows(ABC):
    """Takes note of the pages that are being visited."""

    @abstractmethod
    def chosen(self, values: Floats, context: Context, new: int = 0) -> None:
        """Take note of the values of the pages that are being visited.

        Pages that were put back, since something else had to come first, are not among them.

        Parameters
        ----------
        values
            As `value` gave them, shape (n,).
        context
            What held when they were chosen; `known` is as it is now.
        new
            How many of the pages were never visited before.
        """


class Resumes(ABC):
    """Goes on from a few numbers, which snapshots keep."""

    @abstractmethod
    def notes(self) -> dict[str, float]:
        """Return the numbers, which people who look at the crawl are shown too."""

    @abstractmethod
    def resume(self, notes: dict[str, float]) -> None:
        """Go on from the notes of an earlier run, of this policy or of another."""


class Assesses(ABC):
    """Answers all that a choice asks at once, and so more quickly."""

    @abstractmethod
    def assess(self, pages: Pages, context: Context, valued: int, due_from: int) -> Assessed:
        """Return the value of the first `valued` pages, and when those from `due_from` on fall due."""


class Places(ABC):
    """Has values that are places in an order, and no worth."""

    @abstractmethod
    def place(self, page: Pages, context: Context) -> str:
        """Return in words where the only page there is stands in the order."""


class Tabulates(ABC):
    """Keeps tables that people may look at."""

    @abstractmethod
    def tables(self, context: Context) -> dict[str, dict[str, NDArray[Any]]]:
        """Return the tables: name -> column -> values, all columns of one length.

        A column called `slot` names pages.
        """


class TableSize(NamedTuple):
    """What one table of a policy takes in memory: its name, of what it has rows ("page", "folder"), how many, bytes."""

    name: str
    of: str
    rows: int
    size_bytes: int


class Sizes(ABC):
    """Says what its tables take in memory."""

    @abstractmethod
    def table_sizes(self) -> tuple[TableSize, ...]:
        """Return them, in no time; -1 rows stand for all pages that were visited."""


class Assessed(NamedTuple):
    """What a policy says of the pages among which a choice is made.

    Attributes
    ----------
    values
        Of the first pages, as `Policy.value` has them.
    due
        Of the last pages, as `Policy.due` has them; some may be among the first as well.
    fresh
        Of the first pages, as `Predicts.fresh` has it; None where that is to be asked for what was chosen alone.
    """

    values: Floats
    due: Floats
    fresh: Floats | None = None


def price_of(policy: Policy) -> float:
    """Return what a unit of the budget is worth; nan where the policy has no price, or does not know it yet."""
    return policy.price if isinstance(policy, Priced) else math.nan


def notes_of(policy: Policy) -> dict[str, float]:
    """Return the numbers that a policy goes on from; none where it `Resumes` nothing."""
    return policy.notes() if isinstance(policy, Resumes) else {}


def assessed(policy: Policy, pages: Pages, context: Context, valued: int, due_from: int) -> Assessed:
    """Return the value of the first `valued` pages, and when those from `due_from` on fall due: all of a choice."""
    values = np.ascontiguousarray(policy.value(pages, context)[:valued], np.float64)
    if due_from == len(pages.slot):
        return Assessed(values, np.zeros(0))
    due = policy.due(pages.part(due_from, len(pages.slot)), context)
    return Assessed(values, np.ascontiguousarray(due, np.float64))


def p_fresh(policy: Policy, pages: Pages, context: Context) -> Floats:
    """Return the probability that each page's copy is as the page is now, shape (n,); nan without a visit.

    It is what the policy `Predicts`; else what the posterior of the page's rate, announcements and the rate at which
    pages vanish say.
    """
    if isinstance(policy, Predicts):
        return policy.fresh(pages, context)
    age_s = np.maximum(context.now - pages.visited_at, 0.0)
    doubt = pages.neg_log_unchanged + context.deaths_per_s * age_s
    found = survival(pages.shape, pages.scale_s, age_s) * np.exp(-doubt)
    if pages.announced_share is None:
        return found
    return found / survival(pages.shape, pages.scale_s, pages.announced_share * age_s)  # else announced

"""The interface of importance schemes: how one visit moves cash, and the importance that follows from cash and history.

A scheme only computes. It gets a page's account and links and returns amounts, and the caller moves the cash. The
virtual page gets everything that is not paid to a link, so a `Transfer` describes a visit completely.

Amounts are floats in a crawl. `visit` and `remove` work with any number type, so tests check the laws exactly with
fractions; that is why the code uses 0 where 0.0 would turn a fraction into a float.
"""

import sys
from abc import ABC, abstractmethod
from typing import ClassVar, Literal, NamedTuple

from evercrawl.types import Floats


class Past(NamedTuple):
    """The state that a window keeps for a page.

    Attributes
    ----------
    history
        The cash that still counts, in units in which `Window.now` divides by the window's length.
    mark
        The clock G at the last visit.
    kept
        Further numbers, as many as the window's `width`.
    """

    history: float
    mark: float
    kept: tuple[float, ...] = ()


class Account(NamedTuple):
    """The account of one page: cash, history and the clock at its last visit.

    Attributes
    ----------
    cash
        The cash that a visit would move now, including the page's share of the virtual page's cash: C of OPIC, the
        residual r of push.
    history
        H of OPIC (of the time window, if there is one), the value x of push.
    mark
        The clock G at the page's last visit; 0 before the first.
    kept
        Further numbers that the scheme keeps for a page, as many as its `width`; () or zeros before the first visit.
    born
        The clock G when the page became known; 0 if that was not recorded.
    put_in
        The part of the cash that was put in initially, C0, rather than given by links and the virtual page; it is
        moved like all cash, but is no evidence of importance.
    """

    cash: float
    history: float
    mark: float = 0
    kept: tuple[float, ...] = ()
    born: float = 0
    put_in: float = 0


class Links(NamedTuple):
    """Numbers of links of one page, as a scheme counts them.

    Attributes
    ----------
    internal, external
        Followed links to other known pages: of the same site, of other sites.
    out
        All distinct links to other pages, followed or not, known or not: the divisor; at least `internal + external`.
    through
        Whether the page only passes its cash on (a redirect, a copy): its one link, counted as external, gets all of
        it, untaxed.
    """

    internal: int = 0
    external: int = 0
    out: int = 0
    through: bool = False


class Transfer(NamedTuple):
    """The amounts that one visit moves.

    Attributes
    ----------
    moved
        Amount taken from the page's cash; may be negative.
    history, mark
        History and mark of the page after the visit.
    internal, external
        Paid to *each* link of that kind that the page has now.
    back_internal, back_external
        Taken back from *each* link of that kind that the page had before.
    kept
        Further numbers kept for the page after the visit.
    """

    moved: float
    history: float
    mark: float = 0
    internal: float = 0
    external: float = 0
    back_internal: float = 0
    back_external: float = 0
    kept: tuple[float, ...] = ()


class Importance(ABC):
    """A scheme that estimates the importance of each page, visit by visit.

    Parameters
    ----------
    tax
        tau: the part of a page's cash that goes to the virtual page rather than along its links.
    internal
        Weight of a link within a site; a link to another site has weight 1. The rest of an internal link's cash goes
        to the virtual page, not to the other links.
    convention
        `tax`, or `link`: each page has the virtual page as one more link, and nothing is taxed.
    """

    handout: ClassVar[bool] = False
    """Whether the virtual page spends its cash: equally on all sites, and within a site on its root and all pages read.
    Otherwise it keeps its cash, and each site has a constant source of 1, distributed in the same way."""

    settles: ClassVar[bool] = False
    """Whether a page may pass its cash on without a visit, which makes the estimates more accurate."""

    @property
    def width(self) -> int:
        """How many numbers the scheme keeps for a page beside history and mark."""
        return 0

    def __init__(self, tax: float = 0.15, internal: float = 1.0, convention: Literal["tax", "link"] = "tax") -> None:
        self.tax = tax
        self.internal = internal
        self.convention = convention

    @abstractmethod
    def visit(self, page: Account, held: Links | None, links: Links, total: float, *, same: bool) -> Transfer:
        """Return the amounts that a visit moves.

        Parameters
        ----------
        page
            The page's account before the visit.
        held
            Its links as known before the visit; None if it was never read.
        links
            Its links now.
        total
            The clock G before the visit: all cash moved so far, in units of all the cash there is.
        same
            Whether the links are identical to those held, so that nothing has to be taken back.
        """

    @abstractmethod
    def remove(self, page: Account, held: Links | None, total: float) -> Transfer:
        """Return the transfer that ends a page: its cash goes to the virtual page, and what it gave is taken back."""

    def unite(self, page: Account, target: Account, total: float) -> tuple[Past, Past]:
        """Return the pasts of an alias and of its target, just before the visit that finds the alias.

        Parameters
        ----------
        page, target
            Accounts of the alias and of its target, with their cash; the visit moves the alias's cash to the target.
        total
            The clock G before the visit.
        """
        return _past(page), _past(target)

    @abstractmethod
    def importance(
        self,
        cash: Floats,
        history: Floats,
        mark: Floats,
        total: float,
        kept: Floats | None = None,
        born: Floats | None = None,
        guess: float | None = None,
    ) -> Floats:
        """Return the importance of pages, shape (n,), not negative, up to one common factor.

        Parameters
        ----------
        cash, history, mark
            Columns of `Account`, shape (n,); unread pages have neither history nor mark.
        total
            The clock G.
        kept
            Further numbers kept for each page, shape (n, width); None if there are none.
        born
            The clock G when each page became known, shape (n,); 0, or None for all, if that was not recorded.
        guess
            The prior importance of new pages (`evercrawl.importance.newcomers`), for schemes that use one; with None
            each page is estimated from its own cash only.
        """

    def shares(
        self,
        cash: Floats,
        history: Floats,
        mark: Floats,
        total: float,
        kept: Floats | None = None,
        born: Floats | None = None,
        guess: float | None = None,
    ) -> Floats:
        """Return the importance of all pages as shares of 1, shape (n,); arguments as in `importance`.

        A scheme that combines several estimates may do this better than by dividing `importance` by its sum.
        """
        found = self.importance(cash, history, mark, total, kept, born, guess)
        shares: Floats = found / max(float(found.sum()), sys.float_info.min)
        return shares

    def each(self, value: float, links: Links) -> tuple[float, float]:
        """Return the part of `value` for each internal and each external link; the virtual page gets the rest."""
        if links.through:
            return 0 * value, value
        if not links.out:
            return 0 * value, 0 * value
        share = value / (links.out + 1) if self.convention == "link" else (1 - self.tax) * value / links.out
        return share * self.internal, share


def _past(page: Account) -> Past:
    return Past(page.history, page.mark, page.kept)

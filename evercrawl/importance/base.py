"""What every importance scheme promises: how one visit moves cash, and what importance follows from cash and history.

A scheme is judgement only. It is told what a page has and where it links, and answers with amounts; whoever asks moves
them. The virtual page gets whatever is not paid to a link, so the amounts of a `Transfer` say all there is to say.

Amounts are floats in a crawl. `visit` and `remove` work with any number, so with fractions the laws can be checked
exactly; that is why a plain 0 stands where 0.0 would turn a fraction into a float.
"""

import sys
from abc import ABC, abstractmethod
from typing import ClassVar, Literal, NamedTuple

from evercrawl.types import Floats


class Past(NamedTuple):
    """What a window keeps of a page.

    Attributes
    ----------
    history
        The cash that still counts, in units in which `Window.now` divides by the window's length.
    mark
        The clock G at the last visit.
    kept
        Whatever else, as many numbers as the window's `width`.
    """

    history: float
    mark: float
    kept: tuple[float, ...] = ()


class Account(NamedTuple):
    """What one page has.

    Attributes
    ----------
    cash
        What a visit would move now: C of OPIC, the residual r of push; its share of the virtual page's cash included.
    history
        H of OPIC (of the time window, where there is one), the value x of push.
    mark
        The clock G at the page's last visit; 0 before the first.
    kept
        Whatever else the scheme keeps of a page, as many numbers as its `width`; () or zeros before the first visit.
    born
        The clock G when the page became known; 0 where nobody noted it.
    put_in
        What of the cash was put in from outside at the start, C0, rather than given by links and virtual page; it is
        moved like all cash, but says nothing of the page.
    """

    cash: float
    history: float
    mark: float = 0
    kept: tuple[float, ...] = ()
    born: float = 0
    put_in: float = 0


class Links(NamedTuple):
    """Where one page links, as importance sees it.

    Attributes
    ----------
    internal, external
        Followed links to other known pages: of the same site, of other sites.
    out
        All distinct links to other pages, followed or not, known or not: the divisor; at least `internal + external`.
    through
        The page only passes on what it gets (a redirect, a copy): its one link, counted as external, gets all of it,
        untaxed.
    """

    internal: int = 0
    external: int = 0
    out: int = 0
    through: bool = False


class Transfer(NamedTuple):
    """What one visit moves.

    Attributes
    ----------
    moved
        Taken from the page's cash; may be negative.
    history, mark
        The page's, after the visit.
    internal, external
        Paid to *each* link of that kind that the page has now.
    back_internal, back_external
        Taken back from *each* link of that kind that the page had before.
    kept
        What else is kept of the page, after the visit.
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
    """A way to tell, visit by visit, how much each page matters.

    Parameters
    ----------
    tax
        tau: the part of a page's cash that goes to the virtual page rather than along its links.
    internal
        Weight of a link within a site; a link to another site has weight 1. What a weight below 1 holds back goes to
        the virtual page, and is not given to the other links instead.
    convention
        `tax`, or `link`: each page has the virtual page as one more link, and nothing is taxed.
    """

    handout: ClassVar[bool] = False
    """Whether the virtual page spends what it gets: equally on all sites, and within a site on all pages read and its
    root. Otherwise it keeps it, and each site has a constant source of 1, spread in the same way."""

    settles: ClassVar[bool] = False
    """Whether a page may pass its cash on without being visited, and importance is the truer for it."""

    @property
    def width(self) -> int:
        """How many numbers it keeps of a page beside history and mark."""
        return 0

    def __init__(self, tax: float = 0.15, internal: float = 1.0, convention: Literal["tax", "link"] = "tax") -> None:
        self.tax = tax
        self.internal = internal
        self.convention = convention

    @abstractmethod
    def visit(self, page: Account, held: Links | None, links: Links, total: float, *, same: bool) -> Transfer:
        """Return what a visit moves.

        Parameters
        ----------
        page
            Before the visit.
        held
            Its links as they were known before; None where it was never read.
        links
            Its links now.
        total
            The clock G before the visit: all cash moved so far, in units of all the cash there is.
        same
            Whether the links are the very ones held, so that nothing has to be taken back.
        """

    @abstractmethod
    def remove(self, page: Account, held: Links | None, total: float) -> Transfer:
        """Return what the end of a page moves: its cash goes to the virtual page, what it had given is taken back."""

    def unite(self, page: Account, target: Account, total: float) -> tuple[Past, Past]:
        """Return what is kept of a page, and of the one that it turns out to lead to, before the visit that tells so.

        Parameters
        ----------
        page, target
            With the cash that waits; that of the page goes to the target with the visit.
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
            Of each page, shape (n,), as in `Account`; pages never read have neither history nor mark.
        total
            The clock G.
        kept
            What else is kept of each page, shape (n, width); None where that is nothing.
        born
            The clock G when each page became known, shape (n,); 0, or None for all, where nobody noted it.
        guess
            What newcomers are thought to be worth (`evercrawl.importance.newcomers`), for schemes that have to be told;
            None: each page is judged by itself.
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
        """Return the importance of all pages that there are as shares of 1, shape (n,); arguments as of `importance`.

        Where a scheme has more than one opinion this may be nearer to the truth than `importance` divided by its sum.
        """
        found = self.importance(cash, history, mark, total, kept, born, guess)
        shares: Floats = found / max(float(found.sum()), sys.float_info.min)
        return shares

    def each(self, value: float, links: Links) -> tuple[float, float]:
        """Return what of `value` goes to each internal and to each external link; the virtual page gets the rest."""
        if links.through:
            return 0 * value, value
        if not links.out:
            return 0 * value, 0 * value
        share = value / (links.out + 1) if self.convention == "link" else (1 - self.tax) * value / links.out
        return share * self.internal, share


def _past(page: Account) -> Past:
    return Past(page.history, page.mark, page.kept)

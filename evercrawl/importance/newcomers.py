"""What newcomers are thought to be worth before they have shown it: the part of a young page's window that is missing.

A page that became known while its window was already open has been there for w of T only. Judged by h/w, it is worth
what a few instants brought it, which may be anything; judged by h/T, what it was not there for counts against it. With
a guess p at what pages like it are worth, its importance is (h + (T - w) p) / T, and p matters the less the longer the
page is known. A page that was never read is the same with all of its cash waiting: it too is worth what came, spread
over its time, and p for the rest.

Each way to make the guess is a plain function; `Rule` names it, as the setting does. The trap is survivorship: a page's
cash at its first visit says what a page earned that was *chosen* for a visit, for its cash. The mean over first visits
is 5 to 16 times too high, while the pages that were not chosen, most of them, are not in it. So nothing here asks what
newcomers had when they were visited: `pooled` asks those that were never visited, all of them.

Under push there is nothing to guess: a page that was never read has what its links bring.

References
----------
Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 4, on new pages.
"""

from typing import Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from evercrawl.types import Floats

Rule: TypeAlias = Literal["pooled", "paper", "floor"]
RULES: Final[tuple[Rule, ...]] = get_args(Rule)


class Newcomers(NamedTuple):
    """What is known of pages that nobody has read, and of those introduced lately.

    Attributes
    ----------
    cash
        Of all pages never read together, without what was put in, in units of all the cash there is.
    ages
        The sum of the G-times since they became known.
    introduced
        The mean importance, as a share of all, of the pages that became known within the last window.
    pages
        How many pages there are, n.
    """

    cash: float = 0.0
    ages: float = 0.0
    introduced: float = 0.0
    pages: int = 1


def guess(rule: Rule, known: Newcomers, tax: float = 0.15) -> float:
    """Return p, what a newcomer is thought to be worth, as a share of all cash a unit of G.

    Examples
    --------
    Three rules for a web of 1,000 pages, 100 of which were never read and are 2 units of G old, with 0.01 of the cash:

    >>> known = Newcomers(cash=0.01, ages=200.0, introduced=0.0004, pages=1000)
    >>> [round(guess(rule, known), 6) for rule in RULES]
    [5e-05, 0.0004, 0.00015]
    """
    if rule == "pooled":
        return pooled(known.cash, known.ages)
    if rule == "paper":
        return known.introduced
    return floor(tax, known.pages)


def pooled(cash: float, ages: float) -> float:
    """Return the rate at which pages earn that were never read: their cash over their ages, both summed; 0 for none.

    The two sums are O(1) to keep up: `ages` is the number of such pages times G, less the sum of their births.

    >>> pooled(0.01, 200.0), pooled(0.0, 0.0)
    (5e-05, 0.0)
    """
    return cash / ages if ages > 0 else 0.0


def introduced(importance: Floats, born: Floats, total: float, length: float) -> float:
    """Return the mean importance of the pages that became known within the last `length` of G-time, 0 for none.

    Parameters
    ----------
    importance, born
        Of pages, and the clock when they became known, shape (n,).
    total, length
        The clock G, and T.

    Examples
    --------
    >>> introduced(np.array([0.5, 0.125, 0.375]), np.array([1.0, 7.0, 8.0]), 9.0, 4.0)
    0.25
    """
    lately = importance[born >= total - length]
    return float(lately.mean()) if len(lately) else 0.0


def floor(tax: float, pages: int) -> float:
    """Return tau/n: what a page gets from the virtual page alone, to which no links lead.

    Where important pages are found first, as in webs that grow by steep power laws, the truth is near to this.

    >>> floor(0.15, 1000)
    0.00015
    """
    return tax / pages


def first_history(recent: Floats, length: float) -> float:
    """Return the history that a new page is given in the paper: T times the mean importance of those before it.

    Its cash is 0; estimates are made to sum to 1 again afterwards.

    >>> first_history(np.array([0.01, 0.02, 0.03]), 4.0)
    0.08
    """
    return length * float(np.mean(recent)) if len(recent) else 0.0

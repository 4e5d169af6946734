"""Prior importance of new pages, for the part of their window in which they were not yet known.

A page that became known after its window began was known for only w of T. The estimate h/w rests on a short time and is
noisy; the estimate h/T counts the missing time as if nothing had come. With a prior p, the importance of pages like it,
the estimate is (h + (T - w) p) / T, and p matters less the longer the page is known. An unread page is treated alike,
with all of its cash still waiting: its cash, spread over its time, and p for the rest.

Each way to estimate the prior is a plain function; `Rule` names it, as the setting does. The trap is survivorship bias:
pages are *chosen* for their first visit because of their cash, so the mean cash at first visits is 5 to 16 times too
high, and most pages, which were not chosen, are not in it. So no function uses the cash of newcomers at their visit:
`pooled` uses all pages that were never visited.

Under push there is no prior: an unread page has what its links bring.

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
    """Totals over unread pages, and the mean importance of pages introduced recently.

    Attributes
    ----------
    cash
        Total cash of all unread pages, without initial cash, as a share of all cash.
    ages
        The sum of their ages in G-time.
    introduced
        The mean importance, as a share of all importance, of the pages that became known within the last window.
    pages
        Number of pages, n.
    """

    cash: float = 0.0
    ages: float = 0.0
    introduced: float = 0.0
    pages: int = 1


def guess(rule: Rule, known: Newcomers, tax: float = 0.15) -> float:
    """Return p, the prior importance of a new page, as a share of all cash per unit of G.

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
    """Return the rate at which unread pages earn cash: total cash over total age; 0 if there are none.

    Both sums can be updated in O(1): `ages` is the number of such pages times G, less the sum of their births.

    >>> pooled(0.01, 200.0), pooled(0.0, 0.0)
    (5e-05, 0.0)
    """
    return cash / ages if ages > 0 else 0.0


def introduced(importance: Floats, born: Floats, total: float, length: float) -> float:
    """Return the mean importance of the pages that became known within the last `length` of G-time, 0 for none.

    Parameters
    ----------
    importance, born
        Importance of the pages, and the clock G when each became known, shape (n,).
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
    """Return tau/n: what a page without links to it gets from the virtual page.

    Where important pages are found first, as in webs with steep power laws, new pages are worth about this.

    >>> floor(0.15, 1000)
    0.00015
    """
    return tax / pages


def first_history(recent: Floats, length: float) -> float:
    """Return the initial history of a new page in the paper: T times the mean importance of the pages before it.

    Its cash is 0; estimates are normalised to sum to 1 afterwards.

    >>> first_history(np.array([0.01, 0.02, 0.03]), 4.0)
    0.08
    """
    return length * float(np.mean(recent)) if len(recent) else 0.0

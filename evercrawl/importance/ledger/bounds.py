"""Bounds on the error of importance, from a ledger's own accounts, and repair of damaged residuals.

If each page gives at least the part tau of its cash to the virtual page, an error loses that part whenever it is passed
on. So a difference d between a vector and the result of one step from it means an error of at most |d| / tau, and d is
in the accounts: it is the residuals of push, or the cash of OPIC.

Under push, residuals can be recomputed from the stored links, whatever was lost: any values x lead to the same
importance, provided that the residuals are r = source + xM - x. So a damaged residual is recomputed, and a damaged
value is harmless afterwards. Cash that OPIC has lost cannot be restored.
`residuals.residual` does the same for the columns of a graph.
"""

from collections.abc import Hashable
from math import inf

import numpy as np

from evercrawl.importance.ledger.ledger import Ledger
from evercrawl.types import Floats


def repair(ledger: Ledger) -> dict[Hashable, float]:
    """Recompute all residuals of a ledger, and the cash of its virtual page, from its links.

    The journal does not change: if it is intact, folding it is the other way to repair a ledger.

    Returns
    -------
    the error of each residual that was wrong: how much too large it was

    Examples
    --------
    >>> from evercrawl.importance import Ledger, Push
    >>> ledger = Ledger(Push(tax=0.5))
    >>> ledger.add("a"), ledger.visit("a", ["b"])
    (None, None)
    >>> ledger.pages["b"].key += 7
    >>> ledger.owed(), repair(ledger), ledger.owed()
    (7.0, {'b': 7.0}, 0.0)
    """
    assert not ledger.scheme.handout, "cash that was lost is in no link; only residuals can be worked out"
    off: dict[Hashable, float] = {}
    brought = ledger.inflow()
    for name, page in ledger.pages.items():
        true = page.weight + page.put_in + brought[name] - page.history
        if page.key != true:
            off[name], page.key = page.key - true, true
            ledger.cells.tell(name)
    ledger.cells.virtual = sum(page.history for page in ledger.pages.values()) - sum(brought.values())
    return off


def certificate(ledger: Ledger, tax: float | None = None) -> float:
    """Return a bound on the sum of |errors|, computed from the accounts alone.

    Under push it bounds the values x: |x - x*| <= sum|r| / tau, in units of the sources; the error of x + r is smaller
    by the factor 1 - tau. If the virtual page spends, it bounds the shares by `history`: |X - x| <= |C - C0| / (tau G),
    as long as no link has changed and no page has ended; cash of the virtual page counts as handed out. Aliases are
    left out.

    Parameters
    ----------
    ledger
        The bound holds for the web of the links that the ledger knows.
    tax
        tau of all pages, including unread ones, if it is known: the bound then holds for the whole web.

    Examples
    --------
    Two pages that link to each other have 1 each after many pushes; after one, the bound equals the missing amount:

    >>> from evercrawl.importance import Ledger, Push
    >>> ledger = Ledger(Push(tax=0.5))
    >>> ledger.add("a", 0.5), ledger.add("b", 0.5)
    (None, None)
    >>> ledger.visit("a", ["b"]), ledger.visit("b", ["a"])
    (None, None)
    >>> ledger.pages["a"].history, ledger.pages["b"].history, certificate(ledger)
    (0.5, 0.75, 0.75)

    References
    ----------
    Andersen, Chung, Lang (2006). Local graph partitioning using PageRank vectors. Abiteboul, Preda, Cobena (2003),
    section 3: it has 1/G, which is right for the largest |difference|; their sum can be twice that.
    """
    spends = ledger.scheme.handout
    waiting = ledger.virtual / ledger.cells.weights if spends and ledger.virtual else 0
    pages = ledger.pages.values()
    difference = sum(abs(page.cash + spends * (waiting * page.weight - page.put_in)) for page in pages)
    moved = sum(page.history for page in pages if not page.leads_on) if spends else 1
    return _over(difference, (least_tax(ledger) if tax is None else tax) * moved)


def error_bound(ledger: Ledger, found: dict[Hashable, float]) -> float:
    """Return a bound on the sum of |errors| of given shares of importance, computed from the known links.

    It holds for any shares, whatever their origin: |XP - X| / tau, where P is the matrix of the links last read, with
    the rest handed out by weight. Its cost is proportional to the number of links.

    Parameters
    ----------
    ledger
        A ledger, of which only links and weights are used.
    found
        Shares of all pages that are not aliases, summing to 1.

    Examples
    --------
    >>> from evercrawl.importance import Ledger, Push
    >>> ledger = Ledger(Push(tax=0.5))
    >>> ledger.add("a"), ledger.visit("a", ["b"]), ledger.visit("b", ["a"])
    (None, None, None)
    >>> error_bound(ledger, {"a": 0.5, "b": 0.5})
    1.0
    >>> round(error_bound(ledger, {"a": 2 / 3, "b": 1 / 3}), 9)
    0.0
    """
    assert all(name in found for name, page in ledger.pages.items() if not page.leads_on), "each page has a share"
    stepped = _stepped(ledger, found)
    return _over(sum(abs(stepped[name] - found[name]) for name in found), least_tax(ledger))


def residual_bound(residual: Floats, tax: float) -> float:
    """Return the bound of push, sum|r| / tau, from the residuals of pages, shape (n,), in units of the sources.

    >>> residual_bound(np.array([0.25, -0.5]), tax=0.5)
    1.5
    """
    return float(np.abs(residual).sum()) / tax


def least_tax(ledger: Ledger) -> float:
    """Return tau: the least part of its cash that any page read gives to the virtual page; 1 if no page was read.

    If the virtual page is one more link, this is 1 / (out + 1) of the page with the most links, and bounds are wide.
    """
    read = (page for page in ledger.pages.values() if page.held is not None and not page.leads_on)
    least = min((1 - sum(amount for _, amount in ledger.given(page, 1)) for page in read), default=1)
    return max(least, 0)  # rounding may make a sum of floats slightly too large


def _over(difference: float, divisor: float) -> float:
    return difference / divisor if divisor else (inf if difference else 0)


def _stepped(ledger: Ledger, found: dict[Hashable, float]) -> dict[Hashable, float]:
    """Return the shares after one step: along the links, through aliases, and back from the virtual page."""
    aliases = [name for name, page in ledger.pages.items() if page.leads_on]
    stepped: dict[Hashable, float] = dict.fromkeys(ledger.pages, 0)
    moving: dict[Hashable, float] = dict.fromkeys(ledger.pages, 0) | found
    for _ in range(len(aliases) + 1):
        brought = ledger.passed_on(moving)
        moving = dict.fromkeys(ledger.pages, 0) | {name: brought[name] for name in aliases}
        stepped = {name: stepped[name] + brought[name] for name in ledger.pages if name not in moving or name in found}
        stepped |= dict.fromkeys(aliases, 0)
        if not any(moving.values()):
            break
    assert not any(moving.values()), "aliases that lead in a ring keep what they get"
    sources = {name: page.weight + (0 if ledger.scheme.handout else page.put_in) for name, page in ledger.pages.items()}
    kept, whole = sum(found.values()) - sum(stepped.values()), sum(sources.values())
    return {name: stepped[name] + kept * sources[name] / whole for name in found}

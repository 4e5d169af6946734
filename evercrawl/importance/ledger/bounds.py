"""How far off importance can be, at most: what a ledger can say of its own error without knowing the truth.

Where each page gives at least the part tau of its cash to the virtual page, what is wrong loses that part whenever it
is moved on. So a difference d between a vector and what one step makes of it means an error of at most |d| / tau, and d
is in the books: the residuals of push, the cash of OPIC.

Residuals recomputed from stored links: push can be put right, whatever was lost.

Any values x whatever lead to the same importance, if only the residuals are r = source + xM - x. So a damaged residual
is worked out anew, and a damaged value is harmless once that has been done. Cash that OPIC has lost is lost.
`residuals.residual` does the same for the columns of a graph.
"""

from collections.abc import Hashable
from math import inf

import numpy as np

from evercrawl.importance.ledger.ledger import Ledger
from evercrawl.types import Floats


def repair(ledger: Ledger) -> dict[Hashable, float]:
    """Work out all residuals of a ledger anew from its links, and what its virtual page keeps.

    The journal stays as it is: where that is whole, folding it is the other way to put a ledger right.

    Returns
    -------
    by how much each page's residual was too large, where it was

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
    """Return a bound on the sum of |errors|, worked out from the accounts alone.

    Under push: of the values x, |x - x*| <= sum|r| / tau, in units of the sources; x + r is nearer by 1 - tau. Where
    the virtual page spends: of the shares by `history`, |X - x| <= |C - C0| / (tau G), as long as no link has changed
    and no page has ended; what the virtual page holds counts as handed out. Aliases are left out, being no pages.

    Parameters
    ----------
    ledger
        What it says holds of the web of the links that it knows.
    tax
        tau, where that of the pages not read yet is known too: what it says holds of the whole web then.

    Examples
    --------
    Two pages with links to each other have 1 each after many pushes; after one the bound is just what is missing:

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
    """Return a bound on the sum of |errors| of some shares of importance, worked out from the known links.

    It holds for any shares, wherever they come from and whatever has happened: |XP - X| / tau, P being the links last
    read, and what they leave handed out by weight. It costs as much as there are links.

    Parameters
    ----------
    ledger
        Its links count, and its weights.
    found
        A share of each page that is no alias, summing to 1.

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
    """Return tau: the least part of its cash that a page which was read gives to the virtual page; 1 if there is none.

    Where the virtual page is one more link this is 1 / (out + 1) of the page with the most links, and bounds are wide.
    """
    read = (page for page in ledger.pages.values() if page.held is not None and not page.leads_on)
    least = min((1 - sum(amount for _, amount in ledger.given(page, 1)) for page in read), default=1)
    return max(least, 0)  # sums of floats may come to a little more than they should


def _over(difference: float, divisor: float) -> float:
    return difference / divisor if divisor else (inf if difference else 0)


def _stepped(ledger: Ledger, found: dict[Hashable, float]) -> dict[Hashable, float]:
    """Return what one step makes of shares: along the links, through aliases, and back from the virtual page."""
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

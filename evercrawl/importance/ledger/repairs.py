"""Residuals recomputed from stored links: push can be put right, whatever was lost.

Any values x whatever lead to the same importance, if only the residuals are r = source + xM - x. So a damaged residual
is worked out anew, and a damaged value is harmless once that has been done. Cash that OPIC has lost is lost.
`residuals.residual` does the same for the columns of a graph.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evercrawl.importance.ledger.ledger import Ledger


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

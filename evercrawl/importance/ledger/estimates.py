"""Importance of a ledger's pages, by the estimators of the literature."""

from collections.abc import Hashable
from typing import Literal, TypeAlias

import numpy as np

from evercrawl.importance.aopic import AOPIC
from evercrawl.importance.ledger.ledger import Ledger
from evercrawl.importance.ledger.network import NetworkPage
from evercrawl.importance.newcomers import Newcomers, Rule, introduced
from evercrawl.importance.newcomers import guess as guess_of

Estimate: TypeAlias = Literal["history", "paper", "identity", "scheme"]


def shares(
    ledger: Ledger,
    estimate: Literal["history", "paper", "identity", "scheme"] = "scheme",
    newcomers: Rule | None = None,
) -> dict[Hashable, float]:
    """Return the importance of each page as a share of 1; aliases are left out, and pages that have ended get 0.

    Parameters
    ----------
    ledger
        A ledger after at least one visit.
    estimate
        `history`: H. `paper`: H + C, initial cash included. `identity`: H + C - C0, which for links that do not change
        is one power step ahead of H, by the lemma H + C = C0 + sum M H. `scheme`: the scheme's own estimate, in floats.
        The first three use all the cash that a page ever moved, whatever the scheme's window.
    newcomers
        Rule by which a scheme with windows estimates the prior of new pages, for the part of the window in which they
        were not known (see `newcomers`); None estimates each page from its own cash only.

    Examples
    --------
    >>> from evercrawl.importance.aopic import AOPIC
    >>> from evercrawl.importance.ledger.ledger import Ledger
    >>> ledger = Ledger(AOPIC(tax=0.5))
    >>> ledger.add("a", cash=0.5), ledger.add("b", cash=0.5)
    (None, None)
    >>> ledger.visit("a", ["b"])
    >>> shares(ledger, "paper"), shares(ledger, "identity")
    ({'a': 0.4166667, 'b': 0.5833333}, {'a': 0.25, 'b': 0.75})

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 3.
    """
    assert estimate in ("history", "paper", "identity", "scheme"), f"there is no estimate called {estimate!r}"
    found = {name: _worth(page, estimate) for name, page in ledger.pages.items() if not page.leads_on}
    if estimate == "scheme":
        found = dict(zip(found, _of_scheme(ledger, [ledger.pages[name] for name in found], newcomers), strict=True))
    found |= dict.fromkeys((name for name in found if ledger.pages[name].ended), 0)
    whole = sum(found.values())
    assert whole, "nothing is known before the first visit"
    return {name: worth / whole for name, worth in found.items()}


def _worth(page: NetworkPage, estimate: str) -> float:
    if estimate == "history":
        return page.history
    return page.history + page.cash - (page.put_in if estimate == "identity" else 0)


def _of_scheme(ledger: Ledger, pages: list[NetworkPage], rule: Rule | None) -> list[float]:
    scheme, total = ledger.scheme, float(ledger.total)
    columns = np.array([(page.cash, *page.past[:2], page.born) for page in pages], np.float64)
    cash, history, mark, born = columns.reshape(-1, 4).T
    kept = np.zeros((len(pages), scheme.width))
    for row, page in zip(kept, pages, strict=True):
        row[: len(page.past.kept)] = page.past.kept
    guess = None
    if rule is not None and isinstance(scheme, AOPIC):
        alone = scheme.shares(cash, history, mark, total, kept, born)
        unread = [page for page in pages if not page.mark]
        known = Newcomers(
            float(sum(page.cash - page.unmoved for page in unread)),
            float(sum(total - page.born for page in unread)),
            introduced(alone, born, total, scheme.window.length),
            len(pages),
        )
        guess = guess_of(rule, known, float(scheme.tax))
    found: list[float] = scheme.shares(cash, history, mark, total, kept, born, guess).tolist()
    return found

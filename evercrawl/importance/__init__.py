"""Page importance, learned visit by visit from the links of fetched pages.

A scheme decides what a visit moves: `AOPIC` with its windows, or `Push`. A `Ledger` holds pages and cash in memory. A
`Matrix` divides a page's cash among its links, an `Order` chooses the next page, and `shares` returns the importance.
`certificate` and `error_bound` bound its error, and `repair` recomputes damaged residuals. `offline` computes
importance from all links at once.
"""

from evercrawl.importance.aopic import AOPIC
from evercrawl.importance.base import Account, Importance, Links, Transfer
from evercrawl.importance.ledger.bounds import certificate, error_bound, repair
from evercrawl.importance.ledger.estimates import shares
from evercrawl.importance.ledger.kleinberg import Kleinberg
from evercrawl.importance.ledger.ledger import Ledger
from evercrawl.importance.ledger.matrices import Google, Internal, Lazy, Matrix, MatrixRow, Weighted
from evercrawl.importance.ledger.orders import CycleOrder, GreedyOrder, Order, RandomOrder
from evercrawl.importance.ledger.shards import Shard
from evercrawl.importance.push import Push
from evercrawl.importance.uniform import Uniform
from evercrawl.importance.windows import (
    Exponential,
    Fixed,
    Improved,
    Interpolation,
    TwoWindows,
    Unbounded,
    Variable,
    Window,
)

__all__ = [
    "AOPIC",
    "Account",
    "CycleOrder",
    "Exponential",
    "Fixed",
    "Google",
    "GreedyOrder",
    "Importance",
    "Improved",
    "Internal",
    "Interpolation",
    "Kleinberg",
    "Lazy",
    "Ledger",
    "Links",
    "Matrix",
    "MatrixRow",
    "Order",
    "Push",
    "RandomOrder",
    "Shard",
    "Transfer",
    "TwoWindows",
    "Unbounded",
    "Uniform",
    "Variable",
    "Weighted",
    "Window",
    "certificate",
    "error_bound",
    "repair",
    "shares",
]

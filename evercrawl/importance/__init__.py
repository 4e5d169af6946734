"""How much a page matters, learned from the links of the pages that are fetched."""

from evercrawl.importance.aopic import AOPIC
from evercrawl.importance.base import Account, Importance, Links, Transfer
from evercrawl.importance.estimates import shares
from evercrawl.importance.ledger import Ledger
from evercrawl.importance.matrices import Google, Internal, Lazy, Matrix, Row, Weighted
from evercrawl.importance.orders import Cycle, Greedy, Order, Random
from evercrawl.importance.push import Push
from evercrawl.importance.uniform import Uniform
from evercrawl.importance.windows import Window
from evercrawl.importance.windows.interpolation import Interpolation
from evercrawl.importance.windows.unbounded import Unbounded

__all__ = [
    "AOPIC",
    "Account",
    "Cycle",
    "Google",
    "Greedy",
    "Importance",
    "Internal",
    "Interpolation",
    "Lazy",
    "Ledger",
    "Links",
    "Matrix",
    "Order",
    "Push",
    "Random",
    "Row",
    "Transfer",
    "Unbounded",
    "Uniform",
    "Weighted",
    "Window",
    "shares",
]

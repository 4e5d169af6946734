"""Windows of Adaptive OPIC: the part of a page's history that still counts; one window per file."""

from evercrawl.importance.base import Past
from evercrawl.importance.windows._elastic import Elastic
from evercrawl.importance.windows.base import FEWEST, TURN, Pasts, Window
from evercrawl.importance.windows.exponential import Exponential
from evercrawl.importance.windows.fixed import Fixed
from evercrawl.importance.windows.improved import Improved
from evercrawl.importance.windows.interpolation import Interpolation
from evercrawl.importance.windows.two_windows import TwoWindows
from evercrawl.importance.windows.unbounded import Unbounded
from evercrawl.importance.windows.variable import Variable

__all__ = [
    "FEWEST",
    "TURN",
    "Elastic",
    "Exponential",
    "Fixed",
    "Improved",
    "Interpolation",
    "Past",
    "Pasts",
    "TwoWindows",
    "Unbounded",
    "Variable",
    "Window",
]

"""State of the solver: values x and residuals r = source + xM - x, which shrink with every sweep."""

from typing import Final, NamedTuple

import numpy as np

from evercrawl.importance.offline.graph import Graph
from evercrawl.kernels import Library, pointer
from evercrawl.types import Floats

_KERNELS: Final = Library("evercrawl.importance._push_kernel")
_SMALL: Final = 0.5  # residuals below this part of the mean wait for a later sweep
_SWEEPS: Final = 100_000
_PATIENCE: Final = 3  # sweeps in which residuals may grow before sweeping goes on without withdrawing
_STEADY: Final = 0.02  # greatest difference of the ratios of two sweeps that one mode of the graph dominates
_QUICK: Final = 0.5  # a ratio that needs no acceleration


class ResidualState(NamedTuple):
    """Values, residuals, and the remaining part of the source."""

    x: Floats
    r: Floats
    left: float


class Residuals:
    """x and r of a graph, from one sweep to the next.

    Parameters
    ----------
    graph, source, each
        As in `solver.solved`; shape (n,).
    start
        Initial x, shape (n,); by default 0.

    Attributes
    ----------
    x, r
        Values and residuals, shape (n,).
    size
        The sum of |r|.
    sweeps
        Number of sweeps so far.
    """

    def __init__(self, graph: Graph, source: Floats, each: Floats, start: Floats | None = None) -> None:
        self._graph = graph
        self._source, self._each = (np.ascontiguousarray(numbers, np.float64) for numbers in (source, each))
        self._whole = float(self._source.sum())
        self.x = np.zeros(graph.pages) if start is None else np.array(start, np.float64)
        self.r = np.zeros(graph.pages)
        self._left = 1.0
        self.size = 0.0
        self.sweeps = 0

    def renew(self) -> float:
        """Recompute r from the links, which removes rounding errors; return the sum of |r|."""
        self.r = residual(self._graph, self._source, self._each, self.x)
        self._withdraw(0.0)
        return self.size

    def push(self, parts: float) -> None:
        """Sweep until the sum of |r| is at most `parts` of the sum of x.

        Two steps save most of the sweeps. After each sweep, so much of the source is withdrawn that the residuals sum
        to 0 and cancel; that only scales the solution. (Under greedy order it would stall.) And once two sweeps have
        left the same part of the residuals, those of pages that hardly link to others remain, and the geometric series
        of the following changes is added at once.
        """
        patience, paces = _PATIENCE, [0.0, 1.0]
        for _ in range(_SWEEPS):
            before = ResidualState(self.x.copy(), self.r.copy(), self._left) if _steady(paces) else None
            size = self.size
            self._sweep()
            self._withdraw(self._excess() if patience else 0.0)
            patience -= bool(patience) and self.size >= size
            if self.size <= parts * self.x.sum():
                break
            paces = [paces[-1], self.size / size]
            if before is not None:
                self._carry_on(before, paces)
                paces = [0.0, 1.0]
        self.x /= self._left
        self._left = 1.0

    def _sweep(self) -> None:
        self.sweeps += 1
        least = _SMALL * self.size / self._graph.pages
        columns = pointer(self._each), least, pointer(self.x), pointer(self.r)
        _KERNELS["push"](*self._graph.columns(), *columns)

    def _excess(self) -> float:
        """Return the part of the source whose withdrawal makes the residuals sum to 0; 0 if there is not enough."""
        part = float(self.r.sum()) / self._whole if self._whole else 0.0
        return part if part < self._left else 0.0

    def _withdraw(self, part: float) -> None:
        self._left -= part
        self.size = _KERNELS["withdraw"](pointer(self.r), pointer(self._source), self._graph.pages, part)

    def _carry_on(self, before: ResidualState, paces: list[float]) -> None:
        """Add the geometric series of which the last sweep's change is a term, if that reduces the residuals."""
        pace = paces[-1]
        if _steady(paces):
            times = pace / (1 - pace)
            left = self._left + times * (self._left - before.left)
            r = self.r + times * (self.r - before.r)
            size = float(np.abs(r).sum())
            if size < self.size and left > 0:
                self.x += times * (self.x - before.x)
                self.r, self.size, self._left = r, size, left


def residual(graph: Graph, source: Floats, each: Floats, x: Floats) -> Floats:
    """Return the residuals, r = source + xM - x, computed from the links alone; shape (n,).

    This restores a damaged or lost r. The sum of |r| over `solver.slack` bounds the sum of all errors of x, because
    |x - x*| is at most |r| (1 + (1 - tau) + (1 - tau)^2 + ...).

    >>> from evercrawl.importance.offline import Graph
    >>> residual(Graph.of(2, [(0, 1)]), np.ones(2), np.array([0.5, 0.5]), np.array([1.0, 1.25]))
    array([0.  , 0.25])
    """
    found = graph.pass_on(x, each)
    found += source
    found -= x
    return found


def _steady(paces: list[float]) -> bool:
    """Return whether two sweeps left the same part of the residuals, and more than `_QUICK`.

    >>> _steady([0.84, 0.85]), _steady([0.3, 0.3]), _steady([0.7, 0.8])
    (True, False, False)
    """
    return _QUICK < paces[-1] < 1 and abs(paces[-1] - paces[-2]) < _STEADY

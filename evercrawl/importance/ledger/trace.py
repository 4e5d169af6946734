"""Traces of a ledger: its state after each visit, compared with exact importance, and bounds on the error."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from evercrawl.importance.aopic import AOPIC
from evercrawl.importance.base import Importance
from evercrawl.importance.ledger.bounds import certificate
from evercrawl.importance.ledger.estimates import Estimate, shares
from evercrawl.importance.ledger.ledger import Ledger
from evercrawl.importance.ledger.orders import ORDERS
from evercrawl.importance.offline import Graph, damped, linked, principal, solved
from evercrawl.importance.push import Push
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
from evercrawl.types import Floats

VIRTUAL: Final = -1
"""The number of the virtual page."""

TraceOrder: TypeAlias = Literal["random", "cycle", "greedy", "push"]
VirtualPage: TypeAlias = Literal["tax", "link", "none"]
WindowKind: TypeAlias = Literal[
    "all", "history", "identity", "variable", "fixed", "improved", "interpolation", "exponential", "two"
]
_WINDOWS: Final[dict[str, Callable[[float], Window]]] = {
    "variable": lambda size: Variable(max(round(size), 2)),
    "fixed": Fixed,
    "improved": Improved,
    "interpolation": Interpolation,
    "exponential": Exponential,
    "two": lambda size: TwoWindows(size, size / 8),
}
_ALL: Final[dict[str, Estimate]] = {"all": "paper", "history": "history", "identity": "identity"}
assert {*_WINDOWS, *_ALL} == set(get_args(WindowKind)), "each kind is made"


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """Settings of a trace.

    Attributes
    ----------
    order
        Order of visits; "push" visits the page with the largest residual, under push.
    steps
        Number of visits.
    every
        Number of visits between two recorded states.
    seed
        Seed of the random order.
    window, size
        The estimate: `all`, (H + C) / (G + 1); `history`, H / G; `identity`, (H + C - C0) / G; or a window of `size`,
        which is a number of measures for `variable` and otherwise a length T, in units of all the cash. Push has no
        windows.
    virtual
        `tax`: the virtual page gets a part of each page's cash. `link`: it is one more link of each page. `none`: it
        gets only the cash of pages without links.
    tax
        The part that `tax` takes.
    visited
        Whether the virtual page keeps its cash until it is visited in its turn like any page, or spends it at once.
    """

    order: TraceOrder = "greedy"
    steps: int = 300
    every: int = 1
    seed: int = 0
    window: WindowKind = "all"
    size: float = 8.0
    virtual: VirtualPage = "tax"
    tax: float = 0.15
    visited: bool = True


class LedgerState(NamedTuple):
    """The state of a ledger after a visit; pages are numbers.

    Attributes
    ----------
    step
        Number of visits so far.
    cash, history
        C and H of each page; under push, residual and value.
    virtual
        Cash of the virtual page.
    clock
        G.
    estimate
        Shares of importance; None before there is an estimate.
    error
        The sum of |estimate - exact|.
    bound
        Bound on the error of the values that the certificate covers: H / G, or x under push; None if there is none.
    bounded
        The error of these values.
    """

    step: int
    cash: list[float]
    history: list[float]
    virtual: float
    clock: float
    estimate: list[float] | None
    error: float | None
    bound: float | None
    bounded: float | None


@dataclass(frozen=True, slots=True)
class LedgerTrace:
    """The record of the visits to a ledger.

    Attributes
    ----------
    exact
        The importance of each page, shape (n,), summing to 1.
    visits, moved
        The page of each visit, or VIRTUAL; the cash that it moved.
    states
        The state at the start, after each `every` visits, and at the end.
    """

    exact: list[float]
    visits: list[int] = field(default_factory=list[int])
    moved: list[float] = field(default_factory=list[float])
    states: list[LedgerState] = field(default_factory=list[LedgerState])


def traced(pages: int, links: Sequence[tuple[int, int]], settings: TraceSettings) -> LedgerTrace:
    """Return the trace of a web whose cash is spread evenly at the start.

    Links of a page to itself do not count, and duplicate links count once.

    Examples
    --------
    Two pages that link to each other; half of their cash goes to the virtual page, which spends at once:

    >>> found = traced(2, [(0, 1), (1, 0)], TraceSettings("cycle", steps=2, tax=0.5, visited=False))
    >>> found.visits, found.moved, found.exact
    ([0, 1], [0.5, 0.875], [0.5, 0.5])
    >>> found.states[1].cash, found.states[2].cash
    ([0.125, 0.875], [0.78125, 0.21875])

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 3.
    """
    assert settings.order != "push" or settings.virtual != "none", "push has an end only where some cash is taxed"
    targets: list[list[int]] = [[] for _ in range(pages)]
    for source, target in links:
        targets[source].append(target)
    watched = _Watched(targets, settings, solution(pages, links, settings.virtual, settings.tax))
    trace = LedgerTrace(watched.exact.tolist(), states=[watched.state(0)])
    for step in range(1, settings.steps + 1):
        page, moved = watched.visit()
        trace.visits.append(page)
        trace.moved.append(moved)
        if step % settings.every == 0 or step == settings.steps:
            trace.states.append(watched.state(step))
    return trace


def solution(pages: int, links: Sequence[tuple[int, int]], virtual: VirtualPage, tax: float = 0.15) -> Floats:
    """Return the values that push converges to, shape (n,), solved from all links at once; with `none` they sum to 1.

    Divided by their sum they are the importance of the pages, whatever the order of visits.

    >>> solution(3, [(1, 0), (2, 0)], "none").round(4), solution(2, [(0, 1), (1, 0)], "tax", 0.5)
    (array([0.6, 0.2, 0.2]), array([1., 1.]))
    """
    graph = Graph.of(pages, links)
    if virtual != "none":
        each = damped(graph, tax) if virtual == "tax" else linked(graph)
        return solved(graph, np.full(pages, 1 / pages), each, 1e-14)
    each, idle = 1.0 / np.maximum(graph.out, 1), graph.out == 0

    def step(value: Floats) -> Floats:
        return graph.pass_on(value, each) + float(value[idle].sum()) / pages

    return principal(step, pages, start=np.ones(pages))[0]


class _Watched:
    """A ledger with the order of its visits, and the links of its pages."""

    def __init__(self, targets: list[list[int]], settings: TraceSettings, solution: Floats) -> None:
        self._whole, pages = float(solution.sum()), len(targets)
        self.exact = solution / self._whole
        self._pushes = settings.order == "push"
        self._settings, self._targets = settings, targets
        self._ledger = Ledger(
            self._scheme(settings),
            convention="link" if settings.virtual == "link" else "tax",
            at_once=not settings.visited,
        )
        for page in range(pages):
            self._ledger.add(page, 1 / pages if self._pushes else 1, 0 if self._pushes else 1 / pages)
        self._order = ORDERS["greedy" if self._pushes else settings.order](self._ledger)
        out = [len({target for target in row if target != page}) for page, row in enumerate(targets)]
        self._tax = _least_tax(settings, max(out))  # of all pages, whereas the ledger knows only those that it has read
        self._draw = random.Random(settings.seed)
        self._turn = -1
        self._estimate: Estimate = "scheme" if self._pushes else _ALL.get(settings.window, "scheme")

    def visit(self) -> tuple[int, float]:
        """Make the next visit; return the page, and the cash that it moved."""
        ledger, before = self._ledger, self._ledger.total
        page = self._next()
        if page == VIRTUAL:
            ledger.visit_virtual()
            return page, ledger.total - before
        moved = ledger.pages[page].cash
        ledger.visit(page, self._targets[page])
        return page, moved

    def state(self, step: int) -> LedgerState:
        """Return the current state of the ledger."""
        ledger, cells = self._ledger, self._ledger.pages.values()
        cash, history = [page.cash for page in cells], [page.history for page in cells]
        estimate, error, bounded = None, None, None
        if any(history):
            found = np.array(list(shares(ledger, self._estimate).values()))
            estimate, error = found.tolist(), float(np.abs(found - self.exact).sum())
            bounded = self._bounded(np.array(history))
        known = self._pushes or estimate is not None
        bound = certificate(ledger, self._tax) if known else math.inf
        return LedgerState(
            step, cash, history, ledger.virtual, ledger.total, estimate, error,
            bound if math.isfinite(bound) else None, bounded,
        )  # fmt: skip

    def _bounded(self, history: Floats) -> float:
        """Return the error of the values that the certificate covers: shares by history, or the values of push."""
        whole = self._whole if self._pushes else float(history.sum())
        return float(np.abs(history - self.exact * whole).sum()) / (1.0 if self._pushes else whole)

    def _next(self) -> int:
        count, order = len(self._targets), self._settings.order
        virtual = self._settings.visited and not self._pushes
        if order == "random":
            page = self._draw.randrange(count + virtual)
        elif order == "cycle":
            page = self._turn = (self._turn + 1) % (count + virtual)
        else:
            page = int(self._order.next())  # type: ignore[call-overload]
            if virtual and self._ledger.virtual > self._ledger.pages[page].cash:
                return VIRTUAL
        return VIRTUAL if page == count else page

    @staticmethod
    def _scheme(settings: TraceSettings) -> Importance:
        tax = settings.tax if settings.virtual == "tax" else 0.0
        if settings.order == "push":
            return Push(tax)
        made = _WINDOWS.get(settings.window)
        return AOPIC(tax, window=made(settings.size) if made is not None else Unbounded())


def _least_tax(settings: TraceSettings, out: int) -> float:
    """Return the least part of its cash that a page gives to the virtual page; `out` is the largest out-degree."""
    if not out or settings.virtual == "link":
        return 1 / (out + 1)
    return settings.tax if settings.virtual == "tax" else 0.0

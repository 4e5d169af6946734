"""The windows of adaptive OPIC as watchers of an engine: any number of them observe one crawl."""

from typing import Final

import numpy as np

from evercrawl.importance.windows.base import Pasts, Window
from evercrawl.importance.windows.exponential import Exponential
from evercrawl.importance.windows.fixed import Fixed
from evercrawl.importance.windows.improved import Improved
from evercrawl.importance.windows.interpolation import Interpolation
from evercrawl.importance.windows.two_windows import TwoWindows
from evercrawl.importance.windows.variable import Variable
from evercrawl.kernels import Library, pointer
from evercrawl.lab.engine.engine import Moves, VisitWatcher
from evercrawl.types import Floats

_KERNELS: Final = Library("evercrawl.lab.engine._windows_kernel")
_START: Final = np.finfo(np.float64).tiny  # stands for G = 0, because 0 means "not recorded"
_HISTORY_AND_MARK: Final = 2
_KINDS: Final[dict[type[Window], int]] = {Variable: 0, Fixed: 1, Improved: 2}


class Smooth(VisitWatcher):
    """A watcher with a window that keeps one sum: exponential, or interpolation.

    Examples
    --------
    >>> watcher = Smooth(Exponential(4.0), 2)
    >>> watcher.watch(Moves(np.array([1, 0], np.int32), np.array([0.1, 0.3]), np.array([1.0, 1.0])))
    >>> watcher.estimate(np.zeros(2), 1.0)
    array([0.75, 0.25])
    """

    def __init__(self, window: Exponential | Interpolation, pages: int) -> None:
        self.window = window
        self._entry = "smooth" if isinstance(window, Exponential) else "interpolate"
        self.history, self.mark, self.missing = np.zeros(pages), np.zeros(pages), np.ones(pages)

    def watch(self, visits: Moves) -> None:
        """Record visits."""
        page, earned, clock = visits
        _KERNELS[self._entry](
            pointer(page), pointer(earned), pointer(clock), len(page), pointer(self.history), pointer(self.mark),
            pointer(self.missing), len(self.mark), self.window.length,
        )  # fmt: skip

    def held(self) -> float:
        """Return the number of measures kept per page; two numbers are one measure."""
        return (_HISTORY_AND_MARK + self.window.width) / 2

    def estimate(self, earned: Floats, total: float) -> Floats:
        """Return the estimate of the window."""
        return self.window.shares(_pasts(self.history, self.mark, self.missing[:, None]), earned, total)


class BothWindows(VisitWatcher):
    """A watcher with two windows."""

    def __init__(self, window: TwoWindows, pages: int) -> None:
        self.window = window
        self._short, self._long = (Smooth(Exponential(length), pages) for length in (window.short, window.length))

    def watch(self, visits: Moves) -> None:
        """Record visits in both windows."""
        self._short.watch(visits)
        self._long.watch(visits)

    def held(self) -> float:
        """Return the number of measures kept per page; two numbers are one measure."""
        return (_HISTORY_AND_MARK + self.window.width) / 2

    def estimate(self, earned: Floats, total: float) -> Floats:
        """Return the window's combination of both estimates."""
        short, long = self._short, self._long
        kept = np.stack([long.history, short.missing, long.missing], axis=1)
        return self.window.shares(_pasts(short.history, short.mark, kept), earned, total)


class Measures(VisitWatcher):
    """A watcher with a window that keeps measures: variable, fixed or improved."""

    def __init__(self, window: Variable | Fixed, pages: int) -> None:
        self.window = window
        self._kind = _KINDS[type(window)]
        self.mark, self.kept = np.zeros(pages), np.zeros((pages, window.width))
        self._scratch = np.zeros(2 * window.places + 2)

    def watch(self, visits: Moves) -> None:
        """Record visits."""
        page, earned, clock = visits
        _KERNELS["measure"](
            pointer(page), pointer(earned), pointer(clock), len(page), pointer(self.mark), pointer(self.kept),
            len(self.mark), self.window.places, self._kind, self.window.length, pointer(self._scratch),
        )  # fmt: skip

    def estimate(self, earned: Floats, total: float) -> Floats:
        """Return the estimate of the window."""
        return self.window.shares(_pasts(np.zeros(len(self.mark)), self.mark, self.kept), earned, total)

    def held(self) -> float:
        """Return the average number of measures kept per page; for a variable window, the oldest clock is one."""
        return float((self.kept[:, 2::2] > 0).sum() / len(self.mark)) + (self._kind == 0)


def looking_on(window: Window, pages: int) -> Smooth | BothWindows | Measures:
    """Return the watcher for a window."""
    if isinstance(window, TwoWindows):
        return BothWindows(window, pages)
    if isinstance(window, Exponential | Interpolation):
        return Smooth(window, pages)
    assert isinstance(window, Variable | Fixed), "what keeps everything is the history, which the engine has"
    return Measures(window, pages)


def _pasts(history: Floats, mark: Floats, kept: Floats) -> Pasts:
    return Pasts(history, mark, kept, np.full(len(mark), _START))


class Printed(VisitWatcher):
    """A watcher that counts all cash as earned, as printed; interpolation treats each window as full.

    Parameters
    ----------
    watcher
        The watcher that is wrapped.
    pages
        n; the initial cash of each page is 1 / n.

    Examples
    --------
    >>> from evercrawl.importance.windows.interpolation import Interpolation
    >>> smooth = Smooth(Interpolation(4.0), 2)
    >>> Printed(smooth, 2).watch(Moves(np.array([1, 1], np.int32), np.array([0.0, 0.5]), np.array([0.5, 1.0])))
    >>> smooth.history
    array([0.    , 0.9375])
    >>> smooth.missing
    array([1., 0.])
    """

    def __init__(self, watcher: Smooth | BothWindows | Measures, pages: int) -> None:
        self._watcher = watcher
        self._alone = isinstance(watcher, Smooth) and isinstance(watcher.window, Interpolation)
        self._given = np.full(pages, 1 / pages)

    def watch(self, visits: Moves) -> None:
        """Record visits, and add a page's initial cash to its first one."""
        page, first = np.unique(visits.page, return_index=True)
        earned = visits.earned.copy()
        earned[first] += self._given[page]
        self._given[page] = 0.0
        self._watcher.watch(visits._replace(earned=earned))
        if self._alone and isinstance(self._watcher, Smooth):
            self._watcher.missing[visits.page] = 0.0

    def estimate(self, earned: Floats, total: float) -> Floats:
        """Return the estimate of the wrapped watcher, with initial cash counted as earned."""
        return self._watcher.estimate(earned + self._given, total)

    def held(self) -> float:
        """Return the number of measures kept per page; for interpolation only history and mark count, as published."""
        return 1.0 if self._alone else self._watcher.held()

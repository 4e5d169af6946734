"""Sizes of importance windows: in the window's own unit, in visits per page or in time, converted to G-time.

A window is measured in G-time, the cash that visits move. `interpolation:4` is four units of it. `interpolation:8v`
is the cash that moves while each read page is visited eight times on average, and `interpolation:90d` the cash that
moved in the last ninety days: both are recomputed as the crawl goes on. A window of measures is sized by their number
(`variable:8`), whatever the time between them.
"""

import re
from typing import Final, NamedTuple

import numpy as np

from evercrawl import catalog
from evercrawl.config.values import duration
from evercrawl.errors import ConfigError
from evercrawl.importance import windows
from evercrawl.importance.windows import TURN, Elastic, Window
from evercrawl.store.state import State

_SIZE: Final = re.compile(r"(.+):(\d[\w.]*)")
_VISITS: Final = re.compile(r"(\d+(?:\.\d+)?)v")
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_POINTS: Final = 256
"""Instants of which the clock G is kept; and parts of a window between two looks at its length."""
_MOST: Final = 64
"""Measures of which a window keeps cash and clock, 16 bytes each, of every page."""
_LEAST: Final = 1e-3
"""The shortest window, in G-time."""
_FORM: Final = (
    "write NAME:4 for G-time (NAME:8 for measures, where the window counts them), NAME:8v for visits a page, "
    "or NAME:90d for time"
)


class WindowSize(NamedTuple):
    """The size of a window.

    Attributes
    ----------
    amount
        Number of units.
    unit
        `own` (G-time, or measures), `visits` (a page), or `s`.
    """

    amount: float
    unit: str


def split(text: str) -> tuple[str, WindowSize | None]:
    """Return the name of a window, and its size if one is given.

    Raises
    ------
    ConfigError
        The size is invalid; the message says how to write one.

    Examples
    --------
    >>> split("variable"), split("fixed:4"), split("interpolation:8v"), split("interpolation:90d")[1]
    (('variable', None), ('fixed', WindowSize(amount=4.0, unit='own')),
     ('interpolation', WindowSize(amount=8.0, unit='visits')), WindowSize(amount=7776000.0, unit='s'))
    """
    found = _SIZE.fullmatch(text)
    if found is None:
        return text, None
    name, size = found[1], found[2]
    if _NUMBER.fullmatch(size):
        return name, _positive(text, float(size), "own")
    if visits := _VISITS.fullmatch(size):
        return name, _positive(text, float(visits[1]), "visits")
    try:
        return name, _positive(text, float(duration().read(size)), "s")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    except (ValueError, TypeError) as error:
        raise ConfigError(f"window {text!r}: {size!r} is no size; {_FORM}") from error


def _positive(text: str, amount: float, unit: str) -> WindowSize:
    if not amount > 0:
        raise ConfigError(f"window {text!r}: a window of no size holds nothing; {_FORM}")
    return WindowSize(amount, unit)


def window_of(text: str) -> Window:
    """Return the window of that name and size; the default size if none is given.

    Until a crawl shows how fast cash moves (`WindowLength`), eight visits a page are converted as for greedy order.

    Raises
    ------
    ConfigError
        There is no such window, or it cannot have that size; the message lists those there are.

    Examples
    --------
    >>> window_of("interpolation:4").length, window_of("variable:6").places
    (4.0, 5)
    >>> window_of("unbounded:4")
    Traceback (most recent call last):
    evercrawl.errors.ConfigError: window 'unbounded:4': it has no end, and no size; leave out ':4'
    """
    name, size = split(text)
    kind: type[Window] = catalog.pick(windows, windows.Window, name)  # type: ignore[type-abstract]
    if size is None:
        return kind()
    if kind.counts == "nothing":
        raise ConfigError(f"window {text!r}: it has no end, and no size; leave out {text[len(name) :]!r}")
    if kind.counts == "measures":
        if size.unit == "s" or size.amount != int(size.amount) or not windows.FEWEST <= size.amount <= _MOST:
            raise ConfigError(f"window {text!r}: it counts measures, {windows.FEWEST} to {_MOST}; write {name}:8")
        return kind.sized(size.amount)
    if size.unit == "own":
        return kind.sized(size.amount)
    return Elastic(kind.sized(TURN * size.amount) if size.unit == "visits" else kind())


class WindowLength:
    """Keeps a window's length equal to its size in visits or time, by the cash the crawl has moved so far.

    In visits, the length is the advance of the clock G while each read page is visited that often on average. In
    time, it is the advance of G over the last `amount` seconds or, while the crawl is younger, that at the mean pace
    so far. The records contain each page's last visit and the clock at that visit, so nothing else is stored for a
    restart.

    Parameters
    ----------
    window
        The window whose length is set.
    size
        A size in `visits` or `s`; with another unit the length stays.
    state
        The crawl.
    """

    def __init__(self, window: Window, size: WindowSize | None, state: State) -> None:
        self._window, self._size, self._state = window, size, state
        self._fits = size is not None and size.unit != "own" and window.counts == "cash"
        self._due, self._visits = -np.inf, state.visits if state.accounts.total else 0
        self._at, self._clock = _points(state) if self._fits and size is not None and size.unit == "s" else ([], [])

    def renew(self, at: float) -> None:
        """Set the length at the instant of a visit, in seconds since the epoch; instants must not decrease."""
        if not self._fits or self._size is None:
            return
        self._visits += 1
        if self._size.unit == "visits":
            self._renew_visits()
        elif at >= self._due:
            self._due = at + self._size.amount / _POINTS
            self._note(at, self._state.accounts.total)
            self._window.resize(max(self._in_time(at), _LEAST))

    def _renew_visits(self) -> None:
        state = self._state
        if self._visits >= self._due and state.accounts.total:
            self._due = self._visits * (1 + 1 / _POINTS)
            turn = state.accounts.total / self._visits * max(state.records.count, 1)
            assert self._size is not None
            self._window.resize(max(self._size.amount * turn, _LEAST))

    def _note(self, at: float, clock: float) -> None:
        """Record the clock, and drop all but the last of the points that are older than the window."""
        assert self._size is not None
        self._at.append(at)
        self._clock.append(clock)
        while len(self._at) > 2 and self._at[1] <= at - self._size.amount:
            del self._at[0], self._clock[0]

    def _in_time(self, at: float) -> float:
        assert self._size is not None
        began, now = at - self._size.amount, self._clock[-1]
        if began < self._at[0]:  # the crawl is younger: extrapolate at its mean pace
            passed = at - self._at[0]
            moved = now - self._clock[0]
            return moved / passed * self._size.amount if passed > 0 and moved > 0 else self._window.length
        return now - float(np.interp(began, self._at, self._clock))


def _points(state: State) -> tuple[list[float], list[float]]:
    """Return instants, ascending, and the clock G at each, from the pages' last visits."""
    rows = state.records.rows[: state.records.count]
    rows = rows[:: max(len(rows) // (64 * _POINTS), 1)]
    rows = rows[rows["mark"] > 0]
    order = np.argsort(rows["visited"], kind="stable")
    rows = rows[order[:: max(len(order) // _POINTS, 1)]]
    clocks = np.maximum.accumulate(rows["mark"].astype(np.float64)) if len(rows) else np.empty(0)
    return [state.instant(int(visited)) for visited in rows["visited"]], clocks.tolist()

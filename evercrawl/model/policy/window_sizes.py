"""How large a window of importance is: in its own unit, in visits a page, or in time; and what that is in G-time.

A window runs by G-time, the cash that visits move. `interpolation:4` is four units of it. `interpolation:8v` is as much
as moves while each page that was read is visited eight times on the mean, and `interpolation:90d` as much as moved in
the last ninety days: both are worked out anew as the crawl goes on. A window of measures is as long as its measures
are apart, so it has a number of them (`variable:8`).
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
        How much of the unit.
    unit
        `own` (G-time, or measures), `visits` (a page), or `s`.
    """

    amount: float
    unit: str


def split(text: str) -> tuple[str, WindowSize | None]:
    """Return the name of a window, and its size where one is given.

    Raises
    ------
    ConfigError
        The size is none; the message says how to write one.

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
    """Return the window of that name and size; of its usual size where none is given.

    Until a crawl says how fast cash moves (`WindowLength`), eight visits a page are those of greedy order.

    Raises
    ------
    ConfigError
        There is no such window, or none of such a size; the message says which there are.

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
    """Keeps a window as long as its size in visits or time comes to, by what the crawl has moved so far.

    In visits it is as long as the clock G advances while each page that was read is visited so often on the mean. In
    time it is as long as the clock G advanced in the last so many seconds, or, while the crawl is younger, as it
    would have at the mean pace so far. When each page was last visited, and where the clock stood then, is in the
    records, so nothing else has to be kept for a restart.

    Parameters
    ----------
    window
        Whose length is set.
    size
        In `visits` or `s`; with another the length stays.
    state
        The crawl.
    """

    def __init__(self, window: Window, size: WindowSize | None, state: State) -> None:
        self._window, self._size, self._state = window, size, state
        self._fits = size is not None and size.unit != "own" and window.counts == "cash"
        self._due, self._visits = -np.inf, state.visits if state.accounts.total else 0
        self._at, self._clock = _points(state) if self._fits and size is not None and size.unit == "s" else ([], [])

    def renew(self, at: float) -> None:
        """Set the length at the instant of a visit, s since the epoch; instants do not go back."""
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
        """Keep where the clock stands, and of what is too old for the window the last alone."""
        assert self._size is not None
        self._at.append(at)
        self._clock.append(clock)
        while len(self._at) > 2 and self._at[1] <= at - self._size.amount:
            del self._at[0], self._clock[0]

    def _in_time(self, at: float) -> float:
        assert self._size is not None
        began, now = at - self._size.amount, self._clock[-1]
        if began < self._at[0]:  # the crawl is younger: as if it had always gone at its pace
            passed = at - self._at[0]
            moved = now - self._clock[0]
            return moved / passed * self._size.amount if passed > 0 and moved > 0 else self._window.length
        return now - float(np.interp(began, self._at, self._clock))


def _points(state: State) -> tuple[list[float], list[float]]:
    """Return instants, ascending, and where the clock G stood at each, from the pages' last visits."""
    rows = state.records.rows[: state.records.count]
    rows = rows[:: max(len(rows) // (64 * _POINTS), 1)]
    rows = rows[rows["mark"] > 0]
    order = np.argsort(rows["visited"], kind="stable")
    rows = rows[order[:: max(len(order) // _POINTS, 1)]]
    clocks = np.maximum.accumulate(rows["mark"].astype(np.float64)) if len(rows) else np.empty(0)
    return [state.instant(int(visited)) for visited in rows["visited"]], clocks.tolist()

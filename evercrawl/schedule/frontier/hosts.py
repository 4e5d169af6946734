"""A host: its rest, what it is held for, and where it is; a view of its row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Generic, TypeVar, cast, overload
from weakref import WeakValueDictionary

from evercrawl.schedule.frontier.host_rows import HostRows

BACK_OFF_FIRST_S: Final = 1.0
BACK_OFF_MOST_S: Final = 3600.0
AWAY_S: Final = 30.0  # a host that rests for longer than this because of failures counts as away
_FAILURES: Final = 0xFFFF  # that are counted; the longest back-off begins with the thirteenth
_DOUBLINGS: Final = 12
_VIEWS: Final = 2048

_T = TypeVar("_T")


class HostColumn(Generic[_T]):
    """One value in the row of a host, as an attribute of it."""

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the name of the column."""
        self._name = name

    @overload
    def __get__(self, host: None, owner: type) -> HostColumn[_T]: ...

    @overload
    def __get__(self, host: Host, owner: type) -> _T: ...

    def __get__(self, host: Host | None, owner: type) -> HostColumn[_T] | _T:
        """Return the value."""
        return cast("_T", getattr(host.rows, self._name)[host.row]) if host is not None else self

    def __set__(self, host: Host, value: _T) -> None:
        """Write it."""
        getattr(host.rows, self._name)[host.row] = value


class Host:
    """One host name: how many of its pages wait, and its rest.

    It has no memory of its own: all that it says is in its row, so that a host that nobody looks at is but that row.

    Parameters
    ----------
    number, name
        As below.
    rows
        Has its row, that with its number, and its name; without, it has one of its own.

    Attributes
    ----------
    number
        Its number in the journal's order.
    rows, row
        The columns that it is in, and its place there.
    delay_s
        Least time between two requests.
    ready_at
        No request before then.
    away_until
        A failing host, or one that asked for it (Retry-After), is left alone until then.
    failures
        Failed exchanges in a row.
    in_flight
        Exchanges under way.
    pages
        Known pages, for the ceiling of pages a host.
    answers
        1 where there was an answer to the last exchange of this run; else 0.
    """

    __slots__ = ("__weakref__", "number", "row", "rows")

    delay_s = HostColumn[float]()
    ready_at = HostColumn[float]()
    away_until = HostColumn[float]()
    failures = HostColumn[int]()
    in_flight = HostColumn[int]()
    pages = HostColumn[int]()
    answers = HostColumn[int]()

    def __init__(self, number: int, name: str = "", rows: HostRows | None = None) -> None:
        self.number = self.row = number
        if rows is None:
            self.row, rows = 0, HostRows(capacity=1)
            rows.add([name], 1.0, 0.0)
        self.rows = rows

    @property
    def name(self) -> str:
        """Its name; an IP literal is one."""
        return self.rows.names[self.row]

    @property
    def held(self) -> str:
        """What has to come first, "" when nothing has: "robots.txt", "name look-up". A held host offers nothing."""
        return self.rows.words[self.rows.held[self.row]]

    @held.setter
    def held(self, what: str) -> None:
        self.rows.held[self.row] = self.rows.code(what)

    @property
    def reason(self) -> str:
        """Why it rests, in a word or two: "resting", "back-off", "robots.txt", "name look-up" or "hours"."""
        return self.rows.words[self.rows.reason[self.row]] or "resting"

    @reason.setter
    def reason(self, why: str) -> None:
        self.rows.reason[self.row] = self.rows.code(why)

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where its name leads; () where it was not looked up of late."""
        return self.rows.located(self.row)[0]

    @property
    def located_until(self) -> float:
        """Until when that holds, in seconds since the epoch."""
        return self.rows.located(self.row)[1]

    def succeeded(self) -> None:
        """Forget the failures."""
        self.failures = 0
        self.rows.reason[self.row] = 0

    def failed(self, now: float) -> float:
        """Back off for twice as long as the last time, from 1 s to an hour; return the instant it ends."""
        wait_s = min(BACK_OFF_FIRST_S * 2.0 ** min(self.failures, _DOUBLINGS), BACK_OFF_MOST_S)
        self.count_failure()
        self.stay_away(now + wait_s, "back-off")
        return self.away_until

    def count_failure(self) -> None:
        """Count a failed exchange."""
        self.failures = min(self.failures + 1, _FAILURES)

    def stay_away(self, until: float, reason: str) -> None:
        """Ask nothing of the host before `until`."""
        self.away_until = max(self.away_until, until)
        self.ready_at = max(self.ready_at, until)
        self.reason = reason

    def away(self, now: float) -> bool:
        """Whether failures, not manners, keep the host from being asked soon."""
        return self.away_until - now > AWAY_S


class Hosts:
    """Hosts by number; what is given out is the same object as long as somebody has it.

    Parameters
    ----------
    rows
        What is known of them.

    Attributes
    ----------
    recent
        Those that were asked for lately.
    """

    def __init__(self, rows: HostRows) -> None:
        self._rows = rows
        self.recent: dict[int, Host] = {}
        self._others: WeakValueDictionary[int, Host] = WeakValueDictionary()

    def __len__(self) -> int:
        """Return how many hosts are known."""
        return self._rows.count

    def __getitem__(self, number: int) -> Host:
        """Return a host."""
        host = self.recent.get(number)
        if host is None:
            if not 0 <= number < self._rows.count:
                raise IndexError(number)
            if len(self.recent) >= _VIEWS:
                self._others.update(self.recent)
                self.recent.clear()  # those that nobody has are gone
            host = self._others.get(number)
            self.recent[number] = host = Host(number, rows=self._rows) if host is None else host
        return host

    def __iter__(self) -> Iterator[Host]:
        """Yield all hosts, by number."""
        return map(self.__getitem__, range(len(self)))

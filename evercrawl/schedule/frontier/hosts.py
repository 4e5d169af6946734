"""A host: its rest, why it is held, and its addresses; a view of its row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Generic, TypeVar, cast, overload
from weakref import WeakValueDictionary

from evercrawl.schedule.frontier.host_rows import HostRows

BACK_OFF_FIRST_S: Final = 1.0
BACK_OFF_MOST_S: Final = 3600.0
AWAY_S: Final = 30.0  # a host that rests for longer than this because of failures counts as away
_FAILURES: Final = 0xFFFF  # maximum count of failures; the longest back-off begins with the thirteenth
_DOUBLINGS: Final = 12
_VIEWS: Final = 2048

_T = TypeVar("_T")


class HostColumn(Generic[_T]):
    """A value in the row of a host, as an attribute of the host."""

    def __set_name__(self, owner: type, name: str) -> None:
        """Set the name of the column."""
        self._name = name

    @overload
    def __get__(self, host: None, owner: type) -> HostColumn[_T]: ...

    @overload
    def __get__(self, host: Host, owner: type) -> _T: ...

    def __get__(self, host: Host | None, owner: type) -> HostColumn[_T] | _T:
        """Return the value."""
        return cast("_T", getattr(host.rows, self._name)[host.row]) if host is not None else self

    def __set__(self, host: Host, value: _T) -> None:
        """Set the value."""
        getattr(host.rows, self._name)[host.row] = value


class Host:
    """A host name: its known pages, and its rest.

    The object has no state of its own: all attributes are in its row, so an unused host takes no more than the row.

    Parameters
    ----------
    number, name
        See the attributes.
    rows
        Columns with the host's row and name; by default the host has its own.

    Attributes
    ----------
    number
        Number of the host, in the journal's order.
    rows, row
        Columns of the host, and its position there.
    delay_s
        Minimum time between two requests.
    ready_at
        Earliest instant of the next request.
    away_until
        A failing host, or one that requested it (Retry-After), receives no requests until then.
    failures
        Number of consecutive failed exchanges.
    in_flight
        Number of exchanges under way.
    pages
        Number of known pages, for the limit of pages per host.
    answers
        1 if the last exchange of this run was answered; else 0.
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
        """The name; an IP literal is its own name."""
        return self.rows.names[self.row]

    @property
    def held(self) -> str:
        """What must come first, "" if nothing: "robots.txt", "name look-up". A held host offers nothing."""
        return self.rows.words[self.rows.held[self.row]]

    @held.setter
    def held(self, what: str) -> None:
        self.rows.held[self.row] = self.rows.code(what)

    @property
    def reason(self) -> str:
        """Why the host rests: "resting", "back-off", "robots.txt", "name look-up" or "hours"."""
        return self.rows.words[self.rows.reason[self.row]] or "resting"

    @reason.setter
    def reason(self, why: str) -> None:
        self.rows.reason[self.row] = self.rows.code(why)

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of the name; () without a recent look-up."""
        return self.rows.located(self.row)[0]

    @property
    def located_until(self) -> float:
        """Expiry of the addresses, in seconds since the epoch."""
        return self.rows.located(self.row)[1]

    def succeeded(self) -> None:
        """Reset the failures."""
        self.failures = 0
        self.rows.reason[self.row] = 0

    def failed(self, now: float) -> float:
        """Back off for twice as long as the last time, from 1 s to an hour; return the instant at which it ends."""
        wait_s = min(BACK_OFF_FIRST_S * 2.0 ** min(self.failures, _DOUBLINGS), BACK_OFF_MOST_S)
        self.count_failure()
        self.stay_away(now + wait_s, "back-off")
        return self.away_until

    def count_failure(self) -> None:
        """Count a failed exchange."""
        self.failures = min(self.failures + 1, _FAILURES)

    def stay_away(self, until: float, reason: str) -> None:
        """Make no requests to the host before `until`."""
        self.away_until = max(self.away_until, until)
        self.ready_at = max(self.ready_at, until)
        self.reason = reason

    def away(self, now: float) -> bool:
        """Whether failures, rather than politeness, prevent requests to the host for some time."""
        return self.away_until - now > AWAY_S


class Hosts:
    """Hosts by number; a host is represented by the same object as long as it is referenced.

    Parameters
    ----------
    rows
        Columns of the hosts.

    Attributes
    ----------
    recent
        Recently requested hosts.
    """

    def __init__(self, rows: HostRows) -> None:
        self._rows = rows
        self.recent: dict[int, Host] = {}
        self._others: WeakValueDictionary[int, Host] = WeakValueDictionary()

    def __len__(self) -> int:
        """Return the number of known hosts."""
        return self._rows.count

    def __getitem__(self, number: int) -> Host:
        """Return the host with a number."""
        host = self.recent.get(number)
        if host is None:
            if not 0 <= number < self._rows.count:
                raise IndexError(number)
            if len(self.recent) >= _VIEWS:
                self._others.update(self.recent)
                self.recent.clear()  # unreferenced hosts are freed
            host = self._others.get(number)
            self.recent[number] = host = Host(number, rows=self._rows) if host is None else host
        return host

    def __iter__(self) -> Iterator[Host]:
        """Yield all hosts, by number."""
        return map(self.__getitem__, range(len(self)))

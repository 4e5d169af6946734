"""Limits of a run, the progress that a running crawl reports, and the summary at its end."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that end a run; None or False means no limit.

    Attributes
    ----------
    pages
        Visits of this run, including redirects, failures and refusals.
    seconds
        Duration of this run.
    until_idle
        Whether the run ends once no known URL is left that was never fetched.
    """

    pages: int | None = None
    seconds: float | None = None
    until_idle: bool = False


@dataclass(frozen=True, slots=True)
class PartHealth:
    """The conditions of one partition that may need attention, of a crawl in several.

    Attributes
    ----------
    number, machine
        Number of the partition, and the machine of its process.
    disk_full, memory_short, names_trouble, fresh, message
        As in `Progress`.
    """

    number: int
    machine: str
    disk_full: bool = False
    memory_short: bool = False
    names_trouble: str = ""
    fresh: float | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a crawl at one instant.

    Attributes
    ----------
    at, elapsed_s
        Seconds since the epoch, and since this run began.
    known, fetched, queue
        URLs ever seen; pages whose content is held; known URLs never requested.
    visits, changed, duplicates
        Counts of this run: recorded visits (including redirects, failures and refusals), visits that brought new
        content of a known page, exact copies of another page.
    in_flight
        Exchanges in progress.
    rate_per_s
        Visits per second, over about the last 10 s.
    bytes_in
        Body bytes received in this run, as on the wire.
    outcomes
        Visits of this run: outcome label -> count.
    errors
        Visits of this run: class of failure -> count; also `robots_unreachable`, the robots.txt files that could not
        be fetched, and `silent`, the exchanges ended because too many servers were silent and to be tried again later.
    waiting
        Reason why hosts cannot be requested now (robots, resting, back-off, dns) -> number of hosts.
    robots_trouble
        The last robots.txt that could not be fetched, and why; "" for none.
    names_trouble
        Why no name can be resolved now, while the crawl waits; "" while a name server answers.
    next_at, next_url
        When the next page falls due, as far as is known, and its URL, while nothing is due or in flight; otherwise
        None and "".
    disk_full
        Whether fetching has stopped until there is disk space.
    memory_short
        Whether new requests have stopped until there is memory.
    fresh
        Share of the most recent random sample of copies that was found unchanged; None if the sample is too small.
    message
        A sentence to show once; "" for none.
    alert
        Kind of alert of the message, one of `evercrawl.cli.watching.alerts.KINDS`; "" for none.
    rendering
        Pages in the browser or waiting for it.
    partitions
        The health of each partition, of a crawl in several; with an alert, of the one that it is about.
    """

    at: float
    elapsed_s: float = 0.0
    known: int = 0
    fetched: int = 0
    visits: int = 0
    changed: int = 0
    duplicates: int = 0
    queue: int = 0
    in_flight: int = 0
    rate_per_s: float = 0.0
    bytes_in: int = 0
    outcomes: dict[str, int] = field(default_factory=dict[str, int])
    errors: dict[str, int] = field(default_factory=dict[str, int])
    waiting: dict[str, int] = field(default_factory=dict[str, int])
    robots_trouble: str = ""
    names_trouble: str = ""
    next_at: float | None = None
    next_url: str = ""
    disk_full: bool = False
    memory_short: bool = False
    fresh: float | None = None
    message: str = ""
    alert: str = ""
    rendering: int = 0
    partitions: tuple[PartHealth, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of one run.

    Attributes
    ----------
    visits, elapsed_s
        Visits and duration of this run.
    fetched, known
        Totals of the whole crawl: pages whose content is held; URLs ever seen.
    reason
        Why the run ended: pages, seconds, idle or stopped.
    """

    visits: int
    fetched: int
    known: int
    elapsed_s: float
    reason: str

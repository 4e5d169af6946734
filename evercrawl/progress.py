"""What a running crawl tells whoever watches it, what bounds it, and what it says when it ends."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Limits:
    """What ends a run; each None or False is no bound.

    Attributes
    ----------
    pages
        Visits of this run; redirects, failures and refusals included.
    seconds
        Duration of this run.
    until_idle
        End once nothing is left that was never fetched.
    """

    pages: int | None = None
    seconds: float | None = None
    until_idle: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """A crawl at one instant.

    Attributes
    ----------
    at, elapsed_s
        Seconds since the epoch, and since this run began.
    known, fetched, queue
        URLs ever seen; pages whose content is held; known URLs never asked for.
    visits, changed, duplicates
        Of this run: visits remembered (redirects, failures and refusals too), those that brought new content to a
        known page, exact copies of another page.
    in_flight
        Exchanges under way.
    rate_per_s
        Visits a second, over about the last 10 s.
    bytes_in
        Bytes of bodies received in this run, as on the wire.
    outcomes
        Of this run's visits: outcome label -> count.
    errors
        Of this run's visits: class of failure -> count; and `robots_unreachable`: robots.txt that could not be had;
        `silent`: exchanges that were ended since too many far ends said nothing, and are tried again later.
    waiting
        Why hosts cannot be asked now (robots, resting, back-off, dns) -> number of hosts.
    robots_trouble
        The last robots.txt that could not be fetched, and why; "" for none.
    names_trouble
        Why no name can be looked up now, for which the crawl waits; "" while a name server answers.
    next_at, next_url
        While nothing is due and nothing under way: when the next page falls due, as far as is known, and which; None
        and "" else.
    disk_full
        Fetching has stopped until there is room.
    memory_short
        Nothing new is requested until there is memory again.
    fresh
        Share of the copies last drawn at random that were found unchanged; None where too few were.
    message
        A sentence worth showing once; "" for none.
    alert
        What kind of alert the message is, of `evercrawl.cli.watching.alerts.KINDS`; "" for none.
    rendering
        Pages that are in the browser, or wait for it.
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


@dataclass(frozen=True, slots=True)
class Summary:
    """What one run came to.

    Attributes
    ----------
    visits, elapsed_s
        Of this run.
    fetched, known
        Of the whole crawl: pages whose content is held, URLs ever seen.
    reason
        Why it ended: pages, seconds, idle or stopped.
    """

    visits: int
    fetched: int
    known: int
    elapsed_s: float
    reason: str

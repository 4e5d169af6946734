"""Every setting of a crawl: its name, its default, its flag and what it means."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, TypeVar, cast

from evercrawl import __version__
from evercrawl.config import focus as focusing
from evercrawl.config import network, values
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.config.focus import Focus
    from evercrawl.config.values import Kind

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Setting:
    """What there is to say about one field of `Config`.

    Attributes
    ----------
    name, section
        Key and table in TOML.
    flag
        Its spelling on the command line.
    kind
        How its value is read.
    help
        One sentence, without a full stop.
    default
        Its value where nobody says otherwise.
    """

    name: str
    section: str
    flag: str
    kind: Kind
    help: str
    default: object

    @property
    def variable(self) -> str:
        """Return the environment variable that sets it."""
        return f"EVERCRAWL_{self.name.upper()}"


def _setting(default: T, section: str, flag: str, kind: Kind, meaning: str) -> T:
    return field(default=default, metadata={"section": section, "flag": flag, "kind": kind, "help": meaning})


@dataclass(frozen=True)
class Config:
    """The settings of one crawl; every value is checked when it is made.

    Raises
    ------
    ConfigError
        When a value is not of its kind; the message says what to write instead.

    Examples
    --------
    >>> Config(delay_s=2).delay_s
    2.0
    >>> Config(agent="tidy-bot/2.0", contact="mailto:me@example.org").user_agent
    'tidy-bot/2.0 (+mailto:me@example.org)'
    """

    rate_per_s: float = _setting(
        0.0, "pace", "--rate", values.number(), "ceiling in pages a second; 0 = as fast as politeness allows"
    )
    rate_bytes_per_s: int = _setting(0, "pace", "--rate-bytes", values.size(), "ceiling in bytes a second; 0 = none")
    delay_s: float = _setting(
        1.0, "pace", "--delay", values.duration(), "rest of a host from the end of one visit to the start of the next"
    )
    connections: int = _setting(256, "pace", "--connections", values.whole(1), "exchanges under way at once, in all")
    connections_per_host: int = _setting(
        1, "pace", "--connections-per-host", values.whole(1), "exchanges under way at once with one host"
    )
    connections_per_ip: int = _setting(
        2, "pace", "--connections-per-ip", values.whole(1), "exchanges under way at once with one address"
    )
    refresh_after_s: float = _setting(
        3600.0, "pace", "--refresh-after", values.duration(), "a page is not visited again sooner than this"
    )
    probe_share: float = _setting(
        0.01,
        "pace",
        "--probe-share",
        values.share(),
        "part of the visits, half at most, that goes to pages drawn by lot, to measure how fresh copies are; 0 = none",
    )

    scope: str = _setting(
        "hosts",
        "scope",
        "--scope",
        values.choice("hosts", "domains", "any"),
        "which links are followed: those to the seeds' hosts, to their registrable domains, or any",
    )
    include: tuple[str, ...] = _setting(
        (), "scope", "--include", network.patterns(), "of the URLs in scope, only those in which one of these is found"
    )
    exclude: tuple[str, ...] = _setting(
        (), "scope", "--exclude", network.patterns(), "never a URL in which one of these is found"
    )
    max_depth: int = _setting(0, "scope", "--max-depth", values.whole(), "links away from the seeds, at most; 0 = any")
    max_pages_per_host: int = _setting(
        0, "scope", "--max-pages-per-host", values.whole(), "pages of one host, at most; 0 = any number"
    )
    max_pages_per_link: int = _setting(
        1_000,
        "scope",
        "--max-pages-per-link",
        values.whole(),
        "pages of a site without a seed, and as many again for each site that links to it, at most; 0 = any number",
    )
    max_backlog_per_host: int = _setting(
        10_000,
        "scope",
        "--max-backlog-per-host",
        values.whole(),
        "unread URLs of one host, at most, or 100 for each of its pages with content of its own; 0 = any number",
    )
    max_search_results: int = _setting(
        50,
        "scope",
        "--max-search-results",
        values.whole(),
        "results of one site's own search form that are taken in, at most; 0 = any number",
    )
    spare_mirrors: bool = _setting(
        True,
        "scope",
        "--spare-mirrors",
        values.switch(),
        "of a host without a seed that says, path by path, what another says: read only some of the pages that are "
        "known on both",
    )
    sitemaps: bool = _setting(
        True,
        "scope",
        "--sitemaps",
        values.switch(),
        "read the sitemaps that robots.txt names, and feeds that pages name",
    )

    agent: str = _setting(
        "evercrawl",
        "identity",
        "--agent",
        network.agent(),
        "the User-Agent; the name it starts with is the one that robots.txt may speak to",
    )
    contact: str = _setting(
        "", "identity", "--contact", network.contact(), "where the owner of a site reaches you, told in the User-Agent"
    )

    body_max_bytes: int = _setting(
        10 << 20,
        "limits",
        "--max-body",
        values.size(1),
        "the most that is read of one body, as received and as decoded",
    )
    exchange_deadline_s: float = _setting(
        30.0, "limits", "--deadline", values.duration(0.001), "bound on one exchange, from name look-up to last byte"
    )
    max_redirects: int = _setting(
        10, "limits", "--max-redirects", values.whole(), "redirects followed one after another, at most"
    )

    policy: str = _setting("price", "strategy", "--policy", network.strategy(), "which page next")
    policy_options: tuple[str, ...] = _setting(
        (),
        "strategy",
        "--policy-option",
        network.options(),
        "parameters of the policy, NAME=VALUE each, or POLICY.NAME=VALUE, which counts for that policy only; those "
        "that a policy can change while it runs are read again when crawl.toml is written",
    )
    importance: str = _setting("push", "strategy", "--importance", network.strategy(), "how much a page matters")
    weight: str = _setting(
        "importance",
        "strategy",
        "--weight",
        values.choice("importance", "access", "embarrassment", "query_match", "learned", "quality"),
        "what a page is worth to the policy: importance, as links say it; how often it is opened (access), or likely "
        "to be from answers that show it (embarrassment); importance and what people ask about (query_match); openings "
        "as a regression predicts them (learned); importance and how it grows (quality). All but the first and the "
        "last go by what evercrawl usage is told",
    )
    lasting: bool = _setting(
        False,
        "strategy",
        "--lasting",
        values.switch(),
        "pages of which a change replaces less than a quarter for good are worth as much less, so that visits do not "
        "go where advertisements alone are new",
    )
    discovery: float = _setting(
        0.5,
        "strategy",
        "--discovery",
        values.share(),
        "how much pages that were never read count against those that were: 0.5 = what each is worth; 0 = they are "
        "read only when nothing else is due, 1 = they come before all others",
    )
    window: str = _setting(
        values.AUTO,
        "strategy",
        "--window",
        network.strategy(),
        "what of a page's history counts, where importance has windows (aopic); auto = as it is, or the scheme's own",
    )
    newcomers: str = _setting(
        "pooled",
        "strategy",
        "--newcomers",
        values.choice("pooled", "paper", "floor", "alone"),
        "what a page is thought to be worth for the part of its window in which it was not known (aopic): what pages "
        "never read earn, what those introduced lately are worth, what the virtual page gives, or by itself alone",
    )
    internal: str = _setting(
        values.AUTO,
        "strategy",
        "--internal",
        values.part(),
        "weight of a link within a site, where one to another site has 1; auto = as it is, or 0.1, or 1 for one site",
    )
    trusted: tuple[str, ...] = _setting(
        (),
        "strategy",
        "--trusted",
        network.sites(),
        "sites that importance flows from, in equal parts; where none is named, from all sites",
    )
    suspects: str = _setting(
        "report",
        "strategy",
        "--suspects",
        values.choice("report", "cap"),
        "farms of links: report = evercrawl suspects tells them; cap = they are looked for at each start, and their "
        "sites have no importance then but what links of others bring",
    )

    allow_net: tuple[str, ...] = _setting(
        (), "network", "--allow-net", network.networks(), "inside networks that may be reached; public ones always may"
    )
    dns: str = _setting("", "network", "--dns", network.address(), "name server to ask; empty = the machine's own")
    resolve: str = _setting(
        "", "network", "--resolve", network.file(), "file of lines `name address`, believed before any name server"
    )
    proxy: str = _setting("", "network", "--proxy", network.proxy(), "proxy through which every exchange goes")
    verify_tls: bool = _setting(
        True, "network", "--verify-tls", values.switch(), "refuse pages whose certificate does not verify"
    )
    http2: bool = _setting(True, "network", "--http2", values.switch(), "speak HTTP/2 where a server offers it")

    workers: str = _setting(
        values.AUTO,
        "machine",
        "--workers",
        values.count(),
        "processes that read pages, at most; 0 = the crawl's own does; auto = one for each core but one",
    )

    disk_wait_s: float = _setting(
        600.0, "store", "--disk-wait", values.duration(), "with a full disk, wait this long for room, then end"
    )
    snapshot_every_s: float = _setting(
        300.0, "store", "--snapshot-every", values.duration(1), "time between two snapshots of the page table"
    )
    index: bool = _setting(
        True, "store", "--index", values.switch(), "keep what was crawled searchable: see evercrawl search"
    )
    index_every_s: float = _setting(
        10.0, "store", "--index-every", values.duration(0.1), "what was crawled is found by searching after this long"
    )
    segment_bytes: int = _setting(
        1 << 30,
        "store",
        "--segment",
        values.size(1 << 10),
        "size at which an archive file is closed and a new one begun",
    )

    focus: tuple[Focus, ...] = ()
    """What is wanted more than its importance says: no setting of one value, but entries of their own, `[[focus]]`."""

    def __post_init__(self) -> None:
        for name, setting in SETTINGS.items():
            raw = getattr(self, name)
            object.__setattr__(self, name, read(setting, raw, name))
        object.__setattr__(self, "focus", focusing.read(self.focus))

    @property
    def looks_for_words(self) -> bool:
        """Return whether the focus is on words, so that the text of pages is wanted."""
        return any(entry.words for entry in self.focus)

    @property
    def product_token(self) -> str:
        """Return the name that robots.txt groups are matched against."""
        return self.agent.split("/")[0].split(" ")[0]

    @property
    def user_agent(self) -> str:
        """Return the User-Agent header that every request carries; our own name also tells its version."""
        agent = f"{self.agent}/{__version__}" if self.agent == "evercrawl" else self.agent
        return f"{agent} (+{self.contact})" if self.contact else agent


def read(setting: Setting, raw: object, source: str) -> values.Value:
    """Return `raw` as a value of `setting`.

    Raises
    ------
    ConfigError
        When it is not of the kind; the message begins with `source`.

    Examples
    --------
    >>> read(SETTINGS["delay_s"], "soon", "--delay")
    Traceback (most recent call last):
    evercrawl.errors.ConfigError: --delay must be a duration such as 1.5, 30s, 10m, 1h or 1d, not 'soon'
    """
    try:
        return setting.kind.read(raw)
    except ValueError as error:
        why = f": {error}" if str(error) else ""
        raise ConfigError(f"{source} must be {setting.kind.form}, not {_shown(raw)}{why}") from error


def _shown(raw: object) -> str:
    """Return a value as it was written: of a flag that may be repeated, each."""
    written = cast("list[object]", raw) if isinstance(raw, list) else [raw]
    return ", ".join(map(repr, written)) or "[]"


SETTINGS = {f.name: Setting(name=f.name, default=f.default, **f.metadata) for f in fields(Config) if f.metadata}

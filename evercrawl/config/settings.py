"""Every setting of a crawl: its name, its default, its flag and what it means."""

import re
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TypeVar, cast

from evercrawl import __version__
from evercrawl.config import focus as focusing
from evercrawl.config import network, site_rules, values
from evercrawl.config import targets as targeting
from evercrawl.config.secrets import concealed
from evercrawl.config.values import ValueKind
from evercrawl.errors import ConfigError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Setting:
    """The documentation of one field of `Config`.

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
        Its value where no source sets it.
    live
        Whether a running crawl can go by another value at once.
    """

    name: str
    section: str
    flag: str
    kind: ValueKind
    help: str
    default: object
    live: bool = False

    @property
    def variable(self) -> str:
        """Return the environment variable that sets it."""
        return f"EVERCRAWL_{self.name.upper()}"


def _setting(section: str, default: T, kind: ValueKind, meaning: str, flag: str = "", *, live: bool = False) -> T:
    about = {"section": section, "flag": flag, "kind": kind, "help": meaning, "live": live}
    return field(default=default, metadata=about)


def _flag(name: str) -> str:
    """Return the flag of a setting that has none of its own: its name without the unit."""
    return f"--{re.sub('(_per_s|_s|_bytes)$', '', name).replace('_', '-')}"


_pace, _scope, _identity, _limits, _strategy, _network, _render, _requisite, _machine, _store, _webhook, _feeds = (
    partial(_setting, section)
    for section in (
        "pace",
        "scope",
        "identity",
        "limits",
        "strategy",
        "network",
        "render",
        "requisites",
        "machine",
        "store",
        "webhook",
        "feeds",
    )
)


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

    # fmt: off
    rate_per_s: float = _pace(0.0, values.number(), "maximum pages per second; 0 = as fast as politeness allows",
        live=True)
    rate_bytes_per_s: int = _pace(0, values.size(), "maximum bytes per second; 0 = unlimited", live=True)
    delay_s: float = _pace(1.0, values.duration(),
        "pause between two visits of one host, from the end of one to the start of the next", live=True)
    connections: int = _pace(256, values.whole(1), "maximum concurrent exchanges")
    connections_per_host: int = _pace(1, values.whole(1), "maximum concurrent exchanges with one host")
    connections_per_ip: int = _pace(2, values.whole(1), "maximum concurrent exchanges with one IP address")
    refresh_after_s: float = _pace(3600.0, values.duration(), "minimum time between two visits of a page")
    probe_share: float = _pace(0.01, values.share(),
        "share of visits, at most 0.5, to pages sampled at random, which measure freshness; 0 = none")

    scope: str = _scope("hosts", values.choice("hosts", "domains", "any"),
        "which links to follow: those to the seeds' hosts, to their registrable domains, or any", live=True)
    include: tuple[str, ...] = _scope((), network.patterns(),
        "crawl only URLs in scope that match one of these expressions; applies to known pages, not to seeds",
        live=True)
    exclude: tuple[str, ...] = _scope((), network.patterns(),
        "never crawl URLs that match one of these expressions; applies to known pages and seeds", live=True)
    max_depth: int = _scope(0, values.whole(), "maximum number of links between a seed and a page; 0 = unlimited",
        live=True)
    max_pages_per_host: int = _scope(0, values.whole(), "maximum pages per host; 0 = unlimited", live=True)
    max_pages_per_link: int = _scope(1_000, values.whole(),
        "maximum pages of a site without a seed, and as many more for each site that links to it; 0 = unlimited")
    max_backlog_per_host: int = _scope(10_000, values.whole(),
        "maximum unread URLs per host, or 100 for each of its pages with unique content if that is more; 0 = unlimited")
    max_search_results: int = _scope(50, values.whole(),
        "maximum result pages of a site's own search form; 0 = unlimited")
    spare_mirrors: bool = _scope(True, values.switch(),
        "read only a sample of a mirror: a host without a seed that has the same pages as another, path by path")
    sitemaps: bool = _scope(True, values.switch(),
        "read the sitemaps listed in robots.txt, and the feeds that pages link to", live=True)

    agent: str = _identity("evercrawl", network.agent(),
        "User-Agent header; the name at its start is matched against robots.txt groups")
    contact: str = _identity("", network.contact(), "URL or mail address for site owners, appended to the User-Agent")
    sign_key: str = _identity("", network.reference(),
        "Ed25519 key that signs every request (RFC 9421): file:PATH of a PEM file of mode 0600, or env:NAME")
    sign_agent: str = _identity("", network.web_address(),
        "https URL of the site that serves the public key, which evercrawl sign prints; sent as Signature-Agent")

    body_max_bytes: int = _limits(10 << 20, values.size(1),
        "maximum body size, both as received and decoded; longer bodies are truncated", "--max-body", live=True)
    exchange_deadline_s: float = _limits(30.0, values.duration(0.001),
        "time limit of one exchange, from name lookup to last byte", "--deadline", live=True)
    max_redirects: int = _limits(10, values.whole(), "maximum length of a redirect chain")

    policy: str = _strategy("price", network.strategy(), "strategy that chooses the next page")
    policy_options: tuple[str, ...] = _strategy((), network.options(),
        "parameters of the policy, as NAME=VALUE, or POLICY.NAME=VALUE for that policy only; a running crawl rereads "
        "those that can change when crawl.toml is saved", "--policy-option")
    importance: str = _strategy("push", network.strategy(), "strategy that computes the importance of pages")
    weight: str = _strategy("access",
        values.choice("importance", "access", "embarrassment", "query_match", "learned", "quality", "site"),
        "what makes a page worth a visit: importance = the links to it; access = how often it is opened, or importance "
        "as far as that is unknown; embarrassment = how often it is expected to be opened from search results; "
        "query_match = importance, and what people search for; learned = openings predicted by a regression; quality = "
        "importance and its growth; site = the importance of its site by the links between sites, then its own within "
        "the site. All but importance, quality and site use what people searched and opened, as evercrawl serve and "
        "evercrawl usage record it")
    lasting: bool = _strategy(False, values.switch(),
        "lower the worth of pages whose changes permanently replace less than a quarter of their text, such as "
        "pages where only advertisements change")
    discovery: float = _strategy(0.5, values.share(),
        "priority of unread pages over pages already read: 0.5 = by worth, 0 = only when nothing else is due, "
        "1 = before all others")
    window: str = _strategy(values.AUTO, network.window(),
        "part of a page's history that counts (aopic): a window, with a size or without: variable:8 (measures), "
        "interpolation:4 (G), fixed:8v (visits per page), exponential:90d (time); auto = unchanged, or the default")
    newcomers: str = _strategy("pooled", values.choice("pooled", "paper", "floor", "alone"),
        "importance assumed for the part of a page's window before its discovery (aopic): what unread pages earn "
        "(pooled), the mean of recent pages (paper), what the virtual page gives (floor), or its own history only "
        "(alone)")
    internal: str = _strategy(values.AUTO, values.part(),
        "weight of a link within a site; links between sites have 1; auto = unchanged, or 0.1, or 1 for a single site")
    tax: str = _strategy(values.AUTO, values.part(),
        "part of a page's importance that goes to the virtual page, not along its links; auto = unchanged, or 0.15")
    convention: str = _strategy(values.AUTO, values.choice(values.AUTO, "tax", "link"),
        "how pages give to the virtual page: tax = each gives it the tax; link = each has one more link, to it; auto = "
        "unchanged, or tax")
    virtual_page: str = _strategy(values.AUTO, values.choice(values.AUTO, "sites", "pages", "focused"),
        "what the virtual page gives its cash to (aopic): sites = sites in equal parts, and within them their pages; "
        "pages = pages with content of their own, in equal parts; focused = all known pages, read or not, by "
        "discovery and [[focus]], which then move cash instead of multiplying priorities; auto = unchanged, or sites")
    virtual_spends: str = _strategy(values.AUTO, values.choice(values.AUTO, "at-once", "in-turn"),
        "when the virtual page gives its cash away (aopic): at-once, or in-turn, like other pages; auto = unchanged, "
        "or at-once")
    trusted: tuple[str, ...] = _strategy((), network.sites(),
        "sites that are the source of importance, in equal parts; empty = all sites")
    suspects: str = _strategy("report", values.choice("report", "cap"),
        "link farms: report = evercrawl suspects lists them; cap = each start also looks for them, and their sites get "
        "importance only from the links of other sites")

    allow_net: tuple[str, ...] = _network((), network.networks(),
        "private networks, and addresses of this machine, that may be crawled; other public addresses always may")
    refuse_net: tuple[str, ...] = _network((), network.networks(), "networks that must not be crawled")
    dns: str = _network("", network.name_servers(),
        "DNS servers, separated by commas; if one does not answer, the next is asked; empty = the system's")
    lookups: int = _network(64, values.whole(1), "maximum concurrent look-ups of host names")
    resolve: str = _network("", network.file(), "file of lines `name address`, used before DNS")
    happy_eyeballs_s: float = _network(0.25, values.duration(),
        "time after which a host's address of the other IP version is tried too if the first has not answered "
        "(RFC 8305); 0 = one after another")
    proxy: str = _network("", network.proxy(),
        "proxy for every exchange, or several, separated by commas; env:NAME or file:PATH if one has a password")
    verify_tls: bool = _network(True, values.switch(), "refuse pages whose TLS certificate does not verify")
    http2: bool = _network(True, values.switch(), "use HTTP/2 where a server offers it")
    http3: bool = _network(False, values.switch(), "use HTTP/3 where a server has offered it, if libcurl supports it")

    tdmrep: bool = _network(False, values.switch(),
        "ask each site for /.well-known/tdmrep.json before its first page, once a day, and record what it reserves")

    render: str = _render("never", values.choice("never", "auto", "always"),
        "read pages in a browser: never; auto = pages with little text before scripts run, if that pays; always")
    render_pages: int = _render(2, values.whole(1), "maximum pages in the browser at a time")
    render_time_s: float = _render(15.0, values.duration(0.1),
        "time after which a page is read as it is, if its scripts run on without requests; at most four times as long")
    render_requests: int = _render(64, values.whole(), "maximum requests that the scripts of one page may make")
    render_memory_bytes: int = _render(1 << 30, values.size(128 << 20),
        "maximum memory of all the browser's processes; above it, the largest page is ended",
        "--render-memory")
    browser: str = _render("", network.file(), "the browser, a Chromium; empty = the system's")

    requisites: bool = _requisite(False, values.switch(),
        "fetch what pages need to be shown: images, styles, scripts, fonts and the like")
    requisites_from: str = _requisite("any", values.choice("any", "site"),
        "hosts that requisites are fetched from: any, or those of the page's own registrable domain")
    requisites_share: float = _requisite(0.5, values.share(),
        "share of requests and of bytes that requisites may have while pages wait to be read")

    workers: str = _machine(values.AUTO, values.count(),
        "maximum processes that parse pages; 0 = parse in the crawl's own process; auto = one per core, less one")
    memory_max_bytes: int = _machine(0, values.size(),
        "maximum memory of the crawl's own process: near it nothing new is requested, and after 30 s the run ends; "
        "0 = four fifths of the container's limit, if it has one", "--max-memory")

    disk_wait_s: float = _store(600.0, values.duration(),
        "how long to wait for space when the disk is full, before the crawl stops")
    snapshot_every_s: float = _store(300.0, values.duration(1), "time between snapshots of the page table")
    index: bool = _store(True, values.switch(), "maintain the index for evercrawl search")
    index_every_s: float = _store(10.0, values.duration(0.1),
        "time until a crawled page can be found by evercrawl search")
    robots_bytes: int = _store(256 << 20, values.size(1 << 20),
        "maximum size of the robots.txt files kept on disk, a 64th of it for one site; others are requested again")
    segment_bytes: int = _store(1 << 30, values.size(1 << 10),
        "size at which an archive file is closed and the next one opened")
    keep_days: float = _store(0.0, values.number(),
        "days that older versions of pages stay in the archive; the newest always stays; 0 = for ever",
        live=True)
    keep_bytes: int = _store(0, values.size(),
        "maximum size of the archive on disk; above it the oldest versions are removed, never the newest of a page; "
        "0 = unlimited", "--keep-bytes", live=True)
    keep_versions: int = _store(0, values.whole(), "maximum versions of a page in the archive; 0 = all", live=True)

    durable: str = _store("disk", values.choice("disk", "keeper"),
        "where work must be on disk before it counts: disk = the partition's disk; keeper = also a second copy, in "
        "keeper_dir or, with --cluster, on another machine", "--durable")
    keeper_dir: str = _store("", network.folder(),
        "folder on another disk for second copies of journals; needed for durable = keeper, except with --cluster",
        "--keeper-dir")
    lost_after_s: float = _store(300.0, values.duration(10),
        "with --cluster and durable = keeper: how long a machine may be missing before its partitions continue from "
        "their second copies, or take no copy before another machine gets it", "--lost-after")
    rebalance: bool = _store(True, values.switch(),
        "with --cluster: whether partitions move automatically to a machine that joins, until it has its share")

    archive_to: str = _store("", network.objects(),
        "where a running crawl copies archive files once they are closed, such as s3://bucket/prefix; empty = nowhere",
        "--archive-to")

    webhook_url: str = _webhook("", network.webhook(),
        "where a running crawl, or else `evercrawl changes --follow`, delivers changes; env:NAME or file:PATH if the "
        "URL holds a secret")
    webhook_secret: str = _webhook("", network.reference(),
        "secret that signs deliveries: env:NAME or file:PATH; empty = not signed")
    webhook_private: bool = _webhook(True, values.switch(),
        "deliver also to addresses of private networks and of this machine")
    webhook_pages: str = _webhook("", network.pages(),
        "pages whose changes a running crawl delivers: all, a site or host, or an expression found in URLs; "
        "empty = all")

    feeds: tuple[str, ...] = _feeds((), values.each(network.pages(), "a list such as all, example.org or /news/"),
        "Atom feeds that a running crawl keeps in the folder feeds of its directory, one for each entry: all, a site "
        "or host, or an expression found in URLs")
    # fmt: on

    focus: tuple[focusing.Focus, ...] = ()
    """Pages wanted more, or less, than their importance: the `[[focus]]` entries."""

    sites: tuple[site_rules.SiteRules, ...] = ()
    """What holds for single sites: the `[site."NAME"]` sections, by name."""

    targets: tuple[targeting.Target, ...] = ()
    """How fresh pages of a pattern are to be: the `[target."PATTERN"]` sections, in order."""

    def __post_init__(self) -> None:
        for name, setting in SETTINGS.items():
            raw = getattr(self, name)
            object.__setattr__(self, name, read(setting, raw, name))
        object.__setattr__(self, "focus", focusing.read(self.focus))
        object.__setattr__(self, "sites", site_rules.read(self.sites))
        object.__setattr__(self, "targets", targeting.read(self.targets))

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
    return concealed(", ".join(map(repr, written))) or "[]"


SETTINGS = {
    f.name: Setting(f.name, m["section"], m["flag"] or _flag(f.name), m["kind"], m["help"], f.default, m["live"])
    for f in fields(Config)
    if (m := f.metadata)
}

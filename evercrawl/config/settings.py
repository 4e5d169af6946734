"""Every setting of a crawl: its name, its default, its flag and what it means."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

from evercrawl import __version__
from evercrawl.config import focus as focusing
from evercrawl.config import network, values
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.config.values import ValueKind

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
    kind: ValueKind
    help: str
    default: object

    @property
    def variable(self) -> str:
        """Return the environment variable that sets it."""
        return f"EVERCRAWL_{self.name.upper()}"


def _setting(section: str, default: T, kind: ValueKind, meaning: str, flag: str = "") -> T:
    return field(default=default, metadata={"section": section, "flag": flag, "kind": kind, "help": meaning})


def _flag(name: str) -> str:
    """Return the flag of a setting that has none of its own: its name without the unit."""
    return f"--{re.sub('(_per_s|_s|_bytes)$', '', name).replace('_', '-')}"


_pace, _scope, _identity, _limits, _strategy, _network, _machine, _store = (
    partial(_setting, section)
    for section in ("pace", "scope", "identity", "limits", "strategy", "network", "machine", "store")
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
    rate_per_s: float = _pace(0.0, values.number(), "ceiling in pages a second; 0 = as fast as politeness allows")
    rate_bytes_per_s: int = _pace(0, values.size(), "ceiling in bytes a second; 0 = none")
    delay_s: float = _pace(1.0, values.duration(), "rest of a host from the end of one visit to the start of the next")
    connections: int = _pace(256, values.whole(1), "exchanges under way at once, in all")
    connections_per_host: int = _pace(1, values.whole(1), "exchanges under way at once with one host")
    connections_per_ip: int = _pace(2, values.whole(1), "exchanges under way at once with one address")
    refresh_after_s: float = _pace(3600.0, values.duration(), "a page is not visited again sooner than this")
    probe_share: float = _pace(0.01, values.share(),
        "part of the visits, half at most, that goes to pages drawn by lot, to measure how fresh copies are; 0 = none")

    scope: str = _scope("hosts", values.choice("hosts", "domains", "any"),
        "which links are followed: those to the seeds' hosts, to their registrable domains, or any")
    include: tuple[str, ...] = _scope((), network.patterns(),
        "of the URLs in scope, only those in which one of these is found")
    exclude: tuple[str, ...] = _scope((), network.patterns(), "never a URL in which one of these is found")
    max_depth: int = _scope(0, values.whole(), "links away from the seeds, at most; 0 = any")
    max_pages_per_host: int = _scope(0, values.whole(), "pages of one host, at most; 0 = any number")
    max_pages_per_link: int = _scope(1_000, values.whole(),
        "pages of a site without a seed, and as many again for each site that links to it, at most; 0 = any number")
    max_backlog_per_host: int = _scope(10_000, values.whole(),
        "unread URLs of one host, at most, or 100 for each of its pages with content of its own; 0 = any number")
    max_search_results: int = _scope(50, values.whole(),
        "results of one site's own search form that are taken in, at most; 0 = any number")
    spare_mirrors: bool = _scope(True, values.switch(),
        "of a host without a seed that says, path by path, what another says: read only some of the pages that are "
        "known on both")
    sitemaps: bool = _scope(True, values.switch(), "read the sitemaps that robots.txt names, and feeds that pages name")

    agent: str = _identity("evercrawl", network.agent(),
        "the User-Agent; the name it starts with is the one that robots.txt may speak to")
    contact: str = _identity("", network.contact(), "where the owner of a site reaches you, told in the User-Agent")

    body_max_bytes: int = _limits(10 << 20, values.size(1),
        "the most that is read of one body, as received and as decoded", "--max-body")
    exchange_deadline_s: float = _limits(30.0, values.duration(0.001),
        "bound on one exchange, from name look-up to last byte", "--deadline")
    max_redirects: int = _limits(10, values.whole(), "redirects followed one after another, at most")

    policy: str = _strategy("price", network.strategy(), "which page next")
    policy_options: tuple[str, ...] = _strategy((), network.options(),
        "parameters of the policy, NAME=VALUE each, or POLICY.NAME=VALUE, which counts for that policy only; those "
        "that a policy can change while it runs are read again when crawl.toml is written", "--policy-option")
    importance: str = _strategy("push", network.strategy(), "how much a page matters")
    weight: str = _strategy("importance",
        values.choice("importance", "access", "embarrassment", "query_match", "learned", "quality"),
        "what a page is worth to the policy: importance, as links say it; how often it is opened (access), or likely "
        "to be from answers that show it (embarrassment); importance and what people ask about (query_match); "
        "openings as a regression predicts them (learned); importance and how it grows (quality). All but the first "
        "and the last go by what evercrawl usage is told")
    lasting: bool = _strategy(False, values.switch(),
        "pages of which a change replaces less than a quarter for good are worth as much less, so that visits do not "
        "go where advertisements alone are new")
    discovery: float = _strategy(0.5, values.share(),
        "how much pages that were never read count against those that were: 0.5 = what each is worth; 0 = they are "
        "read only when nothing else is due, 1 = they come before all others")
    window: str = _strategy(values.AUTO, network.strategy(),
        "what of a page's history counts, where importance has windows (aopic); auto = as it is, or the scheme's own")
    newcomers: str = _strategy("pooled", values.choice("pooled", "paper", "floor", "alone"),
        "what a page is thought to be worth for the part of its window in which it was not known (aopic): what pages "
        "never read earn, what those introduced lately are worth, what the virtual page gives, or by itself alone")
    internal: str = _strategy(values.AUTO, values.part(),
        "weight of a link within a site, where one to another site has 1; auto = as it is, or 0.1, or 1 for one site")
    trusted: tuple[str, ...] = _strategy((), network.sites(),
        "sites that importance flows from, in equal parts; where none is named, from all sites")
    suspects: str = _strategy("report", values.choice("report", "cap"),
        "farms of links: report = evercrawl suspects tells them; cap = they are looked for at each start, and their "
        "sites have no importance then but what links of others bring")

    allow_net: tuple[str, ...] = _network((), network.networks(),
        "inside networks that may be reached; public ones always may")
    dns: str = _network("", network.address(), "name server to ask; empty = the machine's own")
    resolve: str = _network("", network.file(), "file of lines `name address`, believed before any name server")
    proxy: str = _network("", network.proxy(), "proxy through which every exchange goes")
    verify_tls: bool = _network(True, values.switch(), "refuse pages whose certificate does not verify")
    http2: bool = _network(True, values.switch(), "speak HTTP/2 where a server offers it")

    workers: str = _machine(values.AUTO, values.count(),
        "processes that read pages, at most; 0 = the crawl's own does; auto = one for each core but one")

    disk_wait_s: float = _store(600.0, values.duration(), "with a full disk, wait this long for room, then end")
    snapshot_every_s: float = _store(300.0, values.duration(1), "time between two snapshots of the page table")
    index: bool = _store(True, values.switch(), "keep what was crawled searchable: see evercrawl search")
    index_every_s: float = _store(10.0, values.duration(0.1), "what was crawled is found by searching after this long")
    segment_bytes: int = _store(1 << 30, values.size(1 << 10),
        "size at which an archive file is closed and a new one begun")
    # fmt: on

    focus: tuple[focusing.Focus, ...] = ()
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


SETTINGS = {
    f.name: Setting(f.name, m["section"], m["flag"] or _flag(f.name), m["kind"], m["help"], f.default)
    for f in fields(Config)
    if (m := f.metadata)
}

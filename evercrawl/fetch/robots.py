"""robots.txt by RFC 9309, with the tolerance for common mistakes that sites have come to rely on."""

import math
import re
from typing import TypeAlias, TypeVar

from evercrawl.fetch._robots_match import Rules, normal_pattern
from evercrawl.fetch.optouts import signals_of
from evercrawl.types import OptOut

__all__ = ["MAX_ROBOTS_BYTES", "Robots", "Rules", "parse"]

MAX_ROBOTS_BYTES = 512 << 10
"""The part of a file that is read; the RFC asks for at least 500 KiB."""

_MAX_LINE_BYTES = 16 << 10
_WHITE = " \t\v\f"
_TOKEN = re.compile("[A-Za-z_-]*")
_Rule: TypeAlias = tuple[bool, str]  # allow, pattern
_T = TypeVar("_T")
_AGENT_KEYS = ("user-agent", "useragent", "user agent")
_RULE_KEYS = ("allow", "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw")
_SITEMAP_KEYS = ("sitemap", "site-map")
_SIGNAL_KEYS = ("content-signal", "content-usage")
AI_AGENTS = frozenset({
    "ai2bot", "amazonbot", "anthropic-ai", "applebot-extended", "bytespider", "ccbot", "claudebot", "cohere-ai",
    "cohere-training-data-crawler", "diffbot", "google-extended", "gptbot", "meta-externalagent", "omgili", "omgilibot",
    "perplexitybot", "timpibot",
})  # fmt: skip
"""Crawlers that gather text for models, and names that stand for this use, by their own documentation."""
_DELAY_KEYS = ("crawl-delay", "crawldelay", "crawl delay")


class Robots:
    """One site's robots.txt; it is enough to keep `body`, because parsing it again is cheap.

    Attributes
    ----------
    body
        The bytes that were parsed.
    sitemaps
        URLs from Sitemap lines, in order, each once; as written, so possibly relative or invalid.
    """

    __slots__ = ("_compiled", "_delays", "_groups", "_signals", "body", "sitemaps")

    def __init__(self, body: bytes) -> None:
        self.body = body
        self._groups: dict[str, list[list[_Rule]]] = {}
        self._delays: dict[str, list[list[float]]] = {}
        self._signals: dict[str, list[list[int]]] = {}
        self._compiled: dict[str, Rules] = {}
        self.sitemaps: tuple[str, ...] = self._read(body)

    def _read(self, body: bytes) -> tuple[str, ...]:
        """Sort the lines into groups, and return the sitemaps."""
        sitemaps: dict[str, None] = {}
        rules: list[_Rule] = []  # before the first user-agent line they are ignored
        signals: list[int] = []  # like delays
        delays: list[float] = []  # they apply to the agents since the last delay, and so perhaps to several groups
        for line in _lines(body):
            key, value = _split(line)
            if key.startswith(_AGENT_KEYS):
                if rules:
                    rules, delays, signals = [], [], []
                elif delays or signals:
                    delays, signals = [], []
                _add(self._signals, _token(value), signals)
                _add(self._groups, _token(value), rules)
                _add(self._delays, _token(value), delays)
            elif key.startswith(_RULE_KEYS):
                rules.append((key.startswith("allow"), normal_pattern(value)))
            elif key.startswith(_SITEMAP_KEYS):
                if value:
                    sitemaps[value.encode("latin-1").decode("utf-8", "replace")] = None
            elif key.startswith(_DELAY_KEYS):
                delays += _delay_s(value)
            elif key.startswith(_SIGNAL_KEYS):
                signals.append(signals_of(value))
        return tuple(sitemaps)

    def _applies(self, agent: str) -> str:
        """Return whose groups apply to `agent`: its own, or those for all agents."""
        token = agent.lower()
        return token if token in self._groups else "*"

    def rules(self, agent: str) -> Rules:
        """Return the rules for `agent`, a product token such as "evercrawl"; they are compiled once."""
        name = self._applies(agent)
        rules = self._compiled.get(name)
        if rules is None:
            groups = self._groups.get(name, [])
            rules = self._compiled[name] = Rules(rule for group in groups for rule in group)
        return rules

    def allowed(self, agent: str, path: str) -> bool:
        r"""Return whether `agent` may fetch `path`, the path and query of a normalised URL.

        Examples
        --------
        >>> robots = parse(b"User-agent: *\nDisallow: /private/\nAllow: /private/open")
        >>> robots.allowed("evercrawl", "/private/x"), robots.allowed("evercrawl", "/private/open?x=1")
        (False, True)
        """
        return self.rules(agent).allowed(path)

    def deciding(self, agent: str, path: str) -> str:
        r"""Return the rule that decides about `path`, as a line of the file; "" if none matches.

        Examples
        --------
        >>> robots = parse(b"User-agent: *\nDisallow: /private/\nAllow: /private/open")
        >>> robots.deciding("evercrawl", "/private/x"), robots.deciding("evercrawl", "/private/open")
        ('Disallow: /private/', 'Allow: /private/open')
        """
        rules = (rule for group in self._groups.get(self._applies(agent), []) for rule in group)
        fitting = [(len(text), allow, text) for allow, text in rules if not Rules([(False, text)]).allowed(path)]
        if not fitting:
            return ""
        _, allow, text = max(fitting)
        return f"{'Allow' if allow else 'Disallow'}: {text}"

    def crawl_delay_s(self, agent: str) -> float | None:
        """Return the seconds that the site asks for between two visits of `agent`; None if it does not say.

        The value is the site's own and may be absurd: the caller limits it. Of several values, the longest applies.
        """
        lists = self._delays.get(self._applies(agent), [])
        return max((delay_s for delays in lists for delay_s in delays), default=None)

    def optouts(self, agent: str) -> int:
        r"""Return what the file asks of those who train or feed models, as bits of `OptOut`.

        Signals are those of the group that applies to `agent`. The result also says whether the file excludes
        crawlers such as GPTBot from the whole site, although this does not apply to us.

        Examples
        --------
        >>> file = b"User-agent: *\nContent-Signal: ai-train=no\nAllow: /\n\nUser-agent: GPTBot\nDisallow: /"
        >>> OptOut(parse(file).optouts("evercrawl")).labels
        ('train', 'agents')
        """
        found = 0
        for signals in self._signals.get(self._applies(agent), []):
            for one in signals:
                found |= one
        if any(not self.rules(one).allowed("/") for one in AI_AGENTS & self._groups.keys()):
            found |= OptOut.AGENTS
        return int(found)


def parse(body: bytes) -> Robots:
    """Parse `body`; invalid lines are ignored, and no input raises."""
    return Robots(body)


def _add(lists: dict[str, list[list[_T]]], agent: str, new: list[_T]) -> None:
    """Add a list for `agent`; one group may name an agent several times."""
    known = lists.setdefault(agent, [])
    if not known or known[-1] is not new:
        known.append(new)


def _delay_s(value: str) -> list[float]:
    """Return a crawl delay as a list of one; [] if it is not valid."""
    try:
        delay_s = float(value)
    except ValueError:
        return []
    return [delay_s] if math.isfinite(delay_s) and delay_s >= 0 else []


def _lines(body: bytes) -> list[str]:
    """Return the lines as Latin-1 text (so that a character is a byte), without comments."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):  # UTF-16 is not allowed, but unmistakable
        body = body[: MAX_ROBOTS_BYTES * 2].decode("utf-16", "replace").encode("utf-8", "replace")
    cut = len(body) > MAX_ROBOTS_BYTES
    text = body[:MAX_ROBOTS_BYTES].removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    lines = text.replace("\r", "\n").split("\n")
    if cut:
        del lines[-1]  # half a rule could mean the opposite of the whole
    return [line[:_MAX_LINE_BYTES].partition("#")[0].strip(_WHITE) for line in lines]


def _split(line: str) -> tuple[str, str]:
    """Return key (lower case) and value; a line of exactly two words may lack its colon."""
    key, colon, value = line.partition(":")
    if colon:
        return key.strip(_WHITE).lower(), value.strip(_WHITE)
    words = line.split()
    return (words[0].lower(), words[1]) if len(words) == 2 else ("", "")


def _token(value: str) -> str:
    """Return the product token of a user-agent line in lower case; "*" for all agents."""
    if value[:1] == "*" and value[1:2].strip(_WHITE) == "":
        return "*"
    found = _TOKEN.match(value)
    return found[0].lower() if found else ""

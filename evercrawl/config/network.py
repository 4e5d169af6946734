"""Kinds of setting values for networks, addresses, proxies, files, user agents and regular expressions."""

import re
from collections.abc import Callable

from evercrawl.config.page_patterns import text_search
from evercrawl.config.secrets import REFERENCE
from evercrawl.config.values import ValueKind, each

_AGENT = re.compile(r"[A-Za-z_-]+(/[!-~]+)?( [ -~]+)?")
_CONTACT = re.compile(r"(https?://|mailto:)[!-'*-~]+|[!-'*-?A-~]+@[!-'*-?A-~]+")
_SIZED = re.compile(r"(.+?)(:\d[\w.]*)")
_SITE = re.compile(r"[^\s/:@.]+(\.[^\s/:@.]+)*")
_HOST = re.compile(r"[\w-]+(\.[\w-]+)+|localhost")
ALL = "all"
"""Stands for every page of a crawl."""
_USER = r"(?:(?:[!$&-+\-.0-;=A-Z\[\]^_`a-z{|}~]|%(?!00)[0-9A-Fa-f]{2})+@)?"  # without , / ? # @ and other %
_PORT = r"(?::(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?"
PROXY = re.compile(rf"(?i:https?|socks4a?|socks5h?)://{_USER}(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]){_PORT}/?")
"""A proxy's URL as libcurl reads it: it would print one that it cannot read, password included."""
_WEB_ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(:\d{1,5})?(/[!#-\[\]-~]*)?")
_WEBHOOK = re.compile(rf"https?://[!-~]+|{REFERENCE}")
_OBJECTS = re.compile(r"(s3a?|gs|az|azure|abfss?|adl|file)://[!-?A-~]+")
_PROXY = re.compile(rf"({PROXY.pattern})(\s*,\s*({PROXY.pattern}))*|{REFERENCE}")


def pattern() -> ValueKind:
    """Return the kind of regular expressions."""
    return ValueKind("REGEX", "a regular expression (Python syntax)", _pattern)


def page_pattern() -> ValueKind:
    """Return the kind of regular expressions that are searched for in pages, in linear time.

    >>> page_pattern().read("Please log in"), page_pattern().metavar
    ('Please log in', 'REGEX')
    """
    return ValueKind("REGEX", "a regular expression (as in Python, but matched by RE2)", _page_pattern)


def patterns() -> ValueKind:
    """Return the kind of lists of regular expressions."""
    return each(pattern(), "a list of regular expressions (Python syntax)")


def networks() -> ValueKind:
    """Return the kind of lists of networks.

    Examples
    --------
    >>> networks().read(["127.0.0.1/8", "::1"])
    ('127.0.0.0/8', '::1/128')
    """
    return each(ValueKind("CIDR", "", _network), "a list of networks such as 127.0.0.0/8 or fd00::/8")


def objects() -> ValueKind:
    """Return the kind of URLs of object storage, without credentials.

    Examples
    --------
    >>> objects().read("s3://bucket/prefix")
    's3://bucket/prefix'
    """
    return ValueKind(
        "URL", "empty, or the URL of object storage such as s3://bucket/prefix, without credentials", _objects
    )


def options() -> ValueKind:
    """Return the kind of lists of values for parameters by name.

    Examples
    --------
    >>> options().read(["new_share = 0.2", "chile.a=2"])
    ('new_share=0.2', 'chile.a=2')
    """
    return each(ValueKind("NAME=VALUE", "", _option), "a list such as new_share=0.2 or chile.a=2")


def sites() -> ValueKind:
    """Return the kind of lists of names of sites or hosts.

    Examples
    --------
    >>> sites().read(["Example.org", "news.example.com"])
    ('example.org', 'news.example.com')
    """
    return each(ValueKind("SITE", "", _matching(_SITE, str.lower)), "a list of names such as example.org")


def name_servers() -> ValueKind:
    """Return the kind of ADDR:PORT, or several with commas between them, or nothing.

    Examples
    --------
    >>> name_servers().read("127.0.0.1"), name_servers().read("[::1]:5353, 127.0.0.1")
    ('127.0.0.1:53', '[::1]:5353,127.0.0.1:53')
    """
    return ValueKind("ADDR:PORT", "an address and port such as 127.0.0.1:53 or [::1]:53", _addresses)


def proxy() -> ValueKind:
    """Return the kind of proxy URLs, one or several with commas between them, or of references to them, or nothing."""
    return ValueKind(
        "URL",
        "a proxy such as http://127.0.0.1:3128 or socks5h://127.0.0.1:1080, several with commas, or env:NAME or "
        "file:PATH of such",
        _matching(_PROXY),
    )


def webhook() -> ValueKind:
    """Return the kind of URLs that take deliveries, or of references to them, or nothing."""
    return ValueKind(
        "URL", "an http or https URL such as https://example.org/hooks, or env:NAME or file:PATH", _matching(_WEBHOOK)
    )


def pages() -> ValueKind:
    """Return the kind of words that select pages, or nothing; see `meant`.

    Examples
    --------
    >>> pages().read("Shop.Example.org"), pages().read("/news/")
    ('shop.example.org', '/news/')
    """
    return ValueKind("PAGES", "all, a site or host such as example.org, or an expression found in URLs", _pages)


def meant(word: str) -> tuple[str, str]:
    """Return the site and the expression that a word stands for; "" for the one that it does not name.

    Examples
    --------
    >>> meant("all"), meant("example.org"), meant("/news/")
    (('', ''), ('example.org', ''), ('', '/news/'))
    """
    if word in ("", ALL):
        return "", ""
    return (word, "") if _HOST.fullmatch(word) else ("", word)


def reference() -> ValueKind:
    """Return the kind of references to a secret, or nothing.

    >>> reference().read("env:SECRET")
    'env:SECRET'
    """
    return ValueKind("REF", "env:NAME or file:PATH, where the secret is", _matching(re.compile(REFERENCE)))


def web_address() -> ValueKind:
    """Return the kind of https URLs of sites, or nothing.

    >>> web_address().read("https://bot.example.org")
    'https://bot.example.org'
    """
    return ValueKind("URL", "an https URL such as https://bot.example.org", _matching(_WEB_ADDRESS))


def contact() -> ValueKind:
    """Return the kind of ways to reach a person, or nothing."""
    return ValueKind("URL|MAIL", "a web page or mail address, such as https://example.org/bot", _matching(_CONTACT))


def file() -> ValueKind:
    """Return the kind of files that exist, or nothing; kept as an absolute path."""
    return ValueKind("FILE", "a file that can be read", _file)


def folder() -> ValueKind:
    """Return the kind of folders, which need not exist; kept as an absolute path."""
    return ValueKind("FOLDER", "a folder", _folder)


def strategy() -> ValueKind:
    """Return the kind of strategy names; `-` and `_` are equivalent.

    Examples
    --------
    >>> strategy().read("breadth-first"), strategy().read("my-tools.orders:Mine")
    ('breadth_first', 'my-tools.orders:Mine')
    """
    return ValueKind("NAME", "the name of a strategy, or package.module:Class", _strategy)


def window() -> ValueKind:
    """Return the kind of windows: the name of a strategy, optionally followed by a size.

    Examples
    --------
    >>> window().read("two-windows"), window().read("interpolation:90d"), window().read("variable:8")
    ('two_windows', 'interpolation:90d', 'variable:8')
    """
    form = "the name of a window, with a size or none, such as variable:8, interpolation:4, fixed:8v or exponential:90d"
    return ValueKind("NAME[:SIZE]", form, _window)


def agent() -> ValueKind:
    """Return the kind of User-Agent texts; the name at the start is the product token matched in robots.txt.

    Examples
    --------
    >>> agent().read("tidy-bot/2.0 (+https://example.org/bot)")
    'tidy-bot/2.0 (+https://example.org/bot)'
    """
    form = "a name of letters, - and _ (as robots.txt allows), optionally with a version: mybot/1.0"
    return ValueKind("AGENT", form, _agent)


def _text(raw: object) -> str:
    if not isinstance(raw, str):
        raise ValueError
    return raw.strip()


def _pages(raw: object) -> str:
    if not isinstance(raw, str):
        raise ValueError
    word = raw.strip()
    if word.lower() == ALL or _HOST.fullmatch(word):
        return word.lower()
    return str(pattern().read(word)) if word else ""


def _pattern(raw: object) -> str:
    try:
        re.compile(_text(raw))
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"{raw!r} does not compile: {error}") from error
    return _text(raw)


def _page_pattern(raw: object) -> str:
    text = _pattern(raw)
    try:
        text_search(text)
    except re.error as error:
        raise ValueError(f"{raw!r} cannot be used: {error}") from error
    return text


def _option(raw: object) -> str:
    name, found, value = raw.partition("=") if isinstance(raw, str) else ("", "", "")
    if not found or not re.fullmatch(r"[\w.-]+", name.strip()):
        raise ValueError
    return f"{name.strip()}={value.strip()}"


def _network(raw: object) -> str:
    from ipaddress import ip_network

    return str(ip_network(_text(raw), strict=False))


def _addresses(raw: object) -> str:
    return ",".join(_address(each.strip()) for each in _text(raw).split(",") if each.strip())


def _address(value: str) -> str:
    from ipaddress import ip_address

    if value.startswith("["):
        name, _, port = value[1:].partition("]")
        port = port.removeprefix(":")
    else:
        name, _, port = (value, "", "") if value.count(":") > 1 else value.partition(":")
    ip = ip_address(name)
    if not 0 < int(port or "53") < 65536:
        raise ValueError
    return f"[{ip}]:{int(port or 53)}" if ip.version == 6 else f"{ip}:{int(port or 53)}"


def _matching(form: re.Pattern[str], tidy: Callable[[str], str] = str) -> Callable[[object], str]:
    def read(raw: object) -> str:
        value = tidy(_text(raw))
        if value and not form.fullmatch(value):
            raise ValueError
        return value

    return read


def _file(raw: object) -> str:
    from pathlib import Path

    value = _text(raw)
    if value and not Path(value).is_file():
        raise ValueError("no such file")
    return str(Path(value).absolute()) if value else ""


def _folder(raw: object) -> str:
    from pathlib import Path

    value = _text(raw)
    return str(Path(value).absolute()) if value else ""


def _strategy(raw: object) -> str:
    value = _text(raw)
    if not re.fullmatch(r"[A-Za-z][\w-]*|[\w.-]+:\w+", value):
        raise ValueError
    return value if ":" in value else value.replace("-", "_")


def _window(raw: object) -> str:
    value = _text(raw)
    name, size = found.groups() if (found := _SIZED.fullmatch(value)) else (value, "")
    return _strategy(name) + (size or "")


def _objects(raw: object) -> str:
    value = _text(raw)
    if value and not _OBJECTS.fullmatch(value):
        raise ValueError
    return value.rstrip("/")


def _agent(raw: object) -> str:
    value = _text(raw)
    if not _AGENT.fullmatch(value):
        raise ValueError
    return value

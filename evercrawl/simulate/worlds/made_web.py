"""A small simulated web: the response of each URL, as a pure function of path, validators and time."""

import random
import zlib
from dataclasses import dataclass, field
from hashlib import blake2b

_WORDS = ("archive", "cash", "crawl", "delay", "due", "frontier", "graph", "host", "journal", "link", "queue", "rate")
ROBOTS = "User-agent: *\nDisallow: /private/\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP response."""

    status: int
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class MadeWeb:
    """Hosts with pages that link to each other.

    Page i of a host is at `/p/i` and links to pages 2i+1 and 2i+2, so all are reachable from `/p/0`; `/` shows page 0
    and links to one of each special page below. Some pages change every `change_every_s`.

    * `/private/i` is disallowed by robots.txt, `/gone` is 404, `/copy` is an exact copy of `/p/1`
    * `/moved` redirects permanently to `/p/2`, `/hop` temporarily to `/hop2`, and that to `/p/3`

    Attributes
    ----------
    seed
        Random seed of links and words.
    origins
        `http://host:port` of each host.
    pages
        Pages of each host, at least 4.
    change_every_s
        Time between contents of a changing page; one in `changing` pages changes, 0 for none.
    """

    seed: int
    origins: tuple[str, ...]
    pages: int = 30
    change_every_s: float = 3.0
    changing: int = 5

    def urls(self) -> dict[str, str]:
        """Return every URL that a complete crawl requests, with its expected outcome.

        Of the two URLs of a copy, the first visited is ok and the other a duplicate; both are listed as copy.

        Examples
        --------
        >>> web = MadeWeb(seed=1, origins=("http://127.0.1.1:8080",), pages=4)
        >>> for url, outcome in web.urls().items():
        ...     print(url.removeprefix("http://127.0.1.1:8080"), outcome)
        / ok
        /p/0 ok
        /p/1 copy
        /p/2 ok
        /p/3 ok
        /copy copy
        /moved redirect
        /hop redirect
        /hop2 redirect
        /gone gone
        /private/0 refused
        """
        paths = {"/": "ok"} | {f"/p/{i}": "ok" for i in range(self.pages)} | {"/p/1": "copy", "/copy": "copy"}
        paths |= {
            "/moved": "redirect",
            "/hop": "redirect",
            "/hop2": "redirect",
            "/gone": "gone",
            "/private/0": "refused",
        }
        return {origin + path: outcome for origin in self.origins for path, outcome in paths.items()}

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        """Return the response of `origin` to a GET of `path` at instant `at`; `headers` have lower-case names."""
        moves = {"/moved": (301, "/p/2"), "/hop": (302, "/hop2"), "/hop2": (302, "/p/3")}
        if path in moves:
            status, target = moves[path]
            return Answer(status, {"Location": target, "Content-Type": "text/plain"}, b"over there\n")
        if path == "/robots.txt":
            return Answer(200, {"Content-Type": "text/plain", "Cache-Control": "max-age=3600"}, ROBOTS.encode())
        content = self.content(origin, path, at)
        if content is None:
            return Answer(404, {"Content-Type": "text/html"}, b"<title>Not here</title>")
        return _conditional(content, headers)

    def content(self, origin: str, path: str, at: float) -> bytes | None:
        """Return the HTML of a page at instant `at`; None if there is no such page."""
        number = _number("/p/1" if path == "/copy" else "/p/0" if path == "/" else path)
        if number is None or number >= self.pages:
            return None
        version = int(at // self.change_every_s) if self.changes(number) else 0
        links = self._links(origin, number)
        if path == "/":
            links += ["/p/0", "/copy", "/moved", "/hop", "/gone", "/private/0"]
        draw = random.Random(f"{self.seed} {self.origins.index(origin)} {number} {version}")
        text = " ".join(draw.choice(_WORDS) for _ in range(200))
        title = f"Page {number} of {origin}" if path != "/" else f"Welcome to {origin}"
        anchors = " ".join(f'<a href="{link}">{link}</a>' for link in links)
        return (
            f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
            f"<h1>{title}</h1><p>Version {version}. {text}.</p><p>{anchors}</p></html>\n"
        ).encode()

    def changes(self, number: int) -> bool:
        """Return whether page `number` of each host changes; pages 0 to 3 never do, so that copies stay copies."""
        return self.changing > 0 and number > 3 and number % self.changing == 0

    def _links(self, origin: str, number: int) -> list[str]:
        draw = random.Random(f"{self.seed} {self.origins.index(origin)} {number}")
        tree = [i for i in (2 * number + 1, 2 * number + 2) if i < self.pages]
        near = [f"/p/{i}" for i in [*tree, *(draw.randrange(self.pages) for _ in range(4))]]
        far = [f"{draw.choice(self.origins)}/p/{draw.randrange(self.pages)}" for _ in range(2)]
        return near + far


def gzipped(body: bytes, level: int = 9) -> bytes:
    """Return `body` in one gzip member: the same bytes with every version of Python, unlike `gzip.compress`.

    Examples
    --------
    >>> gzipped(b"page")[:10].hex()
    '1f8b0800000000000203'
    """
    return zlib.compress(body, level, zlib.MAX_WBITS | 16)


def _number(path: str) -> int | None:
    start, _, number = path.rpartition("/")
    return int(number) if start in ("/p", "/private") and number.isdecimal() else None


def _conditional(content: bytes, headers: dict[str, str]) -> Answer:
    tag = f'"{blake2b(content, digest_size=8).hexdigest()}"'
    about = {"ETag": tag, "Content-Type": "text/html; charset=utf-8"}
    if tag in headers.get("if-none-match", ""):
        return Answer(304, about)
    if "gzip" in headers.get("accept-encoding", ""):
        return Answer(200, about | {"Content-Encoding": "gzip"}, gzipped(content))
    return Answer(200, about, content)

"""A random web with every difficulty that a crawl must handle: pages change their kind for a time, then settle."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import formatdate
from functools import lru_cache
from typing import Final, NamedTuple

from evercrawl.simulate.surroundings.network import NoAnswerError
from evercrawl.simulate.worlds.made_web import Answer, gzipped

WORDS: Final = (
    "archive", "cash", "crawl", "delay", "due", "frontier", "graph", "host", "journal", "link", "page", "queue", "rate",
    "record", "refresh", "segment", "site", "visit", "window", "worth",
)  # fmt: skip
PRIVATE: Final = "/private/"
CALENDAR: Final = "/day/"
_KINDS: Final = {
    "page": 60, "copy": 6, "canonical": 5, "moved": 5, "hop": 4, "ring": 1, "gone": 6, "forbidden": 2, "text": 3,
    "empty": 1, "noindex": 2, "broken": 2,
}  # fmt: skip
ALIVE: Final = frozenset({"page", "canonical", "copy", "text", "noindex"})
"""What answers with content of some kind."""
_HTML: Final = "text/html; charset=utf-8"


class Face(NamedTuple):
    """The state of a URL for a while.

    Attributes
    ----------
    kind
        One of `_KINDS`, "front", "day" or "nothing".
    since
        Start of the state (s since the epoch).
    version
        Ordinal number of the state.
    """

    kind: str
    since: float
    version: int


@dataclass(frozen=True, slots=True)
class DrawnPlan:
    """The plan of a random web.

    Attributes
    ----------
    seed
        Draws everything.
    origins
        Of each host; a host may serve several ports.
    pages
        Pages per origin, besides its front page.
    began_at, settles_at
        Between these instants pages change their kind; afterwards only their words change.
    turn_s
        Minimum duration of a page's kind.
    calendars
        Number of origins, the first ones, with an endless calendar.
    words_s
        Time between contents of a changing page; a third change.
    """

    seed: int
    origins: tuple[str, ...]
    pages: int
    began_at: float
    settles_at: float
    turn_s: float = 900.0
    calendars: int = 0
    words_s: float = 400.0


class DrawnWeb:
    """The response of each URL, as a pure function of seed, URL and instant.

    Every front page links to some pages and to other front pages. Besides pages there are copies, permanent and
    temporary redirects (some in a cycle), canonical URLs, pages that come and go, forbidden pages, plain text,
    noindex pages, and invalid responses. Some links are nofollow, and some lead to `/private/`, which robots.txt must
    disallow. Some origins have a feed, no validators, a wrong clock, or soft 404s; robots.txt and sitemaps are
    provided elsewhere.

    Examples
    --------
    >>> web = DrawnWeb(DrawnPlan(7, ("http://a.example",), pages=5, began_at=0.0, settles_at=0.0))
    >>> web.answer("http://a.example", "/", {}, at=1.0).status
    200
    >>> web.urls[:2], web.face("http://a.example/", 1.0).kind
    (['http://a.example/', 'http://a.example/0'], 'front')
    """

    def __init__(self, plan: DrawnPlan) -> None:
        self.plan = plan
        self.origins = plan.origins
        self.urls = [f"{origin}/{path}" for origin in plan.origins for path in ("", *map(str, range(plan.pages)))]
        self._known = set(self.urls)
        self.face = lru_cache(maxsize=65_536)(self._face)
        self._written = lru_cache(maxsize=4096)(self._write)

    @property
    def seeds(self) -> list[str]:
        """Return the front page of every other origin, including the first."""
        return [f"{origin}/" for origin in self.origins[::2]]

    def alive(self, url: str, at: float) -> bool:
        """Return whether there is content at a URL."""
        return self.face(url, at).kind in ALIVE | {"front", "day"}

    def forbidden(self, url: str) -> bool:
        """Return whether robots.txt disallows it, in fair weather."""
        return url.partition("://")[2].partition("/")[2].startswith(PRIVATE.lstrip("/"))

    def listed(self, origin: str, at: float) -> list[tuple[str, float]]:
        """Return the entries of an origin's sitemap: some of its pages, with possibly wrong dates."""
        draw = self._draw("listing", origin)
        listed, wrong = draw.sample(range(self.plan.pages), min(self.plan.pages, 8)), draw.random() < 0.2
        urls = [f"{origin}/{number}" for number in listed]
        return [(url, at if wrong else self._version(url, self.face(url, at), at)[1]) for url in urls]

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        """Return the response of `origin` to a GET of `path`; `headers` have lower-case names.

        Raises
        ------
        NoAnswerError
            The response is invalid.
        """
        if path == "/feed.xml":
            return self._feed(origin, at)
        url = origin + path
        face = self.face(url, at)
        match face.kind:
            case "moved" | "hop" | "ring":
                status = {"moved": 301, "hop": 302, "ring": 308}[face.kind]
                return Answer(status, {"Location": self._target(url, face)}, b"over there\n")
            case "gone" | "nothing" if self._draw("soft", origin).random() < 0.15:
                words = " ".join(self._draw("soft words", url, at).sample(WORDS, 2))
                body = f"<title>Oops</title><p>there is nothing here, dear visitor; try {words}</p>".encode()
                return Answer(200, {"Content-Type": _HTML}, body)
            case "gone" | "nothing":
                return Answer(410 if face.kind == "gone" else 404, {"Content-Type": _HTML}, b"<title>Not here</title>")
            case "forbidden":
                return Answer(403, {"Content-Type": "text/plain"}, b"no\n")
            case "broken":
                raise NoAnswerError("protocol", "the answer cannot be understood")
            case _:
                return self._content(url, face, headers, at)

    def _draw(self, *of: object) -> random.Random:
        return random.Random(f"{self.plan.seed} {' '.join(map(str, of))}")

    def _face(self, url: str, at: float) -> Face:
        plan = self.plan
        origin, _, path = url.partition("://")[2].partition("/")
        place = next((i for i, known in enumerate(plan.origins) if known.partition("://")[2] == origin), -1)
        if url not in self._known:
            day = path.removeprefix(CALENDAR.lstrip("/"))
            endless = f"/{path}".startswith(CALENDAR) and 0 <= place < plan.calendars and day.isdecimal()
            return Face("day" if endless or f"/{path}".startswith(PRIVATE) else "nothing", plan.began_at, 0)
        if not path:
            return Face("front", plan.began_at, 0)
        draw = self._draw("life", url)
        steady, shift_s = draw.random() < 0.6, draw.random() * plan.turn_s
        until = min(at, plan.settles_at) if not steady else plan.began_at
        turn = int((until - plan.began_at + shift_s) // plan.turn_s)
        since = max(plan.began_at, plan.began_at + turn * plan.turn_s - shift_s)
        kind = self._draw("kind", url, turn).choices(list(_KINDS), list(_KINDS.values()))[0]
        return Face(kind, since, turn)

    def _target(self, url: str, face: Face) -> str:
        if face.kind == "ring":
            return url if self._draw("ring", url).random() < 0.5 else self._other(url, "ring")
        return self._other(url, face.kind, face.version)

    def _other(self, url: str, *why: object) -> str:
        return self._draw("other", url, *why).choice(self.urls)

    def _content(self, url: str, face: Face, headers: dict[str, str], at: float) -> Answer:
        origin = self._origin(url)
        habits = self._draw("habits", origin)
        tags, dates, wrong, packed = (habits.random() < p for p in (0.6, 0.4, 0.2, 0.5))
        version, since = self._version(url, face, at)
        body = self._written(url, face, version)
        about = {"Content-Type": "text/plain" if face.kind == "text" else _HTML}
        if face.kind == "empty":
            about["Content-Length"] = "0"
        if tags:
            about["ETag"] = f'"{face.version}-{version}-{len(body)}"'
        if dates:
            about["Last-Modified"] = formatdate(at if wrong else since, usegmt=True)
        if tags and about["ETag"] in headers.get("if-none-match", ""):
            return Answer(304, about)
        if packed and "gzip" in headers.get("accept-encoding", ""):
            return Answer(200, about | {"Content-Encoding": "gzip"}, gzipped(body, 1))
        return Answer(200, about, body)

    def _version(self, url: str, face: Face, at: float) -> tuple[int, float]:
        """Return the number of the present words, and since when they are valid."""
        draw = self._draw("words", url)
        if face.kind == "copy" or draw.random() < 0.67:
            return 0, face.since
        every_s = self.plan.words_s * draw.choice([0.3, 1.0, 5.0])
        number = int((at - self.plan.began_at) // every_s)
        return number, max(face.since, self.plan.began_at + number * every_s)

    def _origin(self, url: str) -> str:
        scheme, _, rest = url.partition("://")
        return f"{scheme}://{rest.partition('/')[0]}"

    def _write(self, url: str, face: Face, version: int) -> bytes:
        if face.kind == "empty":
            return b""
        if face.kind == "copy":  # of a text shared by several pages
            return self._page("the same", 0, "A copy", self.urls[: 1 + self.plan.pages : 2][:4], "")
        of = self._draw("links", url, face.version)
        title = f"{url} {face.version}"
        if face.kind == "text":
            return f"{title} {self._text('text', url, version)}\n".encode()
        head = ""
        if face.kind == "canonical":
            head = f'<link rel="canonical" href="{self._other(url, "canonical", face.version)}">'
        if face.kind == "noindex":
            head = '<meta name="robots" content="noindex">'
        return self._page(url, version, title, self._links(url, face, of), head)

    def _links(self, url: str, face: Face, draw: random.Random) -> list[str]:
        origin = self._origin(url)
        if face.kind == "day":
            day = int(url.rpartition("/")[2]) if url.rpartition("/")[2].isdecimal() else 0
            return [f"{origin}/", *(f"{origin}{CALENDAR}{day * 3 + i}" for i in (1, 2, 3))]
        near = [f"{origin}/{draw.randrange(self.plan.pages)}" for _ in range(draw.randrange(1, 7))]
        far = [draw.choice(self.urls) for _ in range(draw.choice([0, 0, 1, 3]))]
        if face.kind == "front":
            step = max(1, self.plan.pages // 12)
            near += [f"{origin}/{i}" for i in range(0, self.plan.pages, step)] + [f"{o}/" for o in self.origins]
            near += [f"{origin}{CALENDAR}0"] if self.origins.index(origin) < self.plan.calendars else []
        return near + far + ([f"{origin}{PRIVATE}{draw.randrange(4)}"] if draw.random() < 0.2 else [])

    def _page(self, of: str, version: int, title: str, links: Sequence[str], head: str) -> bytes:
        draw = self._draw("rel", of)
        rel = (' rel="nofollow"' if draw.random() < 0.1 else "" for _ in links)
        words = (draw.choice(WORDS) for _ in links)
        anchors = " ".join(f'<a href="{to}"{r}>{word}</a>' for to, r, word in zip(links, rel, words, strict=True))
        feed = '<link rel="alternate" type="application/atom+xml" href="/feed.xml">' if draw.random() < 0.2 else ""
        return (
            f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>{head}{feed}"
            f"<h1>{title}</h1><p>{self._text('text', of, version)}</p><p>{anchors}</p></html>\n"
        ).encode()

    def _text(self, *of: object) -> str:
        return " ".join(self._draw(*of).choices(WORDS, k=40))

    def _feed(self, origin: str, at: float) -> Answer:
        """Return a feed of the sitemap's entries, if the origin has one."""
        if self._draw("feed", origin).random() < 0.2:
            return Answer(404, {"Content-Type": "text/plain"}, b"no\n")
        entries = ((url, datetime.fromtimestamp(int(date), UTC).isoformat()) for url, date in self.listed(origin, at))
        rows = "".join(f'<entry><link href="{url}"/><updated>{date}</updated></entry>' for url, date in entries)
        text = f'<feed xmlns="http://www.w3.org/2005/Atom">{rows}</feed>'
        return Answer(200, {"Content-Type": "application/xml"}, text.encode())

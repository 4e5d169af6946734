"""Sites that go on without end beside pages that people wrote, and large archives that do end, drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from functools import lru_cache
from hashlib import blake2b
from typing import Final, NamedTuple

import numpy as np

from evercrawl.simulate.living.documentation import DocumentationWeb
from evercrawl.simulate.living.text import Sentences, page
from evercrawl.simulate.surroundings.network import Delivery
from evercrawl.simulate.worlds.made_web import Answer

_HTML: Final = {"Content-Type": "text/html; charset=utf-8"}
_FAR: Final = 1_000_000  # numbers of made-up pages that look like those of real ones
_START: Final = date(2026, 1, 1)


class AnnexPage(NamedTuple):
    """What a page says: of which texts it is made, and the paths that it links to."""

    texts: Sequence[str]
    links: Sequence[str]


class Annex(NamedTuple):
    """Pages that hang on a site.

    Attributes
    ----------
    entrance
        The path that a page of the site links to.
    write
        Path -> what is there; None where there is nothing.
    paths
        All of its pages where it ends; none where it does not.
    """

    entrance: str
    write: Callable[[str], AnnexPage | None]
    paths: Sequence[str] = ()


def _drawn(about: str, below: int) -> int:
    """Return a number below another, by a hash."""
    return int.from_bytes(blake2b(about.encode(), digest_size=8).digest(), "big") % below


def _numbered(prefix: str, path: str, suffix: str = "") -> int:
    """Return the number in a path of a form; -1 where it has another."""
    if not (path.startswith(prefix) and path.endswith(suffix)):
        return -1
    number = path[len(prefix) : len(path) - len(suffix)]
    return int(number) if number.isdecimal() and len(number) < 30 else -1


def days(branches: int, prefix: str = "/calendar/", suffix: str = "", first: int = 0) -> Annex:
    """Return days that each lead to so many new ones."""

    def write(path: str) -> AnnexPage | None:
        number = _numbered(prefix, path, suffix) - first
        if number < 0:
            return None
        later = range(number * branches + 1, (number + 1) * branches + 1)
        return AnnexPage([path], ["/", *(f"{prefix}{first + day}{suffix}" for day in later)])

    return Annex(f"{prefix}{first}{suffix}", write)


def window(reach: int, prefix: str = "/calendar/", suffix: str = "", first: int = _FAR) -> Annex:
    """Return days that each link to so many before and after them."""

    def write(path: str) -> AnnexPage | None:
        day = _numbered(prefix, path, suffix)
        if day < 0:
            return None
        near = [f"{prefix}{other}{suffix}" for other in range(day - reach, day + reach + 1) if other != day]
        return AnnexPage([path], ["/", *near])

    return Annex(f"{prefix}{first}{suffix}", write)


def dated() -> Annex:
    """Return days whose date is a folder, each of which links to its neighbours, month and year."""

    def write(path: str) -> AnnexPage | None:
        parts = path.strip("/").split("/")
        if len(parts) not in (2, 3, 4) or parts[0] != "events" or not all(part.isdecimal() for part in parts[1:]):
            return None
        numbers = [int(part) for part in parts[1:]] + [1, 1]
        day = date(*numbers[:3])
        step = (365, 31, 1)[len(parts) - 2]
        near = [day - timedelta(step), day + timedelta(step)]
        forms = ["/events/%Y/", "/events/%Y/%m/", "/events/%Y/%m/%d/"][: len(parts) - 1]
        links = [day.strftime(form) for form in forms[:-1]] + [other.strftime(forms[-1]) for other in near]
        if len(parts) == 3:
            links += [f"{path}{number:02}/" for number in range(1, 29)]
        if len(parts) == 2:
            links += [f"{path}{number:02}/" for number in range(1, 13)]
        return AnnexPage([path], ["/", *links])

    return Annex(_START.strftime("/events/%Y/%m/%d/"), write)


def facets(keys: int = 6, values: int = 8) -> Annex:
    """Return lists of a shop, which any choice of filters narrows: each shows what is left of 300 things.

    A filter alone makes a list that people want; choices of several are beyond count.
    """

    def write(path: str) -> AnnexPage | None:
        if not path.startswith("/shop"):
            return None
        chosen = dict(pair.split("=") for pair in path.partition("?")[2].split("&") if "=" in pair)
        links = ["/"]
        for key in range(keys):
            for value in range(values):
                other = chosen | {f"f{key}": str(value)}
                links.append("/shop?" + "&".join(f"{name}={of}" for name, of in sorted(other.items())))
        left = [n for n in range(300) if all(_drawn(f"{name} {n}", values) == int(of) for name, of in chosen.items())]
        return AnnexPage([f"thing {n}" for n in left[:10]] or ["nothing"], links)

    return Annex(
        "/shop", write, ["/shop", *(f"/shop?f{key}={value}" for key in range(keys) for value in range(values))]
    )


def sessions(pages: int = 10) -> Annex:
    """Return a few pages with a session in their addresses, which every page draws anew."""

    def write(path: str) -> AnnexPage | None:
        head, _, _session = path.partition("?sid=")
        number = _numbered("/basket/", head)
        if not 0 <= number < pages:
            return None
        drawn = f"{_drawn(path, 1 << 40):x}"
        return AnnexPage([head], ["/", *(f"/basket/{other}?sid={drawn}{other}" for other in range(pages))])

    return Annex("/basket/0?sid=1", write)


def orders(columns: int = 9) -> Annex:
    """Return a table that may be sorted by every permutation of its columns; rows are the same, in another order."""

    def write(path: str) -> AnnexPage | None:
        by = path.removeprefix("/table?sort=").split(",")
        if not path.startswith("/table?sort=") or sorted(by) != [str(i) for i in range(columns)]:
            return None
        links = [",".join([*by[:i], by[i + 1], by[i], *by[i + 2 :]]) for i in range(columns - 1)]
        links += [",".join([key, *(other for other in by if other != key)]) for key in by[1:]]
        rows = sorted(range(30), key=lambda row: [_drawn(f"{key} {row}", 3) for key in by])
        return AnnexPage([f"row {row}" for row in rows], ["/", *(f"/table?sort={order}" for order in links)])

    return Annex("/table?sort=" + ",".join(str(i) for i in range(columns)), write)


def maze(branches: int = 5) -> Annex:
    """Return a trap for crawlers: words for folders, prose that no other page has, links that go deeper for ever."""

    def write(path: str) -> AnnexPage | None:
        parts = path.strip("/").split("/")
        if parts[0] != "thoughts" or len(parts) > 200:
            return None
        words = [f"{'aeiou'[_drawn(f'{path} {i}', 5)]}{_drawn(f'{path}{i}', 10**6):x}" for i in range(branches)]
        words = ["".join(chr(97 + (ord(letter) * 7) % 26) for letter in word) for word in words]
        home = "/" + "/".join(parts[: max(len(parts) // 2, 1)]) + "/"
        return AnnexPage([path], ["/", home, *(f"{path}{word}/" for word in words)])

    return Annex("/thoughts/", write)


def folders_again() -> Annex:
    """Return a page that a wrong relative link finds in every folder below itself."""

    def write(path: str) -> AnnexPage | None:
        if not path.startswith("/help/"):
            return None
        return AnnexPage(["help"], ["/", f"{path}about/", f"{path}help/"])

    return Annex("/help/", write)


TRAPS: Final[dict[str, Callable[[], Annex]]] = {
    "days, 1 link each": lambda: days(1),
    "days, 3 links each": lambda: days(3),
    "days, 10 links each": lambda: days(10),
    "days as a parameter": lambda: days(2, "/calendar?day="),
    "days as folders, months, years": dated,
    "days, 3 on each side": lambda: window(3),
    "days, 7 on each side": lambda: window(7),
    "days, 30 on each side": lambda: window(30),
    "addresses of the site, 1 link": lambda: days(1, "/chapter-1/page-", ".html", _FAR),
    "addresses of the site, 10 links": lambda: days(10, "/chapter-1/page-", ".html", _FAR),
    "addresses of the site, 7 beside": lambda: window(7, "/chapter-1/page-", ".html"),
    "a chain of next pages": lambda: days(1, "/log/page-", ".html"),
    "choices of filters": facets,
    "sessions in addresses": sessions,
    "orders of a table": orders,
    "generated prose, words as folders": maze,
    "relative links that go wrong": folders_again,
}
"""Parts of sites that have no end, or none that a crawl would see."""


def newspaper(articles: int) -> Annex:
    """Return articles by date: a front page, years, months and days that list them; each links to some others."""
    per_day = 5
    all_days = [_START - timedelta(n) for n in range(-(-articles // per_day))]
    of_day = {
        day.strftime("/%Y/%m/%d/"): [
            day.strftime(f"/%Y/%m/%d/{_slug(n * per_day + i)}") for i in range(min(per_day, articles - n * per_day))
        ]
        for n, day in enumerate(all_days)
    }
    listed = [path for paths in of_day.values() for path in paths]
    place = {path: n for n, path in enumerate(listed)}
    months, years = dict[str, list[str]](), dict[str, list[str]]()
    for day in of_day:
        months.setdefault(day[:9], []).append(day)
    for month in months:
        years.setdefault(month[:6], []).append(month)

    def write(path: str) -> AnnexPage | None:
        if path == "/archive/":
            return AnnexPage([path], ["/", *years, *listed[:10]])
        below = years.get(path) or months.get(path) or of_day.get(path)
        if below is not None:
            return AnnexPage([path], ["/archive/", *below])
        n = place.get(path)
        if n is None:
            return None
        near = [listed[other] for other in (n - 1, n + 1, _drawn(path, len(listed))) if 0 <= other < len(listed)]
        return AnnexPage([path], ["/", path[:12], *near])

    return Annex("/archive/", write, ["/archive/", *years, *months, *of_day, *listed])


def diary(entries: int) -> Annex:
    """Return days of which each leads to the one before alone, and to what was written on it."""

    def write(path: str) -> AnnexPage | None:
        day = _numbered("/diary/", path, "/")
        if 0 < day <= entries:
            before = [f"/diary/{day - 1}/"] if day > 1 else []
            return AnnexPage([path], ["/", *before, *(f"/diary/{day}/note-{i}" for i in range(9))])
        head, _, note = path.partition("/note-")
        day = _numbered("/diary/", head)
        return AnnexPage([path], ["/", f"{head}/"]) if 0 < day <= entries and note in set("012345678") else None

    notes = (f"/diary/{day}/{note}" for day in range(1, entries + 1) for note in ("", *(f"note-{i}" for i in range(9))))
    return Annex(f"/diary/{entries}/", write, list(notes))


def versions(pages: int, of: int = 20) -> Annex:
    """Return the same documentation in many versions; a page's text differs in a paragraph from that of another."""
    each = pages // of
    tree = DocumentationWeb(5, hosts=1, pages=each, depth=3)
    paths = [f"/docs/v{major // 5}.{major % 5}{path}" for major in range(of) for path in tree.paths]
    known = frozenset(paths)

    def write(path: str) -> AnnexPage | None:
        if path == "/docs/":
            return AnnexPage([path], ["/", *(f"/docs/v{major // 5}.{major % 5}/" for major in range(of))])
        if path not in known:
            return None
        version, inner = path[:10], path[10:]
        links = [version + link for link in tree.links(tree.origins[0], inner) or ()]
        return AnnexPage([*(f"{inner} {i}" for i in range(4)), path], ["/docs/", *links])

    return Annex("/docs/", write, ["/docs/", *paths])


def forum(threads: int) -> Annex:
    """Return a board of threads, 40 on each of its pages; these lead to the next five, the first and the last."""
    pages, per_page = -(-threads // 40), 40

    def write(path: str) -> AnnexPage | None:
        number = _numbered("/board?page=", path)
        if 0 < number <= pages:
            of = range((number - 1) * per_page, min(number * per_page, threads))
            near = {1, pages, *range(max(number - 2, 1), min(number + 6, pages + 1))} - {number}
            links = [*(f"/board?page={other}" for other in sorted(near)), *(f"/thread-{n}-{_slug(n)}" for n in of)]
            return AnnexPage([path], ["/", *links])
        number = int(path.split("-")[1]) if path.startswith("/thread-") and path.split("-")[1].isdecimal() else -1
        if not 0 <= number < threads or path != f"/thread-{number}-{_slug(number)}":
            return None
        also = [_drawn(f"{path} {i}", threads) for i in range(3)]
        return AnnexPage(
            [path], ["/", f"/board?page={number // per_page + 1}", *(f"/thread-{n}-{_slug(n)}" for n in also)]
        )

    return Annex(
        "/board?page=1",
        write,
        [*(f"/board?page={n}" for n in range(1, pages + 1)), *(f"/thread-{n}-{_slug(n)}" for n in range(threads))],
    )


def wiki(pages: int) -> Annex:
    """Return articles that link to 15 others each, mostly to those that many link to, and to the next by name."""
    names = [f"/wiki/{_slug(n).title()}" for n in range(pages)]
    place = {name: n for n, name in enumerate(names)}

    def write(path: str) -> AnnexPage | None:
        n = place.get(path)
        if n is None:
            return None
        draw = np.random.default_rng([7, n])
        others = (pages * draw.random(15) ** 2).astype(int).tolist()
        return AnnexPage([path], ["/", names[(n + 1) % pages], *(names[other] for other in others)])

    return Annex(names[0], write, names)


ARCHIVES: Final[dict[str, Callable[[int], Annex]]] = {
    "a newspaper by date": newspaper,
    "a diary, day by day": lambda pages: diary(pages // 10),
    "documentation in 20 versions": versions,
    "a forum": forum,
    "a wiki": wiki,
}
"""Large parts of sites that do end, by how many pages they have."""


@lru_cache(1 << 17)
def _slug(number: int) -> str:
    """Return a name of letters that no other number has."""
    letters = "bcdfghjklmnprstv"
    return "".join(letters[number >> 4 * i & 15] + "aeio"[number >> 4 * i & 3] for i in range(4, -1, -1))


class EndlessWeb:
    """One site of documentation, a page of which leads to a part of another make.

    Parameters
    ----------
    part
        What hangs on it.
    pages, depth
        Of the documentation.
    latency_s
        How long an answer takes.
    within
        Which page leads to the part.

    Examples
    --------
    >>> web = EndlessWeb(days(1), pages=40, depth=3)
    >>> web.links("/calendar/7")
    ['/', '/calendar/8']
    >>> web.is_endless("/calendar/7"), web.is_endless(web.documentation.paths[7])
    (True, False)
    """

    def __init__(
        self, part: Annex, *, pages: int = 200, depth: int = 5, latency_s: float = 0.02, within: int = 0, seed: int = 3
    ) -> None:
        self.seed, self.began_at = seed, 0.0
        self.documentation = DocumentationWeb(seed, hosts=1, pages=pages, depth=depth)
        self.origins = self.documentation.origins
        self.part = part
        self._pages = frozenset(self.documentation.paths)
        self._wanted = self._pages | frozenset(part.paths)
        self._from, self._latency_s = self.documentation.paths[within], latency_s
        self._sentences = Sentences(seed)

    @property
    def seeds(self) -> list[str]:
        """Return the front page."""
        return self.documentation.seeds

    @property
    def paths(self) -> Iterator[str]:
        """Return the pages that are to be read: the documentation's, and those of a part that ends."""
        yield from self.documentation.paths
        yield from self.part.paths

    def is_endless(self, path: str) -> bool:
        """Whether a path is none of those that are to be read."""
        return path not in self._wanted

    def links(self, path: str) -> list[str] | None:
        """Return the paths that a page links to; None where there is no page."""
        if (links := self.documentation.links(self.origins[0], path)) is not None:
            return [*links, self.part.entrance] if path == self._from else links
        written = self.part.write(path)
        return None if written is None else list(dict.fromkeys(written.links))

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        """Return what `origin` answers to a GET of `path`; `headers` have lower-case names."""
        links = None if path == "/robots.txt" else self.links(path)
        if links is None:
            return Answer(404, _HTML, b"<title>Not here</title>")
        tag = f'"{path}"'
        if tag in headers.get("if-none-match", ""):
            return Delivery(304, {"ETag": tag}, after_s=self._latency_s)
        written = None if path in self._pages else self.part.write(path)
        texts = [path] if written is None else written.texts
        told = [self._sentences.text(text, max(40 // len(texts), 4)) for text in texts]
        return Delivery(200, _HTML | {"ETag": tag}, page("A page", told, links), after_s=self._latency_s)

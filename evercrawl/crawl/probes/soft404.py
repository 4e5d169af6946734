"""Soft 404s: what a host makes up for an address where there is nothing, with a status that says all is well.

What it answers to two paths that cannot exist is compared with what it answers to others, word for word: the words that
both answers have must be there, and none that neither has, but for as many as the two answers themselves differ in
(a clock, a list of suggestions). A similarity hash would not do: on a page with a long menu a few words of its own do
not move it by a bit. The page's own address is left out of its text first, for such pages like to repeat it.

A host that answers everything with one page (a parked domain, an application that a browser has to run) is judged by
the same rule: its front page and its seeds are kept, and every other address is gone, for it holds nothing that the
front page does not.

References
----------
Bar-Yossef, Broder, Kumar, Tomkins (2004). Sic Transit Gloria Telae: Towards an Understanding of the Web's Decay,
section 3: a random path beside the suspect tells soft 404s.
"""

import html as entities
import re
from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import unquote_to_bytes

import msgspec

from evercrawl.parse import html
from evercrawl.parse.digest import checksum
from evercrawl.parse.urls import path_query

LETTERS: Final = 16
MOST_WORDS: Final = 5_000
_TOLERANCE: Final = 2  # times what the answers themselves differ in
_LEAST_SEGMENT: Final = 4  # bytes; a shorter one may be part of any word
_EXTENSION: Final = re.compile(r"\.[A-Za-z]{1,5}")


class AbsentPathAnswer(msgspec.Struct, frozen=True):
    """What a host answered to a path that cannot exist: a page, or a redirect.

    Attributes
    ----------
    words, digest, size_bytes
        Of the page: its different words, its own address left out; digest and size of its body.
    target
        Where it redirects; "" for a page.
    """

    words: frozenset[str] = frozenset()
    digest: int = 0
    size_bytes: int = 0
    target: str = ""


def folder_of(url: str) -> str:
    """Return the folder that a normalised URL lies in, with its slash at the end.

    Examples
    --------
    >>> folder_of("http://a.example/shop/list.php?page=2"), folder_of("http://a.example/")
    ('http://a.example/shop/', 'http://a.example/')
    """
    return url.partition("?")[0].rpartition("/")[0] + "/"


def impossible(url: str, random: Callable[[int], bytes]) -> str:
    """Return a URL beside `url` that cannot exist: random letters, and the extension of `url` if it has one.

    Examples
    --------
    >>> impossible("http://a.example/shop/list.php?page=2", lambda count: bytes(range(count)))
    'http://a.example/shop/abcdefghijklmnop.php'
    """
    name = "".join(chr(97 + byte % 26) for byte in random(LETTERS))
    last = url.partition("?")[0].rpartition("/")[2]
    dot = last.rfind(".")
    extension = last[dot:] if dot > 0 and _EXTENSION.fullmatch(last[dot:]) else ""
    return f"{folder_of(url)}{name}{extension}"


def page_answer(url: str, body: bytes, content_type: str) -> AbsentPathAnswer:
    """Return what a page says, as it is compared.

    Examples
    --------
    >>> page = b"<title>Oops</title><p>There is no /shop/nothing here."
    >>> sorted(page_answer("http://a.example/shop/nothing", page, "text/html").words)
    ['here.', 'is', 'no', 'oops', 'there']
    """
    document = html.read(_without(body, url), url, content_type, "", text=True)
    words = f"{document.title} {document.text}".lower().split(maxsplit=MOST_WORDS)[:MOST_WORDS]
    return AbsentPathAnswer(frozenset(words), checksum(body), len(body))


def redirect_answer(url: str, target: str) -> AbsentPathAnswer | None:
    """Return where a path that cannot exist leads; None where that follows from the path, as from http to https.

    Examples
    --------
    >>> redirect_answer("http://a.example/x/abcd", "http://a.example/login?next=/x/abcd").target
    'http://a.example/login'
    >>> redirect_answer("http://a.example/x/abcd", "https://a.example/x/abcd") is None
    True
    """
    name = url.rpartition("/")[2]
    plain, _, query = target.partition("?")
    if name in plain:
        return None
    return AbsentPathAnswer(target=plain if name in query else target)


def leads_alike(target: str, answers: Iterable[AbsentPathAnswer]) -> str:
    """Return where `target` is the place that paths lead to that cannot exist; "" where it is not.

    Examples
    --------
    >>> leads_alike("http://a.example/login?next=/y", [AbsentPathAnswer(target="http://a.example/login")])
    'http://a.example/login'
    """
    plain = target.partition("?")[0]
    return next((a.target for a in answers if a.target and a.target in (target, plain)), "")


def near_in_size(url: str, size_bytes: int, answers: Iterable[AbsentPathAnswer]) -> bool:
    """Whether a page is of a size at which it is worth comparing its words."""
    slack = 256 + 8 * len(url)
    pages = (answer.size_bytes for answer in answers if not answer.target)
    return any(5 * abs(size - size_bytes) <= max(size, size_bytes) + 5 * slack for size in pages)


def says_alike(page: AbsentPathAnswer, answers: Iterable[AbsentPathAnswer]) -> bool:
    """Whether a page says what the host says of paths that cannot exist.

    Examples
    --------
    >>> texts = "nothing here at 12:01", "nothing here at 12:02"
    >>> first, second = (AbsentPathAnswer(frozenset(text.split())) for text in texts)
    >>> says_alike(AbsentPathAnswer(frozenset("nothing here at 12:05".split())), [first, second])
    True
    >>> says_alike(AbsentPathAnswer(frozenset("a page on goats and bees at 12:05".split())), [first, second])
    False
    """
    pages = [answer for answer in answers if not answer.target]
    if any(page.digest and page.digest == answer.digest for answer in pages):
        return True
    if not pages or not page.words:
        return False
    common = pages[0].words.intersection(*(answer.words for answer in pages))
    every = frozenset[str]().union(*(answer.words for answer in pages))
    allowed = _TOLERANCE * max(len(answer.words - common) for answer in pages)
    return len(page.words - every) <= allowed and len(common - page.words) <= allowed


def _without(body: bytes, url: str) -> bytes:
    """Return a body without the address it came from, however that may be written in it."""
    path = path_query(url)
    plain = path.partition("?")[0]
    last = plain.rpartition("/")[2]
    stem = last.rpartition(".")[0]
    for said in (url, path, plain, last, stem):
        if len(said) >= _LEAST_SEGMENT:
            for form in {said.encode(), entities.escape(said).encode(), unquote_to_bytes(said)}:
                body = body.replace(form, b"")
    return body

"""Soft 404s: what a host shows at an address where there is nothing, with a success status.

Answers to two paths that cannot exist are compared with other pages word by word. A page is a soft 404 if it has all
words that both answers have, and no word that neither has, except for about as many words as the two answers
themselves differ in (a clock, a list of suggestions), and these have to be few. Answers that share less than half of
their words judge nothing: a host could make any page look like them. A similarity hash would not do: on a page with a
long menu, a few words of its own do not change one bit of the hash. The page's own address is first removed from its
text, because such pages often repeat it.

A host that answers everything with one page (a parked domain, an application that needs a browser) is judged by the
same rule: its front page and its seeds are kept. Every other address is gone, because it holds nothing that the front
page does not.

References
----------
Bar-Yossef, Broder, Kumar, Tomkins (2004). Sic Transit Gloria Telae: Towards an Understanding of the Web's Decay,
section 3: a random path beside the suspect tells soft 404s.
"""

import html as entities
import re
import zlib
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, Final
from urllib.parse import unquote_to_bytes

import msgspec
import numpy as np
from numpy.typing import NDArray

from evercrawl.parse import html
from evercrawl.parse.digest import checksum
from evercrawl.parse.urls import path_query

LETTERS: Final = 16
MOST_WORDS: Final = 5_000
MOST_BYTES: Final = 512 << 10
"""Maximum part of a page that is read for its words: the crawl's own process does this, one page after another."""
_TOLERANCE: Final = 2  # times the difference between the answers themselves
_MOST_OWN: Final = 0.2  # of the words that the answers share, which a page may have or lack besides
_LEAST_OWN: Final = 10  # words that it may have or lack in any case
_LEAST_SHARED: Final = 0.5  # of the shorter answer, or the answers say nothing
_LEAST_SEGMENT: Final = 4  # bytes; a shorter one may be part of any word
_EXTENSION: Final = re.compile(r"\.[A-Za-z]{1,5}")


class AbsentPathAnswer(msgspec.Struct, frozen=True):
    """A host's answer to a path that cannot exist: a page, or a redirect.

    Attributes
    ----------
    words, digest, size_bytes
        Of a page: hashes of its distinct words without its own address, as `hashed` returns them; the digest of its
        body, 0 if that is longer than what is read; and the body's size.
    target
        The target of a redirect; "" for a page.
    """

    words: bytes = b""
    digest: int = 0
    size_bytes: int = 0
    target: str = ""


def folder_of(url: str) -> str:
    """Return the folder of a normalised URL, with its final slash.

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


def hashed(words: Iterable[str]) -> bytes:
    """Return the 32-bit hashes of words, sorted and each once, four bytes each.

    Examples
    --------
    >>> hashed(["no", "page", "no"]) == hashed(["page", "no"]), len(hashed(["page", "no"]))
    (True, 8)
    """
    hashes = {zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in words}
    return np.array(sorted(hashes), "<u4").tobytes()


def page_answer(url: str, body: bytes, content_type: str, size_bytes: int | None = None) -> AbsentPathAnswer:
    """Return a page in the form in which answers are compared.

    Parameters
    ----------
    url, content_type
        Its address; the response's Content-Type.
    body, size_bytes
        The beginning of the body, of which `MOST_BYTES` are read; and the size of the body, if that is all of it.

    Examples
    --------
    >>> page = b"<title>Oops</title><p>There is no /shop/nothing here."
    >>> found = page_answer("http://a.example/shop/nothing", page, "text/html")
    >>> found.words == hashed(["oops", "there", "is", "no", "here."])
    True
    """
    size = len(body) if size_bytes is None else size_bytes
    document = html.read(_without(body[:MOST_BYTES], url), url, content_type, "", text=True, links=False)
    words = f"{document.title} {document.text}".lower().split(maxsplit=MOST_WORDS)[:MOST_WORDS]
    return AbsentPathAnswer(hashed(words), checksum(body) if size <= MOST_BYTES else 0, size)


def redirect_answer(url: str, target: str) -> AbsentPathAnswer | None:
    """Return the target of a path that cannot exist; None if it contains the path, as from http to https.

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
    """Return `target` if paths that cannot exist lead there too; else "".

    Examples
    --------
    >>> leads_alike("http://a.example/login?next=/y", [AbsentPathAnswer(target="http://a.example/login")])
    'http://a.example/login'
    """
    plain = target.partition("?")[0]
    return next((a.target for a in answers if a.target and a.target in (target, plain)), "")


def near_in_size(url: str, size_bytes: int, answers: Iterable[AbsentPathAnswer]) -> bool:
    """Whether the size of a page is near enough to an answer's for a comparison of words."""
    slack = 256 + 8 * len(url)
    pages = (answer.size_bytes for answer in answers if not answer.target)
    return any(5 * abs(size - size_bytes) <= max(size, size_bytes) + 5 * slack for size in pages)


def says_alike(page: AbsentPathAnswer, answers: Iterable[AbsentPathAnswer]) -> bool:
    """Whether a page has the same words as the host's answers to paths that cannot exist.

    Examples
    --------
    >>> texts = "nothing here at 12:01", "nothing here at 12:02"
    >>> first, second = (AbsentPathAnswer(hashed(text.split())) for text in texts)
    >>> says_alike(AbsentPathAnswer(hashed("nothing here at 12:05".split())), [first, second])
    True
    >>> says_alike(AbsentPathAnswer(hashed("a page on goats and bees at 12:05".split())), [first, second])
    False
    """
    pages = [answer for answer in answers if not answer.target]
    if any(page.digest and page.digest == answer.digest for answer in pages):
        return True
    if not pages or not page.words:
        return False
    words, each = _words(page), [_words(answer) for answer in pages]
    common: NDArray[Any] = reduce(np.intersect1d, each)
    every: NDArray[Any] = reduce(np.union1d, each)
    if len(common) < max(_LEAST_SHARED * min(len(one) for one in each), 1):
        return False
    differ = _TOLERANCE * max(len(one) - len(common) for one in each)
    allowed = min(differ, max(_MOST_OWN * len(common), _LEAST_OWN))
    return _more(words, every) <= allowed and _more(common, words) <= allowed


def _words(answer: AbsentPathAnswer) -> NDArray[Any]:
    return np.frombuffer(answer.words, "<u4")


def _more(words: NDArray[Any], others: NDArray[Any]) -> int:
    """Return how many of some words are not among others."""
    return len(np.setdiff1d(words, others, assume_unique=True))


def _without(body: bytes, url: str) -> bytes:
    """Return a body without its own address, in any form in which a page may contain it."""
    path = path_query(url)
    plain = path.partition("?")[0]
    last = plain.rpartition("/")[2]
    stem = last.rpartition(".")[0]
    for said in (url, path, plain, last, stem):
        if len(said) >= _LEAST_SEGMENT:
            for form in {said.encode(), entities.escape(said).encode(), unquote_to_bytes(said)}:
                body = body.replace(form, b"")
    return body

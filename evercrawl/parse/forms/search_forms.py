"""Site search forms, whose results are an endless supply of pages, one for each query.

A form counts only if it is unambiguous: it is sent by GET, has a text field, and that field or the form has a name
usual for searches. A form to jump to a page of a listing does not count, because its targets are real pages.
"""

import re
from functools import lru_cache
from typing import Final

from evercrawl.parse.urls import normalise

MOST_FORMS: Final = 8
"""Forms of one page that are looked at."""

_LONGEST_BYTES: Final = 16_000  # of a form
_HEAD_BYTES: Final = 2_000
_LOUD: Final = re.compile(rb"<(?:HTML|HEAD|TITLE|BODY)\b")  # a page with tags in upper case
_INPUT: Final = re.compile(r"<input\b([^>]{0,2000})>", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(
    r"([a-z][a-z-]{0,40})\s{0,20}=\s{0,20}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE
)
_SEARCH: Final = re.compile(
    r"search|query|such(?:e|en|begriff|wort)|recherche|busca|cerca|zoek|szukaj|hleda", re.IGNORECASE
)
_NAMES: Final = frozenset(
    ("q", "qs", "s", "kw", "wd", "keyword", "keywords", "term", "terms", "words", "find", "ricerca")
)
_CALLED: Final = ("role", "action", "id", "class", "name")
_TEXTS: Final = ("", "text", "search")
_PLAIN: Final = re.compile(r"[\w.\-]{1,100}", re.ASCII)


def search_forms(source: bytes, base: str) -> list[str]:
    """Return the search forms of a page in UTF-8, each as its target address, `?`, and the name of its field.

    Parameters
    ----------
    source
        The page; any bytes.
    base
        The base of its addresses.

    Examples
    --------
    >>> search_forms(b"<form action=/find?lang=en><input type=hidden name=x><input name=q></form>", "http://a.example/b")
    ['http://a.example/find?q']
    >>> search_forms(b"<form method=post><input name=q></form><form><input name=page></form>", "http://a.example/b")
    []
    """
    tag = b"<FORM" if _LOUD.search(source[:_HEAD_BYTES]) else b"<form"
    found, at = list[str](), source.find(tag)
    for _ in range(MOST_FORMS):
        if at < 0:
            break
        end = source.find(b"</", at, at + _LONGEST_BYTES)
        after = source.find(tag, at + len(tag))
        while end >= 0 and source[end : end + 6].lower() != b"</form":
            end = source.find(b"</", end + 2, at + _LONGEST_BYTES)
        stop = min(place for place in (end, after, at + _LONGEST_BYTES) if place >= 0)
        form = _address(source[at:stop], base)
        if form and form not in found:
            found.append(form)
        at = after
    return found


def _address(form: bytes, base: str) -> str:
    said = _form(form)
    if said is None:
        return ""
    action, name = said
    address = normalise(action, base) if action else base
    return f"{address.partition('?')[0]}?{name}" if address else ""


@lru_cache(256)
def _form(form: bytes) -> tuple[str, str] | None:
    """Return a form's target address and the name of its field; None if it is no search form.

    The form is the same on most pages of a site.
    """
    head, _, rest = form.decode("utf-8", "replace").partition(">")
    about = _attributes(head[5:2000])
    if about.get("method", "get").strip().lower() != "get":
        return None
    said = _SEARCH.search(" ".join(about.get(name, "") for name in _CALLED)) is not None
    for tag in _INPUT.finditer(rest):
        field = _attributes(tag[1])
        name, kind = field.get("name", ""), field.get("type", "").strip().lower()
        if kind in _TEXTS and _PLAIN.fullmatch(name) and (said or kind == "search" or _named(name)):
            return about.get("action", "").strip(), name
    return None


def _named(name: str) -> bool:
    return name.lower() in _NAMES or _SEARCH.search(name) is not None


def _attributes(tag: str) -> dict[str, str]:
    """Return the attributes of a tag by lower-case name, the first of each."""
    found = dict[str, str]()
    for match in _ATTRIBUTE.finditer(tag):
        found.setdefault(match[1].lower(), match[2] or match[3] or match[4] or "")
    return found

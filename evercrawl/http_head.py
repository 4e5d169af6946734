r"""The head of an HTTP response, its status and fields, parsed in the same way everywhere.

The crawl reads heads as they arrive, the archive as stored. If they parsed them differently, one response would have
two meanings, so both call these functions.

References
----------
RFC 9112, 4 and 5: ``status-line = HTTP-version SP 3DIGIT SP [reason-phrase]``, ``field-line = name ":" OWS value OWS``
where OWS are spaces and tabs. RFC 9110, 15: status codes lie between 100 and 599.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

__all__ = ["HeadField", "fields_of", "head_fields", "status_of", "trimmed"]

BLANK: Final = " \t"
"""Optional white space of HTTP; no other character counts as white space there."""
_REMEMBERED_CHARS: Final = 128  # longer lines are rarely repeated
_FOLDED: Final = (" ", "\t")
_STATUS_LINE: Final = re.compile(rb"HTTP/\d(?:\.\d)? +([1-5]\d\d|999)(?=[ \r\n]|$)")


def status_of(head: bytes) -> int:
    r"""Return the status at the beginning of a head; 0 if there is none.

    A status is exactly three digits, from 100 to 599, or 999, which some servers send to crawlers.

    Examples
    --------
    >>> status_of(b"HTTP/1.1 200 OK\r\n\r\n"), status_of(b"HTTP/2 404\r\n")
    (200, 404)
    >>> status_of(b"HTTP/1.1 2000 OK\r\n"), status_of(b"HTTP/1.1 700 ?\r\n"), status_of(b"ICY 200 OK\r\n")
    (0, 0, 0)
    """
    found = _STATUS_LINE.match(head)
    return int(found[1]) if found else 0


class HeadField(NamedTuple):
    """A field of a head: its lower-case name, its value, and the bytes [start, end) of its lines.

    The end of its last line is not included, but those of earlier lines are: continuation lines belong to the field.
    """

    name: str
    value: str
    start: int
    end: int


def fields_of(head: bytes) -> list[HeadField]:
    r"""Return the fields of a head in order; whoever reads a head, or leaves out a part of it, cuts it up here.

    Only a line feed ends a line, and a carriage return before it belongs to the end. The first line is the status
    line, or that of a request.

    Examples
    --------
    >>> fields_of(b"HTTP/1.1 200 OK\r\nVary: a\r\n  b\r\nno field\r\n\r\n")
    [HeadField(name='vary', value='a b', start=17, end=29)]
    """
    return [HeadField(*each) for each in _cut(head)]


def _cut(head: bytes) -> list[tuple[str, str, int, int]]:
    """Return the same as plain tuples, of which most heads need no more."""
    first, *lines = head.decode("latin-1").split("\n")
    at, found, more = len(first) + 1, list[tuple[str, str, int, int]](), list[str]()
    name, value, start, end = "", "", at, at
    for line in lines:
        content = line.removesuffix("\r")
        if content.startswith(_FOLDED):
            more.append(trimmed(content))
        else:
            if name:
                found.append((name, _joined(value, more) if more else value, start, end))
            if more:
                more = list[str]()
            name, value = _field(content) if len(content) <= _REMEMBERED_CHARS else _field_of(content)
            start = at
        end = at + len(content)
        at += len(line) + 1
    if name:
        found.append((name, _joined(value, more), start, end))
    return found


def _joined(value: str, more: list[str]) -> str:
    return " ".join(filter(None, (value, *more)))


def head_fields(head: bytes) -> dict[str, str]:
    r"""Return the fields of a head, lower-case name -> value; the head starts with its status line.

    Bytes are read as Latin-1. The values of repeated fields are joined by ", ", and continuation lines by " ". Lines
    without a colon are not fields.

    Examples
    --------
    >>> head_fields(b"HTTP/1.1 200 OK\r\nVary: a\r\nVARY:b\r\nETag: x\r\n  y\r\n\r\n")
    {'vary': 'a, b', 'etag': 'x y'}
    """
    fields: dict[str, str] = {}
    for name, value, _, _ in _cut(head):
        fields[name] = f"{fields[name]}, {value}" if name in fields else value
    return fields


def _field_of(line: str) -> tuple[str, str]:
    """Return the lower-case name of a line's field, "" if it is not a field, and its value."""
    name, colon, value = line.partition(":")
    return (trimmed(name).lower(), trimmed(value)) if colon else ("", "")


_field = lru_cache(maxsize=1024)(_field_of)
"""The same, cached: most lines occur in many heads, including dates within a second."""


def trimmed(text: str) -> str:
    r"""Return text without leading and trailing optional white space of HTTP, which is spaces and tabs only.

    >>> trimmed("\t gzip\xa0 ")
    'gzip\xa0'
    """
    return text.strip(BLANK)

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
from typing import Final

__all__ = ["head_fields", "status_of", "trimmed"]

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
    name = ""
    for line in head.decode("latin-1").split("\n")[1:]:
        text = line.removesuffix("\r")
        if text.startswith(_FOLDED):
            if name:
                fields[name] = trimmed(f"{fields[name]} {trimmed(text)}")
            continue
        name, value = _field(text) if len(text) <= _REMEMBERED_CHARS else _field_of(text)
        if name:
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

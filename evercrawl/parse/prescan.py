"""Encoding declared by a page's first bytes: the prescan of the HTML standard (section 13.2.3.2)."""

import re
from functools import lru_cache

import webencodings

WINDOW_BYTES = 1024
"""How far into a body browsers look for a declaration."""

_NEAR_BYTES = 512  # a declaration that begins this early is cached by all bytes up to its end
_MOST_KNOWN = 4096
_known: dict[bytes, str] = {}  # first bytes of a page -> the encoding they declare

_ATTRIBUTE = re.compile(
    rb"[\t\n\f\r /]*(?:(>)|([^\t\n\f\r />][^\t\n\f\r />=]*)"
    rb"(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:\"([^\"]*)\"|'([^']*)'|(?=>)|([^\t\n\f\r >\"'][^\t\n\f\r >]*)))?)"
)
_CHARSET = re.compile(
    r"charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:\"([^\"]*)\"|'([^']*)'|([^\t\n\f\r ;\"'][^\t\n\f\r ;]*))", re.I
)
_XML = re.compile(rb"<\?xml(?=[^>]*+>)[^>]*?encoding[\x01-\x20]*=[\x01-\x20]*[\"']([^\"'>\x00-\x20]+)[\"'][^>]*>")
_META = re.compile(rb"<meta[\t\n\f\r /]", re.I)
_TAG = re.compile(rb"</?[a-z]", re.I)
_NAME_END = re.compile(rb"[\t\n\f\r >]")


def named(label: str) -> str | None:
    """Return the WHATWG name of an encoding label; None if it is unknown.

    Examples
    --------
    >>> named(" Latin1 "), named("klingon")
    ('windows-1252', None)
    """
    encoding = webencodings.lookup(label)
    return None if encoding is None else encoding.name


@lru_cache(maxsize=256)
def charset(content_type: str) -> str | None:
    """Return the WHATWG name of a Content-Type's charset; None without a known one.

    Examples
    --------
    >>> charset('text/html; charset="utf8"'), charset("text/html"), charset("text/html; charset=none")
    ('utf-8', None, None)
    """
    found = _CHARSET.search(content_type)
    return named(found[1] or found[2] or found[3] or "") if found else None


def prescan(body: bytes, window_bytes: int = WINDOW_BYTES) -> str | None:
    """Return the WHATWG name of the encoding in a meta element or XML declaration at the start of `body`.

    A meta element that declares UTF-16 means UTF-8, because it could not be read otherwise.

    Examples
    --------
    >>> prescan(b"<!-- <meta charset=koi8-r> --><meta charset=koi8-u>")
    'koi8-u'
    >>> prescan(b"<meta http-equiv=Content-Type content='text/html; charset=utf-16'>")
    'utf-8'
    """
    near = body.find(b"charset", 0, _NEAR_BYTES)
    known = _known.get(body[: body.find(b">", near, window_bytes) + 1]) if near >= 0 else None
    if known:
        return known
    head = body[:window_bytes]
    if b"charset" in head.lower():
        at = head.find(b"<")
        while at >= 0:
            found, at = _step(head, at)
            if found:
                _remember(head, found, at)
                return found
            at = head.find(b"<", at) if at >= 0 else -1
    declared = _XML.match(head)
    return _as_meta(named(declared[1].decode("latin-1"))) if declared else None


def _remember(head: bytes, name: str, at: int) -> None:
    """Cache the result for the bytes before `at`, if they are few: pages of a site begin alike."""
    if at <= 2 * _NEAR_BYTES:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[head[:at]] = name


def _step(head: bytes, at: int) -> tuple[str | None, int]:
    """Examine the `<` at `at`; return the encoding it declares, and the next position (-1 for none)."""
    if head.startswith(b"<!--", at):
        end = head.find(b"-->", at + 2)
        return None, end + 3 if end >= 0 else -1
    if _META.match(head, at):
        pairs, end = _attributes(head, at + 5)
        return (_declared(pairs) if end >= 0 else None), end
    if _TAG.match(head, at):
        name_end = _NAME_END.search(head, at)
        return None, _attributes(head, name_end.start())[1] if name_end else -1
    if head[at + 1 : at + 2] in (b"!", b"/", b"?"):
        return None, head.find(b">", at)
    return None, at + 1


def _attributes(head: bytes, at: int) -> tuple[dict[bytes, bytes], int]:
    """Return the attributes of the tag at `at`, the first of each name, and its end (-1 if it does not end)."""
    pairs: dict[bytes, bytes] = {}
    while found := _ATTRIBUTE.match(head, at):
        at = found.end()
        if found[1]:
            return pairs, at
        if head[at : at + 1] == b"=":
            break  # a quoted value that never ends
        pairs.setdefault(found[2].lower(), found[3] or found[4] or found[5] or b"")
    return pairs, -1


def _declared(pairs: dict[bytes, bytes]) -> str | None:
    if b"charset" in pairs:
        return _as_meta(named(pairs[b"charset"].decode("latin-1")))
    if pairs.get(b"http-equiv", b"").lower() == b"content-type":
        return _as_meta(charset(pairs.get(b"content", b"").decode("latin-1")))
    return None


def _as_meta(name: str | None) -> str | None:
    if name in ("utf-16le", "utf-16be"):
        return "utf-8"
    return "windows-1252" if name == "x-user-defined" else name

"""Decoding of bytes to text: the encoding that browsers would choose, and a decoder that never fails."""

from evercrawl.parse.prescan import charset, prescan
from evercrawl.parse.web_codecs import decoded

_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
_DEFAULT = "windows-1252"
_LATE_BYTES = 65_536


def sniff(body: bytes, content_type: str = "") -> str:
    r"""Return the WHATWG name of the encoding of `body`.

    A byte order mark decides first; then the charset of `content_type` (the response's header), then a meta element
    in the first kilobyte; unknown labels are ignored. Without any of these, valid UTF-8 is UTF-8; otherwise a later
    meta element counts (browsers restart when they meet one), and the fallback is windows-1252.

    Examples
    --------
    >>> sniff(b"<meta charset=koi8-r>", "text/html; charset=Shift_JIS"), sniff(b"<meta charset=koi8-r>")
    ('shift_jis', 'koi8-r')
    >>> sniff("☃".encode()), sniff(b"caf\xe9")
    ('utf-8', 'windows-1252')
    """
    return _marked(body) or charset(content_type) or prescan(body) or _guess(body)


def decode(body: bytes, content_type: str = "") -> tuple[str, str]:
    r"""Return the text of `body` and the WHATWG name of its encoding; invalid bytes become U+FFFD.

    Examples
    --------
    >>> decode(b"caf\xe9"), decode(b"\xef\xbb\xbfx")
    (('café', 'windows-1252'), ('x', 'utf-8'))
    """
    mark = _marked(body)
    if mark:
        body = body[3 if mark == "utf-8" else 2 :]
    name = mark or charset(content_type) or prescan(body)
    if name is None or name == "utf-8":
        try:
            return body.decode(), "utf-8"
        except UnicodeDecodeError:
            name = name or _late(body)
    return decoded(body, name), name


def utf8(body: bytes, content_type: str = "") -> tuple[bytes, str]:
    r"""Return `body` in UTF-8, and the WHATWG name of its original encoding.

    A body declared as UTF-8 is returned unchanged, valid or not: callers decode only the parts they extract.

    Examples
    --------
    >>> utf8(b"caf\xe9")
    (b'caf\xc3\xa9', 'windows-1252')
    """
    if body.startswith(_MARKS[0][0]):
        return body[3:], "utf-8"
    if not body.startswith((_MARKS[1][0], _MARKS[2][0])) and (charset(content_type) or prescan(body)) == "utf-8":
        return body, "utf-8"
    text, name = decode(body, content_type)
    return text.encode("utf-8", "replace"), name


def _marked(body: bytes) -> str | None:
    return next((name for mark, name in _MARKS if body.startswith(mark)), None)


def _guess(body: bytes) -> str:
    try:
        body.decode()
    except UnicodeDecodeError:
        return _late(body)
    return "utf-8"


def _late(body: bytes) -> str:
    return prescan(body, _LATE_BYTES) or _DEFAULT

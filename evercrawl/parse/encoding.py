"""Decoding of bytes to text: the encoding that browsers would choose, and a decoder that never fails."""

import codecs

import webencodings

from evercrawl.parse.prescan import charset, prescan

_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
_DEFAULT = "windows-1252"
_LATE_BYTES = 65_536
_UNDEFINED = b"\x81\x8d\x8f\x90\x9d"  # in Python's cp1252; C1 controls on the web
_WINDOWS_1252 = "".join(bytes([code]).decode("latin-1" if code in _UNDEFINED else "cp1252") for code in range(0x100))
_FROM_WINDOWS_1252 = codecs.charmap_build(_WINDOWS_1252)


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
    return _decoded(body, name), name


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


def encoded(text: str, name: str) -> bytes:
    r"""Return the bytes of text in an encoding of browsers; what it lacks becomes a character reference.

    Examples
    --------
    >>> encoded("\xe9\x81\u4e2d", "windows-1252"), encoded("\u4e2d", "utf-16le")
    (b'\xe9\x81&#20013;', b'\xe4\xb8\xad')
    """
    if name == _DEFAULT:
        return codecs.charmap_encode(text, "xmlcharrefreplace", _FROM_WINDOWS_1252)[0]
    encoding = webencodings.lookup("utf-8" if name.startswith("utf-16") else name)
    assert encoding is not None, f"{name} did not come from the table"
    return encoding.codec_info.encode(text, "xmlcharrefreplace")[0]


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


def _decoded(body: bytes, name: str) -> str:
    if name == _DEFAULT:
        return codecs.charmap_decode(body, "strict", _WINDOWS_1252)[0]  # pyright: ignore[reportArgumentType]
    if name == "gbk":
        return body.decode("gb18030", "replace")  # the standard's gbk decoder is its gb18030 decoder
    encoding = webencodings.lookup(name)
    assert encoding is not None, f"{name} did not come from the table"
    return encoding.codec_info.decode(body, "replace")[0]

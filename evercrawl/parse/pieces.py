"""Incremental, size-limited decoding of a body: .gz files inflated, text decoded by the rules of XML files."""

import codecs
import re
from collections.abc import Iterator
from typing import Final

import webencodings
from isal import isal_zlib

from evercrawl.parse.prescan import charset, named

MAX_BYTES: Final = 50 << 20
"""How much of a file is read, the protocol's limit for a sitemap; counted after inflating."""

PIECE_BYTES: Final = 1 << 16
"""How much is read at once: some 2 ms of work."""

_GZIP: Final = b"\x1f\x8b"
_INPUT_BYTES: Final = 1 << 14  # a stream that stops at its limit copies the unused input
_MAX_MEMBERS: Final = 1024
_MARKS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
_DECLARED: Final = re.compile(rb"<\?xml[^>]*?\sencoding\s*=\s*[\"']([\w.:-]+)[\"']")
_WIDE: Final = ((b"<\0", "utf-16le"), (b"\0<", "utf-16be"))  # without a byte order mark, by XML's opening bracket


def texts(body: bytes, content_type: str = "", most_bytes: int = MAX_BYTES) -> Iterator[str]:
    r"""Return the text of `body` in pieces, without leading white space.

    A byte order mark decides the encoding; then the charset of `content_type`, then the XML declaration; the fallback
    is UTF-8. Invalid bytes become U+FFFD. A broken or truncated .gz file yields the part before the fault.

    Parameters
    ----------
    body
        Any bytes, with content codings decoded.
    content_type
        The response's Content-Type.
    most_bytes
        Size limit, counted after inflating.

    Examples
    --------
    >>> import gzip
    >>> list(texts(gzip.compress(b"\n<?xml version='1.0' encoding='latin1'?><a>caf\xe9</a>")))
    ["<?xml version='1.0' encoding='latin1'?><a>café</a>"]
    """
    decoder: codecs.IncrementalDecoder | None = None
    begun = False
    for piece in _capped(_unpacked(body), most_bytes):
        if decoder is None:
            mark, name = _encoding(piece, content_type)
            piece, decoder = piece[len(mark) :], _decoder(name)
        text = decoder.decode(piece)
        if not begun:
            text = text.lstrip()
        if text:
            begun = True
            yield text
    if decoder is not None and (rest := decoder.decode(b"", True)):
        yield rest


def _capped(pieces: Iterator[bytes], most_bytes: int) -> Iterator[bytes]:
    for piece in pieces:
        yield piece[:most_bytes]
        most_bytes -= len(piece)
        if most_bytes <= 0:
            return


def _unpacked(body: bytes) -> Iterator[bytes]:
    if body.startswith(_GZIP):
        return _gunzipped(body)
    return (body[at : at + PIECE_BYTES] for at in range(0, len(body), PIECE_BYTES))


def _gunzipped(body: bytes) -> Iterator[bytes]:
    at = 0
    for _ in range(_MAX_MEMBERS):
        if not body.startswith(_GZIP, at):
            return
        member = isal_zlib.decompressobj(31)
        while not member.eof:
            window = body[at : at + _INPUT_BYTES]
            try:
                piece = member.decompress(window, PIECE_BYTES)
            except isal_zlib.error:
                return
            at += len(window) - len(member.unconsumed_tail) - len(member.unused_data)
            if piece:
                yield piece
            elif not window:
                return


def _encoding(start: bytes, content_type: str) -> tuple[bytes, str]:
    """Return the byte order mark and the WHATWG name of the encoding of a file that begins with `start`."""
    for mark, name in _MARKS:
        if start.startswith(mark):
            return mark, name
    start = start.lstrip()
    wide = next((name for begin, name in _WIDE if start.startswith(begin)), None)
    declared = _DECLARED.match(start)
    said = charset(content_type) or (named(declared[1].decode("ascii", "replace")) if declared else None)
    if said is None or said.startswith("utf-16"):  # the bytes of each that rule it out
        said = wide or "utf-8"
    return b"", said


def _decoder(name: str) -> codecs.IncrementalDecoder:
    encoding = webencodings.lookup(name)
    assert encoding is not None, f"{name} did not come from the table"
    make = encoding.codec_info.incrementaldecoder
    assert make is not None, f"{name} can be decoded in pieces"
    return make("replace")

"""Decodes the content codings of a body, up to a size limit."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import brotli
from isal import isal_zlib

from evercrawl.fetch.chunked import ChunkedEnd, dechunk
from evercrawl.http_head import trimmed

__all__ = ["ChunkedEnd", "Decoded", "dechunk", "decode"]

MAX_CODINGS = 3
MAX_MEMBERS = 1024

_GZIP_MAGIC = b"\x1f\x8b"
_MEMBER_WINDOW_BYTES = 1 << 16
# Bytes that no text contains, in any encoding that extends ASCII.
_CONTROLS = bytes(sorted(set(range(32)) - set(b"\t\n\r\f\x1b")))
_LOOK_BYTES = 512


class Decoded(NamedTuple):
    """The result of `decode`.

    Attributes
    ----------
    body
        The content, at most as long as the limit.
    error
        "" or "coding": the bytes are not in the coding that the field names.
    truncated
        The limit was reached, or the coded stream ended early.
    """

    body: bytes
    error: str = ""
    truncated: bool = False


class _GarbageError(ValueError):
    """The bytes are not in the coding that the field names."""


def decode(body: bytes, content_encoding: str, cap: int) -> Decoded:
    """Return `body` with the codings of a Content-Encoding field undone, at most `cap` bytes.

    Decompression stops at the limit, so a bomb costs the memory of about two limits. A body that is not coded
    although the field says so is returned as it is. At most three codings are undone.

    Examples
    --------
    >>> import gzip
    >>> decode(gzip.compress(b"page"), "gzip", 100)
    Decoded(body=b'page', error='', truncated=False)
    >>> decode(gzip.compress(b"page"), "gzip", 2)
    Decoded(body=b'pa', error='', truncated=True)
    >>> decode(b"<html>", "gzip", 100).body
    b'<html>'
    """
    names = _coding_names(content_encoding)
    if len(names) > MAX_CODINGS:
        return Decoded(b"", "coding")
    whole = True
    for name in reversed(names):
        if not body:
            break
        try:
            body, ended = _inflate(body, name, cap + 1)
        except _GarbageError:
            if not _looks_plain(body):
                return Decoded(b"", "coding", not whole)
        else:
            whole = whole and ended
    return Decoded(body[:cap], "", not whole or len(body) > cap)


@lru_cache(maxsize=64)
def _coding_names(field: str) -> tuple[str, ...]:
    return tuple(name for name in map(_coding_name, field.split(",")) if name)


def _coding_name(text: str) -> str:
    name = trimmed(text).lower()
    return "" if name == "identity" else name.removeprefix("x-")


def _inflate(body: bytes, name: str, limit: int) -> tuple[bytes, bool]:
    """Return at most `limit` bytes, and whether the coded stream was complete."""
    inflate = _INFLATERS.get(name)
    if inflate is None:
        raise _GarbageError
    try:
        return inflate(body, limit)
    except (isal_zlib.error, brotli.error) as error:
        raise _GarbageError from error


def _gunzip(body: bytes, limit: int) -> tuple[bytes, bool]:
    if not body.startswith(_GZIP_MAGIC):
        raise _GarbageError
    member = isal_zlib.decompressobj(31)
    content = member.decompress(body, limit)
    rest = member.unused_data
    if not rest.startswith(_GZIP_MAGIC):
        return content, member.eof
    return _gunzip_members(content, body, len(body) - len(rest), limit)


def _gunzip_members(content: bytes, body: bytes, at: int, limit: int) -> tuple[bytes, bool]:
    """Continue with the second member, which starts at `at`.

    The body is fed in windows: a decompressor that reaches the end of its member copies all input after it, so many
    tiny members would take quadratic time.
    """
    parts, room = [content], limit - len(content)
    for _ in range(MAX_MEMBERS):
        if not body.startswith(_GZIP_MAGIC, at):
            return b"".join(parts), True
        member = isal_zlib.decompressobj(31)
        while not member.eof:
            window = body[at : at + _MEMBER_WINDOW_BYTES]
            if room <= 0 or not window:
                return b"".join(parts), False
            parts.append(member.decompress(window, room))
            room -= len(parts[-1])
            at += len(window) - len(member.unused_data)
    return b"".join(parts), False


def _undeflate(body: bytes, limit: int) -> tuple[bytes, bool]:
    """Decode `deflate`: a zlib stream as in the standard, or the raw stream that some servers send."""
    if len(body) >= 2 and body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0:
        try:
            return _inflate_stream(body, limit, 15)
        except isal_zlib.error:
            pass
    return _inflate_stream(body, limit, -15)


def _inflate_stream(body: bytes, limit: int, wbits: int) -> tuple[bytes, bool]:
    stream = isal_zlib.decompressobj(wbits)
    content = stream.decompress(body, limit)
    return content, stream.eof


def _unbrotli(body: bytes, limit: int) -> tuple[bytes, bool]:
    stream = brotli.Decompressor()
    content = stream.process(body, output_buffer_limit=limit)
    return content[:limit], stream.is_finished()


def _looks_plain(body: bytes) -> bool:
    start = body[:_LOOK_BYTES]
    return len(start.translate(None, _CONTROLS)) == len(start)


_INFLATERS: dict[str, Callable[[bytes, int], tuple[bytes, bool]]] = {
    "gzip": _gunzip,
    "deflate": _undeflate,
    "br": _unbrotli,
}

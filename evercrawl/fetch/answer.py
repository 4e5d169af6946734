"""Builds an `Exchange` from what curl delivered: head, fields, body, and the class of failure."""

from collections.abc import Sequence
from functools import lru_cache

from evercrawl.fetch.chunked import ChunkedEnd, dechunk
from evercrawl.fetch.coding import decode
from evercrawl.http_head import head_fields, status_of, trimmed
from evercrawl.types import Exchange

__all__ = ["MAX_HEAD_BYTES", "class_of", "cut_words", "final_head", "settle", "unwrap"]

MAX_HEAD_BYTES = 256 << 10

_TOO_LARGE_WORDS = "Too large response headers"
_CHUNK_WORDS = "chunk"
# curl's error numbers; numbers not listed here are protocol faults.
_CLASSES = {
    5: "dns",
    6: "dns",
    7: "connect",
    18: "reset",
    28: "timeout",
    35: "tls",
    45: "connect",
    51: "tls",
    52: "reset",
    53: "tls",
    54: "tls",
    55: "reset",
    56: "reset",
    58: "tls",
    59: "tls",
    60: "tls",
    66: "tls",
    77: "tls",
    80: "tls",
    83: "tls",
    90: "tls",
    91: "tls",
    97: "connect",
    98: "tls",
    100: "too_large",
}
_CUT = frozenset({"timeout", "reset"})
_HTTP2_STREAM = 92
_TOLD_CHARS = 100  # of the server's text; it goes into the journal
_WORDS_CHARS = 200  # of curl's text


def class_of(code: int, words: str) -> str:
    """Return the class of failure for curl's error number and message.

    Examples
    --------
    >>> class_of(28, "Operation timed out"), class_of(8, "Invalid Content-Length: value")
    ('timeout', 'protocol')
    """
    if code == 0:
        return ""
    if code == 56 and words.startswith(_TOO_LARGE_WORDS):
        return "too_large"
    if code == 56 and words.startswith(_CHUNK_WORDS):
        return "protocol"
    return _CLASSES.get(code, "protocol")


def legible(words: str) -> str:
    r"""Return a message that may contain a server's bytes in a safe form: short, visible and valid in any encoding.

    Examples
    --------
    >>> legible("bad field: \udcf4\x1b[2J"), len(legible("x" * 1_000))
    ('bad field: \\udcf4\\x1b[2J', 200)
    """
    shown = words[:_WORDS_CHARS].encode("ascii", "backslashreplace").decode()
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in shown)[:_WORDS_CHARS]


def final_head(lines: Sequence[bytes]) -> Sequence[bytes]:
    r"""Return the lines of the final response, from its status line to its blank line; [] if it is incomplete.

    Interim responses (1xx) before it and trailers after it are dropped. curl delivers a field folded over several
    lines in one; everything else is as on the wire. A response must begin with a status, as `status_of` reads it.

    Examples
    --------
    >>> final_head([b"HTTP/1.1 103 Early\r\n", b"\r\n", b"HTTP/1.1 200 OK\r\n", b"\r\n", b"a: trailer\r\n"])
    [b'HTTP/1.1 200 OK\r\n', b'\r\n']
    """
    start = 0
    for at, line in enumerate(lines):
        if line in (b"\r\n", b"\n"):
            if not _interim(lines[start]):
                return lines[start : at + 1] if status_of(lines[start]) else []
            start = at + 1
    return []


def _interim(status_line: bytes) -> bool:
    status = status_of(status_line)
    return 100 <= status < 200 and status != 101


def settle(exchange: Exchange, lines: Sequence[bytes], code: int, words: str) -> None:
    """Fill in all that follows from the header lines, from `exchange.wire`, and from how curl says that it ended."""
    exchange.error, exchange.detail = class_of(code, words), legible(words)
    head = final_head(lines)
    if not head or sum(map(len, lines)) > MAX_HEAD_BYTES:
        exchange.wire = b""
        if head or not exchange.error:
            exchange.error = "too_large" if head else "protocol"
            exchange.detail = "the head is larger than 256 KiB" if head else "no complete head with a status arrived"
        return
    exchange.head = b"".join(head)
    exchange.status = status_of(head[0])
    exchange.http_version = head[0][5:].split(None, 1)[0].decode("latin-1")
    exchange.headers = head_fields(exchange.head)
    if exchange.status == 101:
        exchange.error, exchange.detail = "protocol", "the server switched to a protocol that was not asked for"
    elif exchange.wire and (exchange.error in _CUT or code == _HTTP2_STREAM):
        exchange.truncated, exchange.error = True, ""
    if exchange.wire and exchange.error in ("", "protocol"):
        exchange.packed = exchange.request.packed and not exchange.error
        if not exchange.packed:
            unwrap(exchange)


def cut_words(most_bytes: int) -> str:
    """Return the message for a body of which only the first `most_bytes` bytes were read.

    >>> cut_words(10 << 20)
    'cut at 10,485,760 bytes, the size limit of a body (body_max_bytes)'
    """
    return f"cut at {most_bytes:,} bytes, the size limit of a body (body_max_bytes)"


def unwrap(exchange: Exchange) -> None:
    """Set `exchange.body`: the wire's bytes with transfer and content codings undone, up to the size limit."""
    body, request = exchange.wire, exchange.request
    codings = [*_names(exchange.headers.get("content-encoding", ""))]
    if exchange.http_version not in ("2", "3"):
        codings += _names(exchange.headers.get("transfer-encoding", ""))
    if codings and codings[-1] == "chunked":
        codings.pop()
        body, status = dechunk(body, request.max_wire_bytes if codings else request.max_body_bytes)
        exchange.truncated = status is ChunkedEnd.TRUNCATED
        if status is ChunkedEnd.MALFORMED and not exchange.error:
            exchange.error, exchange.detail = "protocol", "the body is not in chunks as announced"
    if codings or len(body) > request.max_body_bytes:
        body, error, truncated = decode(body, ",".join(codings), request.max_body_bytes)
        if len(body) >= request.max_body_bytes and truncated and not exchange.detail:
            exchange.detail = cut_words(request.max_body_bytes)
        exchange.truncated = exchange.truncated or truncated
        if error and not exchange.error:
            exchange.error, exchange.detail = error, f"the body is not {_told(codings)} as announced"
    exchange.body, exchange.packed = body, False


def _told(codings: list[str]) -> str:
    text = ", ".join(codings)
    return text if len(text) <= _TOLD_CHARS else f"{text[:_TOLD_CHARS]}..."


@lru_cache(maxsize=64)
def _names(field: str) -> tuple[str, ...]:
    return tuple(name for name in (trimmed(part).lower() for part in field.split(",")) if name)

"""Decodes the chunked transfer coding."""

import enum
import re

__all__ = ["ChunkedEnd", "dechunk"]

MAX_CHUNKS = 200_000
"""The number of chunks that are joined, some 0.1 s of work; what follows counts as cut off."""

# RFC 9112 section 7.1; white space before the extension or the line's end is common and harmless.
_LINE = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\r\n]{0,4096})?\r\n")
_BEGINNING_OF_LINE = re.compile(rb"(?:[0-9A-Fa-f]{1,16}[ \t]*(?:;[^\r\n]{0,4096})?\r?)?")


class ChunkedEnd(enum.Enum):
    """How a chunked body ended."""

    WHOLE = "whole"
    TRUNCATED = "truncated"  # the last chunk is missing, or a limit was reached
    MALFORMED = "malformed"  # invalid from some point on


def dechunk(wire: bytes, cap: int) -> tuple[bytes, ChunkedEnd]:
    r"""Return the content of a body in chunked coding, at most `cap` bytes, and how it ended.

    Extensions and trailers are skipped; time is linear in the length of `wire`.

    Examples
    --------
    >>> dechunk(b"5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nA: trailer\r\n\r\n", 100)
    (b'hello!', <ChunkedEnd.WHOLE: 'whole'>)
    >>> dechunk(b"5\r\nhel", 100)
    (b'hel', <ChunkedEnd.TRUNCATED: 'truncated'>)
    >>> dechunk(b"-1\r\nhello\r\n", 100)
    (b'', <ChunkedEnd.MALFORMED: 'malformed'>)

    References
    ----------
    RFC 9112, section 7.1.
    """
    parts: list[bytes] = []
    status = ChunkedEnd.TRUNCATED
    match_line = _LINE.match
    at, room, end = 0, cap, len(wire)
    while len(parts) < MAX_CHUNKS:
        line = match_line(wire, at)
        if line is None:
            status = ChunkedEnd.TRUNCATED if _BEGINNING_OF_LINE.fullmatch(wire, at) else ChunkedEnd.MALFORMED
            break
        size, at = int(line[1], 16), line.end()
        if size == 0:
            status = ChunkedEnd.WHOLE
            break
        parts.append(wire[at : at + min(size, room)])
        at += size
        if size > room or at + 2 > end:
            status = ChunkedEnd.TRUNCATED
            break
        if not wire.startswith(b"\r\n", at):
            status = ChunkedEnd.MALFORMED
            break
        room -= size
        at += 2
    return b"".join(parts), status

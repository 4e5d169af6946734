"""Records of the archive in the format WARC 1.1 (ISO 28500:2017).

A visit becomes a `request` record followed by a `response` record with the body as the server sent it, or by a
`revisit` record if the archive already has the content. Each record is its own gzip member, so that it can be read
alone.
"""

import enum
import functools
import hashlib
import re
from datetime import UTC, datetime
from typing import Final, NamedTuple

import msgspec

from evercrawl.store.archive.member import pack, pack_stored
from evercrawl.types import Exchange

VERSION: Final = "WARC/1.1"
CONFORMS_TO: Final = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
ID_BYTES: Final = 16  # random bytes in a record's name

DOM_PREFIX: Final = "urn:dom:"
"""Prefix of the page's URL in the record of a browser's document."""
DOM_TYPE: Final = "text/html; charset=utf-8"
RENDERED_FOR: Final = "Evercrawl-Rendered-For"
"""Name of the field with the page for which a browser requested something."""

_PROFILES: Final = "http://netpreserve.org/warc/1.1/revisit/"
_TRUNCATED: Final = {"too_large": "length", "timeout": "time", "": "unspecified"}
_NEWER_REQUEST: Final = re.compile(rb"([^\r\n]* )HTTP/([23])(?:\.0)?(?=\r?\n)")
_NEWER_STATUS: Final = re.compile(rb"()HTTP/([23])(?:\.0)?(?=[ \r\n])")
_DENSE: Final = ("image/", "audio/", "video/", "font/", "application/zip", "application/gzip", "application/pdf")
_END: Final = b"\r\n\r\n"
_BASE32: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS: Final = [one + other for one in _BASE32 for other in _BASE32]  # ten bits each: a fourth of base64's time
_SHIFTS: Final = range(150, -1, -10)
_QUICK: Final = 0  # for headers: custom codes would save another 160 bytes and take three times as long
_SMALL: Final = 1  # for a body that was received uncompressed


class EntryKind(enum.Enum):
    """The kinds of archived visits."""

    RESPONSE = "response"
    NOT_MODIFIED = "server-not-modified"  # a 304; the content is that of the referenced visit
    SAME_CONTENT = "identical-payload-digest"  # sent again, with the same content as the referenced visit
    DOM = "dom"  # the document that a browser made of the page


class Original(NamedTuple):
    """The response with the content of a revisit; `digest` as in its record, "" if unknown."""

    url: str
    at: float
    digest: str = ""


class ArchiveEntry(msgspec.Struct, frozen=True):
    """One visit to be archived.

    Attributes
    ----------
    exchange
        Request and answer; the answer is required.
    kind
        Kind of the visit, which says whether the content is new.
    refers_to
        The response with the content if it is not new. Content counts as the same only if the content coding is the
        same too, because readers combine the new headers with the old body.
    digest
        `payload_digest` of the body of a response, if known.
    rendered_for
        The page for which a browser requested this; "" if no browser did.
    """

    exchange: Exchange
    kind: EntryKind = EntryKind.RESPONSE
    refers_to: Original | None = None
    digest: str = ""
    rendered_for: str = ""


def iso_date(at: float) -> str:
    """Return seconds since the epoch as a WARC date, in UTC, to the microsecond.

    >>> iso_date(86400.25)
    '1970-01-02T00:00:00.250000Z'
    """
    second, microsecond = divmod(round(at * 1e6), 1_000_000)
    return f"{_iso_second(second)}.{microsecond:06d}Z"


@functools.lru_cache(maxsize=64)
def _iso_second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def payload_digest(wire: bytes) -> str:
    """Return the labelled SHA-1 of a body as received, against which readers check it.

    >>> payload_digest(b"")
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    number = int.from_bytes(hashlib.sha1(wire, usedforsecurity=False).digest(), "big")
    return "sha1:" + "".join([_PAIRS[number >> shift & 0x3FF] for shift in _SHIFTS])


def record_id(noise: bytes) -> str:
    """Return 16 random bytes as a version 4 UUID.

    >>> record_id(bytes(16))
    '00000000-0000-4000-8000-000000000000'
    """
    return _record_id(noise.hex())


def _record_id(name: str) -> str:
    return f"{name[:8]}-{name[8:12]}-4{name[13:16]}-8{name[17:20]}-{name[20:]}"


def warcinfo(filename: str, software: str, agent: str, at: float, noise: bytes) -> bytes:
    """Return the first record of a segment, which names its writer."""
    fields = {
        "software": software,
        "format": "WARC File Format 1.1",
        "conformsTo": CONFORMS_TO,
        "http-header-user-agent": agent,
    }
    block = "".join(f"{name}: {_one_line(value)}\r\n" for name, value in fields.items()).encode()
    head = (
        f"{VERSION}\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:uuid:{record_id(noise)}>\r\n"
        f"WARC-Date: {iso_date(at)}\r\nWARC-Filename: {filename}\r\n"
        f"Content-Type: application/warc-fields\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return pack(head.encode() + block + _END)


def visit_records(entry: ArchiveEntry, noise: bytes, digest: str = "") -> tuple[bytes, bytes]:
    """Return the request record (empty if the request's bytes are unknown) and the response or revisit record.

    Parameters
    ----------
    entry
        The visit.
    noise
        32 random bytes, for the names of the two records.
    digest
        `payload_digest` of the body, if known.
    """
    exchange = entry.exchange
    assert exchange.head, "only an answer can be archived"
    if entry.kind is EntryKind.DOM:
        return b"", _dom(exchange, noise, digest)
    names = noise.hex()
    name, request_name = _record_id(names[: 2 * ID_BYTES]), _record_id(names[2 * ID_BYTES :])
    shared = f"WARC-Date: {iso_date(exchange.at)}\r\nWARC-Target-URI: {exchange.request.url}\r\n"
    if exchange.ip:
        shared += f"WARC-IP-Address: {exchange.ip}\r\n"
    if entry.rendered_for:
        shared += f"{RENDERED_FOR}: {entry.rendered_for}\r\n"
    if exchange.sent:
        sent = _as_http_1(exchange.sent, _NEWER_REQUEST)[0]
        request = pack(
            f"{VERSION}\r\nWARC-Type: request\r\nWARC-Record-ID: <urn:uuid:{request_name}>\r\n{shared}"
            f"WARC-Concurrent-To: <urn:uuid:{name}>\r\n"
            f"Content-Type: application/http; msgtype=request\r\nContent-Length: {len(sent)}\r\n\r\n".encode()
            + sent
            + _END,
            _QUICK,
        )
        shared += f"WARC-Concurrent-To: <urn:uuid:{request_name}>\r\n"
    else:
        request = b""
    return request, _answer(entry, name, shared, digest)


def _dom(exchange: Exchange, noise: bytes, digest: str) -> bytes:
    """Return the record of a browser's document of a page."""
    assert exchange.rendered is not None, "the page was rendered"
    dom = exchange.rendered.dom
    head = (
        f"{VERSION}\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:uuid:{record_id(noise[:ID_BYTES])}>\r\n"
        f"WARC-Date: {iso_date(exchange.at)}\r\nWARC-Target-URI: {DOM_PREFIX}{exchange.request.url}\r\n"
        f"WARC-Payload-Digest: {digest or payload_digest(dom)}\r\n"
        f"Content-Type: {DOM_TYPE}\r\nContent-Length: {len(dom)}\r\n\r\n"
    )
    return pack(head.encode() + dom + _END, _SMALL)


def _answer(entry: ArchiveEntry, name: str, shared: str, digest: str) -> bytes:
    exchange = entry.exchange
    block, protocol = _as_http_1(_closed(exchange.head), _NEWER_STATUS)
    revisit = entry.kind is not EntryKind.RESPONSE
    body = b"" if revisit else exchange.wire
    fields = [
        f"{VERSION}\r\nWARC-Type: {'revisit' if revisit else 'response'}\r\nWARC-Record-ID: <urn:uuid:{name}>\r\n"
    ]
    fields.append(shared)
    if protocol:
        fields.append(f"WARC-Protocol: {protocol}\r\n")
    fields.append(_about_original(entry) if revisit else f"WARC-Payload-Digest: {digest or payload_digest(body)}\r\n")
    if exchange.truncated and not revisit:
        fields.append(f"WARC-Truncated: {_TRUNCATED.get(exchange.error, 'disconnect')}\r\n")
    fields.append(
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block) + len(body)}\r\n\r\n"
    )
    head = "".join(fields).encode() + block
    if not body:
        return pack(head + _END, _QUICK)
    if _is_dense(exchange.headers):
        return pack_stored(head, body + _END, _QUICK)
    return pack(head + body + _END, _SMALL)


def _about_original(entry: ArchiveEntry) -> str:
    """Return the fields that link a revisit to its content; only those of a 304 may lack the digest."""
    original, digest = entry.refers_to, ""
    fields = f"WARC-Profile: {_PROFILES}{entry.kind.value}\r\n"
    if original is not None:
        fields += f"WARC-Refers-To-Target-URI: {original.url}\r\nWARC-Refers-To-Date: {iso_date(original.at)}\r\n"
        digest = original.digest
    if not digest and entry.kind is EntryKind.SAME_CONTENT:
        digest = payload_digest(entry.exchange.wire)
    return fields + (f"WARC-Payload-Digest: {digest}\r\n" if digest else "")


def _is_dense(headers: dict[str, str]) -> bool:
    """Return whether a body with these headers is already compressed."""
    if headers.get("content-encoding", "identity").lower() not in ("", "identity"):
        return True
    kind = headers.get("content-type", "").lower()
    return kind.startswith(_DENSE) and "svg" not in kind


def _closed(head: bytes) -> bytes:
    """Return the header block with the terminating empty line, even if the server did not send one."""
    if head.endswith((_END, b"\n\n")):
        return head
    return head + (b"\r\n" if head.endswith(b"\n") else _END)


def _as_http_1(head: bytes, first_line: re.Pattern[bytes]) -> tuple[bytes, str]:
    """Return the header block in HTTP/1.1 form, and the actual protocol, "" for HTTP/1.

    Readers accept no other version in the first line; a field of the record has the actual protocol.
    """
    newer = first_line.match(head)
    if newer is None:
        return head, ""
    return newer[1] + b"HTTP/1.1" + head[newer.end() :], f"h{newer[2].decode('ascii')}"


def _one_line(text: str) -> str:
    return " ".join(text.split())

"""Conversion of answers in WARC records and caches to exchanges that a crawl can read."""

from __future__ import annotations

import re
from typing import Final

from evercrawl.crawl.importing.captures import UnusableError
from evercrawl.http_head import head_fields, status_of
from evercrawl.store.archive.warc_read import WarcRecord
from evercrawl.types import Exchange, Request

_CHUNK: Final = re.compile(rb"[0-9A-Fa-f]{1,8}[ \t]*(?:;[^\r\n]*)?\r?\n")
_MAGIC: Final = {"gzip": b"\x1f\x8b", "x-gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
_FIELD: Final = rb"(?im)^(?=%s[ \t]*:)"
_CUT: Final = {"length": "too_large", "time": "timeout", "disconnect": "reset"}
_END: Final = b"\r\n\r\n"
_MARKUP: Final = (b"<", b"{", b"\xef\xbb\xbf<")


def exchange_of(record: WarcRecord, url: str, at: float, original: WarcRecord | None = None) -> Exchange:
    """Return the answer in a record.

    Parameters
    ----------
    record, url, at
        The record, its normalised URL, and its instant.
    original
        The record with the content, if `record` has only the head.

    Raises
    ------
    UnusableError
        The record has no answer.
    """
    if record.kind == "resource":
        kind = record.fields.get("content-type", "application/octet-stream")
        head = b"HTTP/1.1 200 OK\r\nContent-Type: " + kind.encode("latin-1", "replace") + _END
        return answer(url, at, head, record.block)
    head, wire = _message(record.block)
    if original is not None:
        theirs, wire = _message(original.block)
        head = head if status_of(head) not in (0, 304) else theirs
    exchange = answer(url, at, head, wire)
    exchange.ip = record.fields.get("warc-ip-address", "")
    if cut := record.fields.get("warc-truncated", ""):
        exchange.truncated, exchange.detail = True, f"truncated by the archiving program: {cut}"
    return exchange


def answer(url: str, at: float, head: bytes, wire: bytes) -> Exchange:
    """Return an answer whose header fields agree with its body.

    Raises
    ------
    UnusableError
        The head has no status.
    """
    status = status_of(head)
    if not status:
        raise UnusableError("the record has no HTTP answer with a status")
    headers = head_fields(head)
    for name, value in (("transfer-encoding", "chunked"), ("content-encoding", "")):
        said = headers.get(name, "").strip().lower()
        if said and (not value or value in said) and _undone(said, headers, wire):
            head = _renamed(head, name)
            headers = head_fields(head)
    return Exchange(Request(url), at, 0.0, status, b"", head, wire, headers=headers, packed=True)


def _undone(said: str, headers: dict[str, str], wire: bytes) -> bool:
    """Return whether a body lacks the coding that its head names, because the archiving program decoded it."""
    if not wire:
        return False
    if "chunked" in said:
        return _CHUNK.match(wire) is None
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return False  # the first bytes are a chunk's length; a program that kept the chunks kept other codings too
    if said in _MAGIC:
        return not wire.startswith(_MAGIC[said])
    return said in ("br", "deflate") and wire.lstrip()[:1] in _MARKUP


def _renamed(head: bytes, name: str) -> bytes:
    return re.sub(_FIELD % re.escape(name.encode()), b"X-Archived-", head)


def _message(block: bytes) -> tuple[bytes, bytes]:
    """Return head and body of an HTTP message; lines of the head may end without a carriage return."""
    end = block.find(_END)
    if end >= 0:
        bare = block.find(b"\n\n", 0, end)
        return (block[: end + 4], block[end + 4 :]) if bare < 0 else (block[: bare + 2], block[bare + 2 :])
    bare = block.find(b"\n\n")
    return (block, b"") if bare < 0 else (block[: bare + 2], block[bare + 2 :])

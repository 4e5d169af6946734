"""Answers read back from the archive."""

from dataclasses import dataclass
from typing import Final

from evercrawl.http_head import head_fields, status_of
from evercrawl.store.archive.warc import DOM_PREFIX, DOM_TYPE, EntryKind, Original
from evercrawl.store.archive.warc_read import WarcRecord, epoch

_DOM_HEAD: Final = f"HTTP/1.1 200 OK\r\nContent-Type: {DOM_TYPE}\r\n\r\n".encode()


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer read back from the archive.

    Attributes
    ----------
    kind, refers_to
        Whether the body is in this record, and if not, the response that has it.
    url, at, ip
        The requested URL, the time (to the microsecond), and the address that answered, "" if unknown.
    status
        HTTP status; 0 if the answer has none.
    head, headers
        Status line and header lines with the empty line after them; lower-case name -> value, repeated ones joined by
        ", ".
    wire
        The body as received, with transfer and content codings; empty for a revisit.
    digest
        Labelled digest of the body as received (of the original's, for a revisit); "" if none is stated.
    truncated
        Why the body ends early ("length", "time", "disconnect", "unspecified"); "" if it is complete.
    """

    kind: EntryKind
    refers_to: Original | None
    url: str
    at: float
    ip: str
    status: int
    head: bytes
    headers: dict[str, str]
    wire: bytes
    digest: str
    truncated: str


def is_answer(found: WarcRecord) -> bool:
    """Return whether a record holds an answer, or the document that a browser made of one."""
    return found.kind in ("response", "revisit") or is_dom(found)


def is_dom(found: WarcRecord) -> bool:
    """Return whether a record holds the document that a browser made of a page."""
    return found.kind == "resource" and found.url.startswith(DOM_PREFIX)


def stored(found: WarcRecord) -> Stored:
    """Return the answer in a response or revisit record; a browser's document is returned like a server's answer."""
    fields = found.fields
    if is_dom(found):
        url, headers = found.url.removeprefix(DOM_PREFIX), {"content-type": DOM_TYPE}
        digest = fields.get("warc-payload-digest", "")
        return Stored(
            EntryKind.RESPONSE, None, url, found.at, "", 200, _DOM_HEAD, headers, found.block, digest, ""
        )  # fmt: skip
    head, wire = found.message()
    kind, refers_to = EntryKind.RESPONSE, None
    if found.kind == "revisit":
        same = fields.get("warc-profile", "").endswith(EntryKind.SAME_CONTENT.value)
        kind = EntryKind.SAME_CONTENT if same else EntryKind.NOT_MODIFIED
        if "warc-refers-to-target-uri" in fields:
            at = epoch(fields.get("warc-refers-to-date", ""))
            refers_to = Original(fields["warc-refers-to-target-uri"], at, fields.get("warc-payload-digest", ""))
    return Stored(
        kind=kind,
        refers_to=refers_to,
        url=found.url,
        at=found.at,
        ip=fields.get("warc-ip-address", ""),
        status=status_of(head),
        head=head,
        headers=head_fields(head),
        wire=wire,
        digest=fields.get("warc-payload-digest", ""),
        truncated=fields.get("warc-truncated", ""),
    )

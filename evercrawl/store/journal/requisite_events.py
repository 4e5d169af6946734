"""The events about requisites, which pages need to be shown: what needs them, and what requests for them brought."""

from typing import Final, TypeAlias

import msgspec

from evercrawl.store.archive.pointer import Pointer


class RequisitesNeeded(msgspec.Struct, array_like=True, tag="q", frozen=True):
    """All requisites of a page, or of one of its style sheets.

    Attributes
    ----------
    at
        Time of the finding, in seconds since the epoch; requisites that are stale then must be fetched again.
    slot, of
        Slot of the page; if that is NO_SLOT, number of the requisite.
    first, urls
        Requisites that nothing needed before: requisite i has number `first + i`; "" if it was forgotten.
    known
        Numbers of the other requisites (`codec.encode_slots`).
    """

    at: float
    slot: int
    of: int
    first: int
    urls: list[str]
    known: bytes = b""


LOST_REQUISITE: Final = "lost"
"""The failure of a requisite whose archive record is lost."""


class RequisiteFetched(msgspec.Struct, array_like=True, tag="u", frozen=True):
    """The result of a request for a requisite.

    Attributes
    ----------
    number, at
        Number of the requisite; time of the request, in seconds since the epoch.
    status, error
        HTTP status, 0 if there was no answer; "" or the class and description of the failure.
    archive
        Position of its record; None if nothing was archived.
    unchanged
        Whether the content equals that of the record before.
    stale_at
        Time until which it is not requested again, whatever needs it.
    retry_at
        Time of a retry, even if nothing else needs it; 0 for no retry.
    etag, last_modified, mime, payload
        Validators, media type, and the digest of the body as stated in the archive.
    wire_bytes
        Number of bytes received.
    """

    number: int
    at: float
    status: int
    error: str = ""
    archive: Pointer | None = None
    unchanged: bool = False
    stale_at: float = 0.0
    retry_at: float = 0.0
    etag: str = ""
    last_modified: str = ""
    mime: str = ""
    payload: str = ""
    wire_bytes: int = 0


RequisiteEvent: TypeAlias = RequisitesNeeded | RequisiteFetched
"""Events about requisites of pages."""

"""Kinds of pages by media type, stored in three bits of their records."""

from functools import lru_cache
from typing import Final

UNKNOWN, PAGE, DOCUMENT, DATA, MEDIA = range(5)
SHIFT: Final = 4
"""Position of the kind in `flags` of a record."""
MASK: Final = 7 << SHIFT
_PAGES: Final = frozenset(("text/html", "application/xhtml+xml"))
_DOCUMENTS: Final = (
    "application/pdf", "application/postscript", "application/epub", "application/msword", "application/rtf",
    "text/rtf", "application/vnd.openxmlformats", "application/vnd.oasis.opendocument", "application/vnd.ms-",
    "image/vnd.djvu",
)  # fmt: skip
_DATA: Final = (
    "application/json", "application/zip", "application/gzip", "application/x-gzip", "application/x-tar",
    "application/javascript", "application/rdf", "text/",
)  # fmt: skip
_MEDIA: Final = ("image/", "audio/", "video/", "application/ogg")


@lru_cache(1024)
def kind_of(media_type: str) -> int:
    """Return the kind of a page with a media type, in lower case; `UNKNOWN` if the type does not tell.

    Examples
    --------
    >>> kinds = [kind_of(name) for name in ("text/html", "application/pdf", "application/atom+xml", "image/svg+xml")]
    >>> kinds == [PAGE, DOCUMENT, DATA, MEDIA], kind_of("application/octet-stream") == kind_of("") == UNKNOWN
    (True, True)
    """
    if media_type in _PAGES:
        return PAGE
    if media_type.startswith(_DOCUMENTS):
        return DOCUMENT
    if media_type.startswith(_MEDIA):
        return MEDIA
    return DATA if media_type.startswith(_DATA) or media_type.endswith(("/xml", "+xml", "+json")) else UNKNOWN

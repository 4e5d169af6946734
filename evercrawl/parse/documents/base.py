"""Kinds of documents, and their extracted text."""

from __future__ import annotations

from typing import Final, NamedTuple

from evercrawl.errors import EvercrawlError
from evercrawl.parse.reading.markdown_words import words

__all__ = ["DOCX", "MOST_CHARS", "ODF", "PDF", "PPTX", "XLSX", "Block", "DocumentError", "DocumentText", "kind_of"]

PDF: Final = "pdf"
DOCX: Final = "docx"
XLSX: Final = "xlsx"
PPTX: Final = "pptx"
ODF: Final = "odf"
MOST_CHARS: Final = 5_000_000
"""Of a text; what comes after is left out."""

_OOXML: Final = "application/vnd.openxmlformats-officedocument."
_KINDS: Final = {
    "application/pdf": PDF,
    f"{_OOXML}wordprocessingml.document": DOCX,
    f"{_OOXML}spreadsheetml.sheet": XLSX,
    f"{_OOXML}presentationml.presentation": PPTX,
    "application/vnd.oasis.opendocument.text": ODF,
    "application/vnd.oasis.opendocument.spreadsheet": ODF,
    "application/vnd.oasis.opendocument.presentation": ODF,
}
_ENDINGS: Final = {
    ".pdf": PDF, ".docx": DOCX, ".xlsx": XLSX, ".pptx": PPTX, ".odt": ODF, ".ods": ODF, ".odp": ODF,
}  # fmt: skip
_UNTOLD: Final = frozenset({"", "application/octet-stream", "application/zip", "binary/octet-stream"})
_STARTS: Final = (b"%PDF-", b"PK\x03\x04")


class DocumentError(EvercrawlError):
    """A document cannot be read; the message says why."""


class Block(NamedTuple):
    """A paragraph, a row or a line; `level` is that of a heading, 0 otherwise."""

    text: str
    level: int = 0


class DocumentText(NamedTuple):
    """The extracted text of a document.

    Attributes
    ----------
    blocks
        The text, in order.
    title, language
        From its properties; "" if missing.
    links
        Link targets, as written.
    """

    blocks: list[Block]
    title: str = ""
    language: str = ""
    links: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The text, one block per line."""
        return "\n".join(block.text for block in self.blocks)

    @property
    def markdown(self) -> str:
        """The text as Markdown, with headings marked and blocks separated."""
        return "\n\n".join(f"{'#' * min(block.level, 6)} {words(block.text)}".strip() for block in self.blocks)


def kind_of(mime: str, url: str, body: bytes) -> str:
    r"""Return the kind of document of a body; "" for none.

    If the type is inconclusive, the suffix of the URL's path and the first bytes decide.

    Examples
    --------
    >>> kind_of("application/pdf", "http://a.example/x", b""), kind_of("text/html", "http://a.example/x.pdf", b"%PDF-1")
    ('pdf', '')
    >>> kind_of("application/octet-stream", "http://a.example/x.docx?y", b"PK\x03\x04...")
    'docx'
    """
    if mime not in _UNTOLD:
        return _KINDS.get(mime, "")
    if not body.startswith(_STARTS):
        return ""
    path = url.partition("?")[0].lower()
    kind = next((kind for ending, kind in _ENDINGS.items() if path.endswith(ending)), "")
    if body.startswith(b"%PDF-"):
        return PDF if kind == PDF or not mime else ""
    return kind if kind != PDF else ""

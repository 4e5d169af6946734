"""Which library reads which kind of document, within which bounds."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from evercrawl.parse.documents.base import DOCX, MOST_CHARS, ODF, PDF, PPTX, XLSX, Block, DocumentError, DocumentText

__all__ = ["missing", "read_document"]

_NEEDS: Final = {PDF: "pypdfium2", DOCX: "docx", XLSX: "openpyxl", PPTX: "pptx", ODF: "odfdo"}
_EXTRAS: Final = {PDF: "pdf"}


def missing(kind: str) -> str:
    """Return how to install what reads a kind of document; "" where it is there.

    >>> missing("pdf")
    ''
    """
    if find_spec(_NEEDS[kind]) is not None:
        return ""
    what, extra = ("PDFs", "pdf") if kind == PDF else ("office documents", "documents")
    return f"to read {what}, install the extra: pip install 'evercrawl[{_EXTRAS.get(kind, extra)}]'"


def read_document(kind: str, body: bytes) -> DocumentText:
    """Return what a document says.

    It may take long and much memory, and a fault in a library may end the process: call it in one of its own.

    Parameters
    ----------
    kind
        As `kind_of` told.
    body
        The whole file.

    Raises
    ------
    DocumentError
        The library is not installed; or the document is damaged, asks for a password, or is larger unpacked than
        documents may be.
    """
    if why := missing(kind):
        raise DocumentError(why)
    if kind == PDF:
        from evercrawl.parse.documents.pdf import read_pdf

        found = read_pdf(body)
    else:
        from evercrawl.parse.documents.office import read_office

        found = read_office(kind, body)
    return found._replace(blocks=_bounded(found.blocks))


def _bounded(blocks: list[Block]) -> list[Block]:
    """Return blocks without what is empty, or lies beyond the bound on texts."""
    kept, chars = list[Block](), 0
    for block in blocks:
        text = block.text.encode("utf-8", "replace").decode().replace("\0", "").strip()
        if not text:
            continue
        kept.append(Block(text[: MOST_CHARS - chars], block.level))
        chars += len(text)
        if chars >= MOST_CHARS:
            break
    return kept

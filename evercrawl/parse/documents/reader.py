"""Dispatch of documents to the libraries that read them, with limits."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from evercrawl.parse.documents.base import DOCX, MOST_CHARS, ODF, PDF, PPTX, XLSX, Block, DocumentError, DocumentText

__all__ = ["missing", "read_document"]

_NEEDS: Final = {PDF: "pypdfium2", DOCX: "docx", XLSX: "openpyxl", PPTX: "pptx", ODF: "odfdo"}
_EXTRAS: Final = {PDF: "pdf"}


def missing(kind: str) -> str:
    """Return how to install the library for a kind of document; "" if it is installed.

    >>> missing("pdf")
    ''
    """
    if find_spec(_NEEDS[kind]) is not None:
        return ""
    what, extra = ("PDFs", "pdf") if kind == PDF else ("office documents", "documents")
    return f"to read {what}, install the extra: pip install 'evercrawl[{_EXTRAS.get(kind, extra)}]'"


def read_document(kind: str, body: bytes) -> DocumentText:
    """Return the extracted text of a document.

    It may need much time and memory, and a library may crash the process: call it in a process of its own.

    Parameters
    ----------
    kind
        As returned by `kind_of`.
    body
        The whole file.

    Raises
    ------
    DocumentError
        The library is not installed; or the document is damaged or encrypted, or its unpacked size exceeds the limit.
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
    """Return blocks without empty ones, up to the limit on text size."""
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

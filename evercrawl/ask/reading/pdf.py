"""Text extraction from PDFs with PDFium, which the extra `pdf` installs."""

from typing import Final

from evercrawl.errors import EvercrawlError
from evercrawl.parse.documents.base import PDF
from evercrawl.parse.documents.reader import missing, read_document

NOT_INSTALLED: Final = "to read PDFs, install the extra: pip install 'evercrawl[pdf]'"


class NoPdfReaderError(EvercrawlError):
    """The library that reads PDFs is not installed."""


def available() -> bool:
    """Return whether PDFs can be read."""
    return not missing(PDF)


def pdf_text(body: bytes) -> str:
    """Return the text of a PDF, with a blank line between pages.

    Raises
    ------
    NoPdfReaderError
        The library is not installed.
    EvercrawlError
        The PDF is damaged, or needs a password.
    """
    if not available():
        raise NoPdfReaderError(NOT_INSTALLED)
    return "\n\n".join(block.text for block in read_document(PDF, body).blocks)

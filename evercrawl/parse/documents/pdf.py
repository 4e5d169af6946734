"""PDFs, read by PDFium from the extra `pdf`."""

from __future__ import annotations

import ctypes
import re
from importlib import import_module
from typing import Any, Final

from evercrawl.parse.documents.base import MOST_CHARS, Block, DocumentError, DocumentText

__all__ = ["read_pdf"]

MOST_PAGES: Final = 5_000
MOST_LINKS: Final = 2_000
_LANGUAGE: Final = re.compile(rb"/Lang\s*\(([A-Za-z0-9-]{2,35})\)")
_URI_BYTES: Final = 2_048


def read_pdf(body: bytes) -> DocumentText:
    """Return the extracted text of a PDF, one block per page; a damaged page does not affect the others.

    Raises
    ------
    DocumentError
        It is damaged or encrypted.
    """
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        raise DocumentError(f"the PDF cannot be read: {str(error).rstrip('.')}") from error
    blocks, links, chars = list[Block](), dict[str, None](), 0
    for number in range(min(len(document), MOST_PAGES)):
        try:
            page = document[number]
            text = page.get_textpage().get_text_bounded()
        except pypdfium2.PdfiumError:
            continue
        lines = text.replace("\r\n", "\n").replace("\ufffe", "").split("\n")
        blocks.append(Block("\n".join(line.rstrip() for line in lines).strip()))
        chars += len(text)
        for link in _links(document, page):
            links[link] = None
        if chars > MOST_CHARS or len(links) >= MOST_LINKS:
            break
    held: Any = document
    title = str(held.get_metadata_value("Title") or "")
    found = _LANGUAGE.search(body)
    return DocumentText(blocks, title, found[1].decode() if found else "", tuple(links))


def _links(document: Any, page: Any) -> list[str]:
    """Return the URIs of a page's link annotations."""
    raw: Any = import_module("pypdfium2.raw")
    found, place, link = list[str](), ctypes.c_int(0), raw.FPDF_LINK()
    while len(found) < MOST_LINKS and raw.FPDFLink_Enumerate(page, ctypes.byref(place), ctypes.byref(link)):
        action = raw.FPDFLink_GetAction(link)
        if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
            continue
        size = raw.FPDFAction_GetURIPath(document, action, None, 0)
        if 1 < size <= _URI_BYTES:
            buffer = ctypes.create_string_buffer(size)
            raw.FPDFAction_GetURIPath(document, action, buffer, size)
            found.append(buffer.value.decode("utf-8", "replace"))
    return found

"""The text of a PDF, by PDFium, which comes with the extra `pdf`."""

from typing import Final

from evercrawl.errors import EvercrawlError

NOT_INSTALLED: Final = "to read PDFs, install the extra: pip install 'evercrawl[pdf]'"
MOST_PAGES: Final = 5_000
MOST_CHARS: Final = 20_000_000
"""Of a text; what comes after is left out."""


class NoPdfReaderError(EvercrawlError):
    """The library that reads PDFs is not installed."""


def available() -> bool:
    """Whether PDFs can be read."""
    try:
        import pypdfium2  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError:
        return False
    return True


def pdf_text(body: bytes) -> str:
    """Return the text of a PDF, a blank line between its pages.

    Raises
    ------
    NoPdfReaderError
        The library is not installed.
    EvercrawlError
        It is damaged, or asks for a password.
    """
    try:
        import pypdfium2
    except ImportError:
        raise NoPdfReaderError(NOT_INSTALLED) from None
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        raise EvercrawlError(f"the PDF cannot be read: {str(error).rstrip('.')}") from error
    pages, size = list[str](), 0
    for number in range(min(len(document), MOST_PAGES)):
        try:
            page = document[number]
            text = page.get_textpage().get_text_bounded()
        except pypdfium2.PdfiumError:
            continue  # a page that is damaged leaves the others
        text = "\n".join(line.rstrip() for line in text.replace("\r\n", "\n").split("\n")).strip()
        size += len(text)
        if size > MOST_CHARS:
            break
        if text:
            pages.append(text)
    return "\n\n".join(pages).encode("utf-8", "replace").decode().replace("\x00", "")

"""Office documents, read by the libraries of the extra `documents`, after a check for zip bombs."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

from evercrawl.parse.documents.base import DOCX, MOST_CHARS, PPTX, XLSX, Block, DocumentError, DocumentText

__all__ = ["MOST_UNPACKED_BYTES", "read_office"]

MOST_UNPACKED_BYTES: Final = 128 << 20
"""What a document may come to unpacked; a member that turns out larger than it says is damaged."""
MOST_MEMBERS: Final = 10_000
MOST_RATIO: Final = 200
"""A document that is larger than 16 MiB unpacked may be so many times as large as it came."""
MOST_ROWS: Final = 100_000
MOST_LINKS: Final = 2_000
_SMALL_BYTES: Final = 16 << 20
_RELATIONS: Final = re.compile(r"<(?:\w++:)?Relationship\b[^<>]*+>")
_RELATIONS_BYTES: Final = 4 << 20
_ATTRIBUTE: Final = re.compile(r"(?<!\w)(\w++)\s*+=\s*+(?:\"([^\"]*+)\"?|'([^']*+)'?)")
_HEADING: Final = re.compile(r"Heading (\d)")


def read_office(kind: str, body: bytes) -> DocumentText:
    """Return the extracted text of an office document.

    Raises
    ------
    DocumentError
        It is damaged or encrypted, or its unpacked size exceeds the limit.
    """
    try:
        links = _checked(body)
        if kind == DOCX:
            return _docx(body)._replace(links=links)
        if kind == XLSX:
            return _xlsx(body)._replace(links=links)
        if kind == PPTX:
            return _pptx(body)._replace(links=links)
        return _odf(body)
    except DocumentError:
        raise
    except Exception as error:  # the libraries' exceptions for damaged files have no common class
        raise DocumentError(f"the document cannot be read: {type(error).__name__}: {str(error)[:100]}") from error


def _checked(body: bytes) -> tuple[str, ...]:
    """Return a document's link targets, after checking that it is no zip bomb."""
    with zipfile.ZipFile(io.BytesIO(body)) as file:
        members = file.infolist()
        total = sum(member.file_size for member in members)
        too_large = total > MOST_UNPACKED_BYTES or (total > _SMALL_BYTES and total > MOST_RATIO * len(body))
        if too_large or len(members) > MOST_MEMBERS:
            raise DocumentError(f"the document is too large unpacked: {total} bytes in {len(members)} parts")
        links = dict[str, None]()
        for member in members:
            if member.filename.endswith(".rels") and member.file_size <= _RELATIONS_BYTES:
                for target in _targets(file.read(member).decode("utf-8", "replace")):
                    links[target] = None
        return tuple(links)[:MOST_LINKS]


def _targets(relations: str) -> Iterator[str]:
    """Yield the targets of a part's hyperlinks."""
    from html import unescape

    for found in _RELATIONS.finditer(relations):
        attributes = {name: double or single for name, double, single in _ATTRIBUTE.findall(found[0])}
        if attributes.get("Type", "").endswith("/hyperlink") and attributes.get("TargetMode") == "External":
            yield unescape(attributes.get("Target", ""))


def _docx(body: bytes) -> DocumentText:
    document: Any = import_module("docx").Document(io.BytesIO(body))
    blocks = list[Block]()
    for item in document.iter_inner_content():
        if hasattr(item, "rows"):
            blocks += [Block(" | ".join(_distinct(cell.text for cell in row.cells))) for row in item.rows]
        else:
            found = _HEADING.match(item.style.name or "") if item.style is not None else None
            blocks.append(Block(str(item.text), int(found[1]) if found else 0))
    about = document.core_properties
    return DocumentText(blocks, str(about.title or ""), str(about.language or ""))


def _xlsx(body: bytes) -> DocumentText:
    book: Any = import_module("openpyxl").load_workbook(io.BytesIO(body), read_only=True, data_only=True)
    blocks, rows, chars = list[Block](), 0, 0
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # they may claim any number of cells
        blocks.append(Block(str(sheet.title), 2))
        for row in sheet.iter_rows(values_only=True):
            text = " | ".join(str(value) for value in row if value is not None)
            rows, chars = rows + 1, chars + len(text)
            if text:
                blocks.append(Block(text))
            if rows >= MOST_ROWS or chars >= MOST_CHARS:
                break
    return DocumentText(blocks, str(book.properties.title or ""), str(book.properties.language or ""))


def _pptx(body: bytes) -> DocumentText:
    show: Any = import_module("pptx").Presentation(io.BytesIO(body))
    blocks = list[Block]()
    for slide in show.slides:
        title = slide.shapes.title
        if title is not None and title.has_text_frame:
            blocks.append(Block(str(title.text_frame.text), 2))
        for shape in _shapes(slide.shapes):
            if shape.has_text_frame and (title is None or shape.shape_id != title.shape_id):
                blocks += [Block(str(paragraph.text)) for paragraph in shape.text_frame.paragraphs]
            elif getattr(shape, "has_table", False):
                blocks += [Block(" | ".join(cell.text for cell in row.cells)) for row in shape.table.rows]
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            blocks.append(Block(str(slide.notes_slide.notes_text_frame.text)))
    about = show.core_properties
    return DocumentText(blocks, str(about.title or ""), str(about.language or ""))


def _shapes(shapes: Any) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _odf(body: bytes) -> DocumentText:
    document: Any = import_module("odfdo").Document(io.BytesIO(body))
    blocks, links = list[Block](), dict[str, None]()
    for node in document.body.get_elements("descendant::text:a"):
        if len(links) < MOST_LINKS:
            links[node.get_attribute("xlink:href") or ""] = None
        node.tag = "text:span"  # otherwise its text would become a link's text in Markdown
    for node in document.body.get_elements("descendant::text:h|descendant::text:p"):
        level = int(node.get_attribute("text:outline-level") or 1) if node.tag == "text:h" else 0
        blocks.append(Block(str(node.inner_text), level))
    about = document.meta
    return DocumentText(blocks, about.title or "", about.language or "", tuple(filter(None, links)))


def _distinct(texts: Iterator[str]) -> list[str]:
    """Return texts without the repetitions of merged cells."""
    return list(dict.fromkeys(text for text in texts if text))

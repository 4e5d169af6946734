"""Small documents of every kind that is read, made by the libraries that read them."""

import io
import zipfile
from typing import Any


def docx(*, link: str = "http://example.org/linked") -> bytes:
    import docx as library
    from docx.opc.constants import RELATIONSHIP_TYPE

    document: Any = library.Document()
    document.core_properties.title, document.core_properties.language = "A report", "de"
    document.add_heading("Findings of docx", 1)
    document.add_paragraph("Grüße aus dem Dokument.")
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "left", "right"
    document.part.relate_to(link, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    return saved(document.save)


def xlsx() -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.properties.title = "A table"
    sheet: Any = book.active
    sheet.title = "Figures"
    sheet.append(["words of xlsx", 42, None, 1.5])
    sheet["A2"].value = "more"
    sheet["A2"].hyperlink = "http://example.org/from-xlsx"
    return saved(book.save)


def pptx() -> bytes:
    import pptx as library

    show: Any = library.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "Slide of pptx"
    slide.placeholders[1].text = "a point"
    run = slide.placeholders[1].text_frame.paragraphs[0].runs[0]
    run.hyperlink.address = "http://example.org/from-pptx"
    slide.notes_slide.notes_text_frame.text = "and a note"
    return saved(show.save)


def odt() -> bytes:
    from odfdo import Document, Header, Link, Paragraph

    document = Document("text")
    document.meta.title, document.meta.language = "An open one", "fr"
    document.body.clear()
    document.body.append(Header(2, "Heading of odt"))
    paragraph = Paragraph("words and ")
    paragraph.append(Link("http://example.org/from-odt", text="a link"))
    document.body.append(paragraph)
    return saved(document.save)


def bomb(most_bytes: int = 400 << 20) -> bytes:
    """Return a zip that is called a docx, of which one part is hundreds of megabytes unpacked."""
    with zipfile.ZipFile(io.BytesIO(docx())) as small:
        parts = {name: small.read(name) for name in small.namelist()}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name, data in parts.items():
            file.writestr(name, data)
        with file.open("word/media/x.xml", "w", force_zip64=True) as part:
            for _ in range(most_bytes >> 20):
                part.write(bytes(1 << 20))
    return target.getvalue()


def lying(body: bytes) -> bytes:
    """Return a zip of which the directory says that each part is a byte long."""
    data, at = bytearray(body), 0
    while (at := data.find(b"PK\x01\x02", at)) >= 0:
        data[at + 24 : at + 28] = (1).to_bytes(4, "little")
        at += 4
    return bytes(data)


def saved(save: Any) -> bytes:
    target = io.BytesIO()
    save(target)
    return target.getvalue()


def pdf(words: str = "Findings of pdf", *, link: str = "http://example.org/linked") -> bytes:
    """Return a PDF of one page with some words, and an area that links somewhere."""
    shown = f"BT /F1 18 Tf 72 700 Td ({words}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Annots [6 0 R] "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(shown), shown),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Annot /Subtype /Link /Rect [72 690 300 720] /A << /S /URI /URI (%s) >> >>" % link.encode(),
        b"<< /Title (A paper) >>",
    ]
    out, places = bytearray(b"%PDF-1.4\n"), list[int]()
    for number, each in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    at = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R /Info 7 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, at)
    return bytes(out)

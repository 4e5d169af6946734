"""What a change of the code did to the price of a page: this checkout and another crawl a served corpus by turns.

    python bench/paired.py --corpus FOLDER --before CHECKOUT [--profile bench] [--pairs 4] [--passes 3] [-- MORE FLAGS]

Each turn is a whole crawl with everything on, in one process, and then `--passes` passes over it of which all answers
are 304. Who begins changes with each pair. Prints the CPU time of a page and of an answer 304 of both, medians, and
the median of the ratios within pairs with the least and the largest of them: other programs on the machine disturb
both sides of a pair alike. Flags behind `--` go to the crawls of both.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Final

from corpus import Corpus
from runs import evercrawl, first_pass, measured, unchanged_pass

SIDES: Final = ("before", "now")
HERE: Final = Path(__file__).resolve().parent.parent


def run_code_of(side: Path, work: Path) -> None:
    """Let what is started from now on run the code in `side`.

    It is started in the folder `work`, which holds no code: `python -m` prefers the folder that it is started in to
    PYTHONPATH, so within a checkout it would run that checkout for both sides.
    """
    os.environ["PYTHONPATH"] = str(side)
    os.chdir(work)


def crawled(side: Path, corpus: Corpus, work: Path, passes: int, more: list[str]) -> tuple[float, float]:
    """Return CPU microseconds of a page and of an answer 304 (NaN without a pass) of the code in `side`."""
    run_code_of(side, work)
    directory = work / "crawl"
    flags = more if "--workers" in more else ["--workers", "0", *more]
    run = first_pass(side.name, evercrawl(directory, corpus, "--until-idle", *flags), corpus, work / "log")
    if run.missing or run.twice or run.extra:
        sys.exit(f"{side}: {run.missing} pages are missing, {run.twice} came twice, {run.extra} too many")
    again = float("nan")
    if passes:
        unchanged = unchanged_pass(directory, corpus, run.pages * passes, work / "log")
        again = unchanged.cpu_s / unchanged.pages * 1e6
    shutil.rmtree(directory)
    return run.cpu_s / run.pages * 1e6, again


def main() -> int:
    """Crawl by turns and print the ratios."""
    words, more = sys.argv[1:], list[str]()
    if "--" in words:
        words, more = words[: words.index("--")], words[words.index("--") + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True, help="folder of a served corpus")
    parser.add_argument("--before", type=Path, required=True, help="a checkout of the code to compare with")
    parser.add_argument("--profile", default="bench")
    parser.add_argument("--pairs", type=int, default=4)
    parser.add_argument("--passes", type=int, default=3, help="passes of answers 304; 0 for none")
    args = parser.parse_args(words)
    corpus, sides = Corpus(args.corpus.resolve(), args.profile), {"before": args.before.resolve(), "now": HERE}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in SIDES}
    work = Path(tempfile.mkdtemp(prefix="paired-"))
    try:
        for side in sides.values():  # compiles the kernels
            run_code_of(side, work)
            measured(evercrawl(work / "warm", corpus, "--pages", "50"), work / "log")
            shutil.rmtree(work / "warm")
        for number in range(args.pairs):
            for name in SIDES if number % 2 else SIDES[::-1]:
                found[name].append(crawled(sides[name], corpus, work, args.passes, more))
                page, again = found[name][-1]
                print(f"pair {number + 1}  {name:<6}  page {page:.0f} us  304 {again:.0f} us", flush=True)
    finally:
        shutil.rmtree(work)
    for column, what in enumerate(("page", "304")[: 2 if args.passes else 1]):
        before, now = ([times[column] for times in found[name]] for name in SIDES)
        ratios = sorted(b / a for a, b in zip(before, now, strict=True))
        print(
            f"{what}: {statistics.median(before):.0f} us before, {statistics.median(now):.0f} us now, "
            f"{statistics.median(ratios):.3f} of before ({ratios[0]:.3f} to {ratios[-1]:.3f})"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

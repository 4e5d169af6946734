"""What a browser brings and costs: pages that scripts build, a crawl that needs none, and pages that do harm.

    python bench/rendering.py [--pairs 5] [--pages 600] [--only rate]

Everything is on loopback. Rates are ratios of runs made by turns, with `--render auto` and `never`: of pages a second,
and of pages a second of processor time, which other programs on the machine disturb less.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from evercrawl.config import Config
from evercrawl.crawl import crawl
from evercrawl.crawl.rendering.browser import ChromiumPool
from evercrawl.progress import Limits
from evercrawl.simulate.surroundings.loopback import NETWORK, Loopback

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / "helpers")]

from script_site import HARM, WAYS, ScriptSite  # noqa: E402

COMMON: dict[str, Any] = {
    "refresh_after_s": 1000.0,
    "probe_share": 0.0,
    "allow_net": (NETWORK,),
    "connections_per_ip": 4,
}


async def run(folder: str, seeds: list[str], **settings: Any) -> tuple[float, int]:
    """Return how long a crawl took, and how many pages it visited."""
    began = time.monotonic()
    summary = await crawl(Path(folder), Config(**COMMON | settings), seeds, Limits(until_idle=True, seconds=300))
    return time.monotonic() - began, summary.visits


async def built(harm: tuple[str, ...] = (), **settings: Any) -> tuple[float, set[str], int]:
    """Crawl the pages that scripts build; return the time, the pages that were reached, and the pool's memory."""
    pools = list[ChromiumPool]()
    begin = ChromiumPool.__init__

    def noted(pool: ChromiumPool, *arguments: Any, **options: Any) -> None:
        begin(pool, *arguments, **options)
        pools.append(pool)

    ChromiumPool.__init__ = noted  # type: ignore[method-assign]
    try:
        with tempfile.TemporaryDirectory() as folder:
            async with ScriptSite(harm=harm) as site:
                took_s, _ = await run(folder, [site.url("/")], delay_s=0.005, **settings)
                return took_s, set(site.paths), max((pool.peak_bytes for pool in pools), default=0)
    finally:
        ChromiumPool.__init__ = begin  # type: ignore[method-assign]


async def rate(mode: str, pages: int) -> tuple[float, float]:
    """Return pages a second of a crawl that needs no browser, and pages a second of processor time."""
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        async with Loopback(10, pages // 10, changing=0) as server:
            took_s, visits = await run(folder, server.seeds, delay_s=0.0, render=mode, workers="0")
            return visits / took_s, visits / (time.process_time() - began)


def main() -> None:
    """Print all three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5, help="pairs of runs without a page that needs a browser")
    parser.add_argument("--pages", type=int, default=600, help="pages of each of them")
    parser.add_argument("--only", choices=("rate",), help="the rate of pages that need no browser alone")
    args = parser.parse_args()
    if args.only is None:
        show_pages()
    show_rates(args.pairs, args.pages)


def show_pages() -> None:
    """Print what is read of pages that scripts build, alone and beside those that do harm."""
    pages = {f"/page/{number}" for number in range(len(WAYS))}
    for mode in ("never", "auto"):
        took_s, asked, peak = asyncio.run(built(render=mode))
        found = f"{len(asked & pages):2} of {len(pages)} pages that scripts build are found"
        print(f"{mode:6} {found} in {took_s:.1f} s; the browser had {peak >> 20} MiB at most", flush=True)
    for path in HARM:
        took_s, asked, peak = asyncio.run(built((path,), render="auto", render_time_s=3.0))
        found = f"{len(asked & pages):2} of {len(pages)}"
        print(f"beside {path:8} {found} in {took_s:.1f} s; at most {peak >> 20} MiB", flush=True)


def show_rates(pairs: int, pages: int) -> None:
    """Print what rendering that is on costs pages that need none."""
    asyncio.run(rate("never", pages))  # warms up
    auto, never = list[tuple[float, float]](), list[tuple[float, float]]()
    for number in range(pairs):
        for mode, into in (("auto", auto), ("never", never)) if number % 2 else (("never", never), ("auto", auto)):
            into.append(asyncio.run(rate(mode, pages)))
    for place, what in enumerate(("second", "second of processor time")):
        ratios = sorted(a[place] / n[place] for a, n in zip(auto, never, strict=True))
        shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        print(f"pages a {what}, auto over never, that need none: median {statistics.median(ratios):.2f} of {shown}")


if __name__ == "__main__":
    main()

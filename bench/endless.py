"""What parts of sites that go on without end cost, and whether large archives are read: by the shipped loop.

    python bench/endless.py [--traps] [--archives] [--only WORD] [--pages 2000] [--within 0]

* **traps**: sites of 200 pages without a rest, every page of which may be visited again after a second, with a part
  that has no end; for 60 s of virtual time. Such a part gets at most a tenth of the visits, and the rest is read whole.
* **archives**: a site of 200 pages and an archive of so many, whose pages fall due meanwhile. It is to be read whole
  within 1.3 times as many visits as there are pages.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any, Final

from endless_web import ARCHIVES, TRAPS, Annex, EndlessWeb

from evercrawl.config import Config
from evercrawl.parse.urls import path_query
from evercrawl.simulate.living.lives import explore

FAST: Final[dict[str, Any]] = {"delay_s": 0.0, "refresh_after_s": 1.0, "connections_per_ip": 8, "sitemaps": False}
MOST: Final = 0.1
"""Part of the visits of its site that goes to what has no end."""
TIMES: Final = 1.3
"""Visits a page within which an archive is read whole."""


class Row:
    """What a crawl of one site came to."""

    def __init__(self, web: EndlessWeb, seconds: float, **settings: Any) -> None:
        began = time.process_time()
        asked = explore(web, Config(**settings), seconds)
        self.took_s = time.process_time() - began
        wanted, read = set(web.paths), set[str]()
        self.visits = self.endless = self.endless_pages = 0
        self.whole_after: int | None = None
        self.pages = len(wanted)
        for one in asked:
            path = path_query(one.url)
            if path == "/robots.txt" or one.status not in (200, 304):
                continue
            self.visits += 1
            self.endless += web.is_endless(path)
            if path not in read:
                read.add(path)
                self.endless_pages += web.is_endless(path)
                if path in wanted and self.whole_after is None and wanted <= read:
                    self.whole_after = self.visits
        self.left = len(wanted - read)


def trap(part: Annex, within: int, seconds: float) -> tuple[bool, str]:
    """Crawl a site with a part that has no end; return whether it got little, and a line."""
    row = Row(EndlessWeb(part, within=within), seconds, **FAST)
    share = row.endless / row.visits
    good = share <= MOST and not row.left
    return good, (
        f"{share:7.1%} {row.endless_pages:6} {row.pages - row.left:5} of {row.pages} {row.whole_after or '-':>7} "
        f"{row.visits:8} {row.took_s:6.1f}  {'met' if good else 'MISSED'}"
    )


def archive(part: Annex, within: int) -> tuple[bool, str]:
    """Crawl a site with a large part that ends; return whether it was read, and a line."""
    web = EndlessWeb(part, within=within, latency_s=0.1)
    pages = len(set(web.paths))
    row = Row(web, pages * 1.5 * 1.15, refresh_after_s=max(pages / 6.0, 60.0))
    good = row.whole_after is not None and row.whole_after <= TIMES * row.pages
    after = f"{row.whole_after / row.pages:.2f}" if row.whole_after else "-"
    return good, f"{row.pages - row.left:6} of {row.pages} {after:>5} {row.took_s:6.1f}  {'met' if good else 'MISSED'}"


def main() -> int:
    """Print a line a kind; return 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--traps", action="store_true", help="these alone")
    parser.add_argument("--archives", action="store_true", help="these alone")
    parser.add_argument("--only", default="", help="kinds whose names have this word")
    parser.add_argument("--pages", type=int, default=2000, help="of an archive")
    parser.add_argument("--within", type=int, default=0, help="number of the page that leads to the part")
    parser.add_argument("--seconds", type=float, default=60.0, help="of virtual time, for each trap")
    given = parser.parse_args()
    both, good = given.traps == given.archives, True
    if both or given.traps:
        print(f"{'without end':<36} visits  pages   the rest read   after   visits  CPU s")
        for name, make in TRAPS.items():
            if given.only in name:
                met, line = trap(make(), given.within, given.seconds)
                good &= met
                print(f"{name:<36}{line}", flush=True)
    if both or given.archives:
        print(f"{'archives':<36} pages read  visits a page  CPU s")
        for name, build in ARCHIVES.items():
            if given.only in name:
                met, line = archive(build(given.pages), given.within)
                good &= met
                print(f"{name:<36}{line}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

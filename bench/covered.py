"""Whether what is known gets read: sites like those of documentation, on a virtual clock, by the shipped loop.

    python bench/covered.py [--only busy,whole,calendars,slow] [--policy price] [--seeds 2] [--pages 20000]

* **busy**: six sites without a rest, every page of which may be visited again after a second. A site is visited as
  often as it answers. No known page may wait until its site has had three visits for each page that is known of it.
* **whole**: one site of 20,000 pages, eight links deep, at the default settings. It is to be read whole within 1.3
  times as many visits as it has pages.
* **calendars**: like busy, with an endless calendar on half of the sites. Calendars get at most a tenth of the visits
  of their sites.
* **slow**: 48 pages on a site with a rest of 0.05 s, one of which takes 8 s to answer; for 75 s.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from figures import Figure

from evercrawl.config import Config
from evercrawl.simulate.living.coverage import Coverage, coverage
from evercrawl.simulate.living.documentation import DocumentationWeb
from evercrawl.simulate.living.lives import explore


def covered(web: DocumentationWeb, seconds: float, **settings: Any) -> Coverage:
    """Crawl a web for so long, and return what became of its pages."""
    began = time.process_time()
    asked = explore(web, Config(**settings), seconds)
    found = coverage(web, [(one.url, one.status) for one in asked])
    for site in web.origins:
        print(
            f"  {site}: {found.visits[site]} visits, {found.calendar[site]} of calendars; {found.read[site]} of "
            f"{len(web.paths)} pages read, whole after {found.whole_after.get(site)}; at most "
            f"{found.overdue.get(site, 0.0):.2f} visits a known page while one was unread"
        )
    print(f"  {time.process_time() - began:.1f} s of processor time", flush=True)
    return found


FAST: dict[str, Any] = {"delay_s": 0.0, "refresh_after_s": 1.0, "connections_per_ip": 8, "sitemaps": False}


def busy(given: argparse.Namespace) -> list[Figure]:
    """Measure sites that are visited as often as they answer."""
    worst, left = 0.0, 0
    for seed in range(given.seeds):
        web = DocumentationWeb(seed, hosts=6, pages=200, depth=5, latency_s=0.02)
        found = covered(web, 60.0, policy=given.policy, **FAST)
        worst = max(worst, *found.overdue.values())
        left += sum(len(web.paths) - found.read[site] for site in web.origins)
    return [
        Figure("busy: visits a known page while one is unread", worst, "x", at_most=3.0),
        Figure("busy: pages left unread", left, "pages", at_most=1e-9),
    ]


def whole(given: argparse.Namespace) -> list[Figure]:
    """Measure a large site at the default settings."""
    figures: list[Figure] = []
    for even in (True, False):
        web = DocumentationWeb(1, hosts=1, pages=given.pages, depth=8, even=even, latency_s=0.1)
        found = covered(web, given.pages * 1.5 * 1.15, policy=given.policy)
        visits = found.whole_after.get(web.origins[0], 10 * given.pages)
        kind = "even" if even else "uneven"
        figures.append(Figure(f"whole: visits a page, {kind} tree", visits / given.pages, "x", at_most=1.3))
    return figures


def calendars(given: argparse.Namespace) -> list[Figure]:
    """Measure what endless calendars cost their sites, and whether the rest is read."""
    share, worst = 0.0, 0.0
    for branches in (1, 10):
        web = DocumentationWeb(3, hosts=4, pages=200, depth=5, calendars=2, branches=branches, latency_s=0.02)
        found = covered(web, 60.0, policy=given.policy, **FAST)
        share = max(share, *(found.calendar[site] / found.visits[site] for site in web.origins[:2]))
        worst = max(worst, *found.overdue.values())
    return [
        Figure("calendars: part of their sites' visits", 100 * share, "%", at_most=10.0),
        Figure("calendars: visits a known page while one is unread", worst, "x", at_most=3.0),
    ]


def slow(given: argparse.Namespace) -> list[Figure]:
    """Measure a site one page of which takes long to answer."""
    web = DocumentationWeb(4, hosts=1, pages=48, depth=3, latency_s=0.1, slow={1: 8.0})
    settings = FAST | {"delay_s": 0.05, "policy": given.policy}
    asked = explore(web, Config(**settings), 75.0)
    took = sum(min(one.ended_at, web.began_at + 75.0) - one.at for one in asked if one.url.endswith(web.paths[1]))
    read = len({one.url for one in asked if one.status == 200})
    return [
        Figure("slow: pages read", read, "of 48", at_least=48),
        Figure("slow: time of the slow page", took, "s of 75", at_most=25.0),
    ]


def main() -> int:
    """Print all figures; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", default="busy,whole,calendars,slow")
    parser.add_argument("--policy", default="price")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--pages", type=int, default=20_000)
    given = parser.parse_args()
    parts = {"busy": busy, "whole": whole, "calendars": calendars, "slow": slow}
    figures = [figure for name in given.only.split(",") for figure in parts[name](given)]
    print(*figures, sep="\n")
    return 0 if all(figure.ratio is None or figure.ratio >= 1 for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())

"""evercrawl lab simulate --partitions: size and cost of a large crawl in partitions, from made-up counts."""

from __future__ import annotations

import argparse
import contextlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Final, cast

from evercrawl.cli import arguments
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.lines import size
from evercrawl.cli.show.words import span
from evercrawl.config import values
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.simulate.parted.counts import PartedCounts

_KNOWN: Final = "1e9"
_MOST: Final = 1e13
_OF_WORLDS: Final = ("worlds", "until_failure", "jobs", "resume", "verbose")


def run(args: argparse.Namespace, seed: int) -> int:
    """Compute the counts, and print them."""
    from evercrawl.simulate.parted.counts import counted
    from evercrawl.store.post.ownership import parts_wrong

    parts = cast("int", arguments.value(values.whole(1), args.partitions, "--partitions"))
    known = _count(args.known or _KNOWN)
    if why := parts_wrong(parts):
        raise ConfigError(f"{why}; give another --partitions")
    for name in _OF_WORLDS:
        if getattr(args, name):
            raise ConfigError(f"--partitions counts, and lives no worlds; leave --{name.replace('_', '-')} out")
    found = counted(known, parts, seed)
    if args.json:
        name, used = found.nearest
        print(json_line("counts", {"seed": seed, **asdict(found), "nearest_limit": name, "nearest_used": used}))
    else:
        print("\n".join(f"{head:<18}{text}" for head, text in lines(found, seed)))
    return 0


def _count(raw: str) -> float:
    """Return a number of URLs, which may be written like 1e10."""
    with contextlib.suppress(ValueError):
        if 1.0 <= (known := float(raw)) <= _MOST:
            return known
    raise ConfigError(f"--known must be a number of URLs from 1 to {_MOST:g}, such as 5000000 or 1e9, not {raw!r}")


def lines(found: PartedCounts, seed: int) -> list[tuple[str, str]]:
    """Return the output as lines with their headings."""
    mean, fresh = found.known / found.parts, found.shares
    return [
        ("counts", f"{found.known:,.0f} URLs of {found.sites:,} sites, made up (seed {seed}); nothing is crawled"),
        ("partitions", f"{found.parts}, {mean:,.0f} URLs each; {found.largest:,.0f} in the largest "
                       f"({found.largest / mean:.2f} times that), {found.largest_site:,.0f} of the largest site"),
        ("other partitions'", f"{found.elsewhere:.2f} rows for each URL, {found.elsewhere_hosts:.1f} for each site"),
        ("memory", f"{size(found.memory_bytes)}; {size(found.largest_bytes)} for the largest partition"),
        ("visits", f"{found.visits_per_s:,.1f} a second, which take {found.cores:.2f} cores"),
        ("letters", f"{found.letters_per_s:,.1f} a second, {found.entries_per_s:,.0f} entries"),
        ("journal", f"{size(found.journal_per_day)} a day"),
        ("start", f"{span(found.start_s)} of CPU for the largest partition"),
        ("freshness", f"{fresh.equal:.4f} of the best with equal shares of the ceiling; {fresh.by_pages:.4f} by pages, "
                      f"{fresh.by_price:.4f} by price"),
        *((f"{'PASSED' if used > 1 else 'used'} {used:,.0%}", name) for name, used in sorted(
            found.limits.items(), key=lambda limit: -limit[1])),
    ]  # fmt: skip

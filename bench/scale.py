"""What a crawl of the web would cost, from what was measured of small ones: an extrapolation, and nothing else.

Each item is a measured figure, or assumed; a flag replaces it. Of each size a row has the fewest partitions with which
no limit is passed, or 256; below are the limits that are nearest. `evercrawl lab simulate --partitions P --known N` has
the whole of one row. python bench/scale.py --known 1e9,1e10,1e11
"""

import argparse
import math
from dataclasses import fields

from evercrawl.simulate.parted.counts import GIB, PartedCounts, ScaleItems, counted
from evercrawl.store.post.ownership import MOST

FULL = 0.8  # of a machine's memory


def fewest(known: float, items: ScaleItems, seed: int) -> PartedCounts:
    """Return the crawl with the fewest partitions with which no limit is passed, or with the most there may be."""
    parts = 1
    while parts < MOST:
        found = counted(known, parts, seed, items)
        if found.nearest[1] <= 1.0:
            return found
        parts *= 2
    return counted(known, MOST, seed, items)


def row(found: PartedCounts, items: ScaleItems) -> tuple[str, ...]:
    """Return the line of one size."""
    machines = math.ceil(found.memory_bytes / (FULL * items.machine_gib * GIB))
    return (
        f"{found.known:.0e}", f"{found.parts}", f"{found.memory_bytes / GIB:,.0f}", f"{machines:,}",
        f"{found.visits_per_s:,.0f}", f"{found.cores:,.1f}", f"{found.entries_per_s:,.0f}",
        f"{found.letters_per_s:,.0f}",
        f"{found.journal_per_day / GIB:,.0f}", f"{found.start_s:,.0f}", f"{found.shares.equal:.4f}",
    )  # fmt: skip


def main() -> int:
    """Print the items, the table, and what breaks first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--known", default="1e9,1e10,1e11")
    parser.add_argument("--seed", type=int, default=1)
    for item in fields(ScaleItems):
        flag, meaning = f"--{item.name.replace('_', '-')}", item.metadata["meaning"]
        parser.add_argument(flag, type=float, default=item.default, help=meaning)
    args = parser.parse_args()
    items = ScaleItems(**{item.name: float(getattr(args, item.name)) for item in fields(ScaleItems)})
    for item in fields(ScaleItems):
        print(f"{item.name:<22}{getattr(items, item.name):>12,g}  {item.metadata['meaning']}")
    print()
    heads = (
        "known URLs", "partitions", "memory, GiB", "machines", "visits/s", "cores", "entries/s", "letters/s",
        "journal, GiB/day", "start, s", "equal shares",
    )  # fmt: skip
    print(f"| {' | '.join(heads)} |")
    print(f"|{'---|' * len(heads)}")
    sizes = [fewest(float(known), items, args.seed) for known in args.known.split(",")]
    for found in sizes:
        print(f"| {' | '.join(row(found, items))} |")
    for found in sizes:
        print(f"\n{found.known:.0e} known URLs, {found.parts} partitions:")
        for name, used in sorted(found.limits.items(), key=lambda limit: -limit[1])[:3]:
            print(f"  {used:.2f}  {name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

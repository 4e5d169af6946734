"""What a crawl of the web would cost, from what was measured of small ones: an extrapolation, and nothing else.

Each item is a measured figure, which a flag replaces. python bench/scale.py --known 1e9,1e10,1e11
"""

import argparse
import math

ITEMS = {
    "url_bytes": (27.9, "memory of a known URL (bench/large.py)"),
    "page_bytes": (245.0, "memory of a visited page beside that (bench/large.py)"),
    "host_bytes": (374.0, "memory of a host with its queues (bench/large.py)"),
    "read_share": (0.2, "part of the known URLs that is ever read (assumed)"),
    "urls_a_host": (100.0, "known URLs of a host (assumed)"),
    "elsewhere": (1.14, "rows for URLs of others, a URL of one's own (bench/partitions.py)"),
    "visits_per_cpu_s": (600.0, "visits a CPU-second (bench/large.py)"),
    "refresh_days": (30.0, "days between two visits of a page (assumed)"),
    "entries": (5.9, "entries of letters a visit (bench/partitions.py)"),
    "entries_per_s": (4.3e6, "entries that a core journals and folds a second (bench/partitions.py)"),
    "journal_bytes": (398.0, "journal of a visit in 4 partitions (bench/partitions.py)"),
    "machine_gib": (64.0, "memory of a machine (assumed)"),
}
GIB = 1 << 30
DAY_S = 86_400.0
FULL = 0.8  # of a machine's memory


def row(known: float, item: dict[str, float]) -> tuple[str, ...]:
    """Return the line of one size."""
    read = known * item["read_share"]
    ram = known * (1 + item["elsewhere"]) * item["url_bytes"] + read * item["page_bytes"]
    ram += known / item["urls_a_host"] * item["host_bytes"]
    machines = math.ceil(ram / (FULL * item["machine_gib"] * GIB))
    visits_s = read / (item["refresh_days"] * DAY_S)
    entries_s = visits_s * item["entries"]
    cores = visits_s / item["visits_per_cpu_s"] + 2 * entries_s / item["entries_per_s"]
    journal = visits_s * item["journal_bytes"] * DAY_S / GIB
    return (
        f"{known:.0e}", f"{ram / GIB:,.0f}", f"{machines:,}", f"{visits_s:,.0f}", f"{cores:,.1f}", f"{entries_s:,.0f}",
        f"{journal:,.0f}",
    )  # fmt: skip


def main() -> int:
    """Print the items and the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--known", default="1e9,1e10,1e11")
    for name, (value, meaning) in ITEMS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=value, help=meaning)
    args = parser.parse_args()
    item = {name: float(getattr(args, name)) for name in ITEMS}
    for name, (_, meaning) in ITEMS.items():
        print(f"{name:<18}{item[name]:>12,g}  {meaning}")
    print()
    heads = "known URLs", "memory, GiB", "machines", "visits/s", "cores", "entries of letters/s", "journal, GiB/day"
    print(f"| {' | '.join(heads)} |")
    print("|---|---|---|---|---|---|---|")
    for known in args.known.split(","):
        print(f"| {' | '.join(row(float(known), item))} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

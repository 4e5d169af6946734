"""The results of a contest, as a Markdown page and a Parquet table."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from evercrawl.errors import StoreError
from evercrawl.extras import require_parquet
from evercrawl.lab.entering.entering import ContestPlace, ContestRules


def page(found: Sequence[ContestPlace], rules: ContestRules, entrants: Sequence[str]) -> str:
    """Return the page in Markdown: a table for each field and budget, with entrants in bold."""
    who = ", ".join(entrants) or "no external policy"
    lines = [
        "# Contest", "", f"Entered: {who}. Seed {rules.seed}; {rules.pages:,} made-up pages, {rules.cycles:g} cycles; "
        f"histories: {', '.join(rules.histories)}, the last {rules.years:g} years. Intervals are 95 %.",
    ]  # fmt: skip
    for place in dict.fromkeys((each.field, each.budget) for each in found):
        of = "freshness" if place[0] == "histories" else "share of the optimum"
        lines += ["", f"## {place[0]}, {place[1]:g} polls per page and day", ""]
        lines += [f"| rank | policy | {of} | 95 % | gap closed |", "|---|---|---|---|---|"]
        lines += [_row(each) for each in found if (each.field, each.budget) == place]
    return "\n".join([*lines, ""])


def _row(each: ContestPlace) -> str:
    name = f"**{each.policy}**" if each.entered else each.policy
    gap = "" if math.isnan(each.gap_closed) else f"{each.gap_closed:.2f}"
    return f"| {each.rank} | {name} | {each.score:.3f} | {each.low:.3f} to {each.high:.3f} | {gap} |"


def keep(found: Sequence[ContestPlace], rules: ContestRules, entrants: Sequence[str], folder: Path) -> Iterator[Path]:
    """Write contest.md and contest.parquet to a folder, and yield their paths.

    Raises
    ------
    StoreError
        If the folder cannot be created or written to.
    """
    require_parquet()
    import pyarrow as pa
    from pyarrow.parquet import write_table

    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = folder / "contest.md"
        written.write_text(page(found, rules, entrants), encoding="utf-8")
        yield written
        table = folder / "contest.parquet"
        columns = {name: [getattr(each, name) for each in found] for name in ContestPlace._fields}
        write_table(pa.table(columns), table, compression="zstd")
        yield table
    except OSError as error:
        raise StoreError(f"cannot write to {folder}: {error.strerror or error}; name another with --out") from error

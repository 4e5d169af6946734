"""docs/POLICY_OPTIONS.md: every policy's parameters and tables, as its docstrings tell them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evercrawl.crawl.policies import kind_of, names
from evercrawl.crawl.policy_docs import described

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evercrawl.crawl.policy_docs import Described, Option, Table

_PAGE: Final = """\
# Parameters and tables of every policy

What may be set of each `--policy`, and what it keeps. How policies compare is told in
[Which page next](POLICIES.md); `evercrawl policies NAME` says of one what this page says of all.

A parameter is set with `--policy-option NAME=VALUE`, which may be repeated, or for good in `crawl.toml`:

    evercrawl crawl https://example.org/ --policy tianwang --policy-option capacity=500 --policy-option cycle=1h

```toml
policy = "tianwang"
policy_options = ["capacity=500", "cycle=1h"]
```

`POLICY.NAME=VALUE` sets it for one policy alone, where a backtest compares several, or a crawl changes its policy now
and then. What is said of another policy than the crawl's is checked, and passed over. Durations may be written as
`30s`, `10m`, `1h` or `1d`; plain numbers are seconds. Switches are 1 or 0.

A table is written with `evercrawl export policy.NAME`, as it is at that moment. Pages are named by their `url`, and
sites by their registrable domain; instants are ISO 8601 (UTC) in JSON lines, and timestamps in Parquet; what never
was is null. A `N` in the name of a column stands for a number. Tables that are made by a plan have no rows, or are not
there, before the first.

This page is written by `make docs`.
"""


def to_markdown() -> str:
    """Return docs/POLICY_OPTIONS.md."""
    return "".join([_PAGE, *(_of_policy(described(name, kind_of(name))) for name in names())])


def _of_policy(found: Described) -> str:
    head = f"\n## {found.name}\n\n{found.promise}\n"
    return "".join([head, _parameters(found.options), *(_table(each) for each in found.tables)])


def _parameters(options: list[Option]) -> str:
    rows = [(f"`{each.name}`", _default(each.default), each.meaning) for each in options]
    return _grid(("Parameter", "Default", "Meaning"), rows) if rows else "\nIt has no parameters.\n"


def _table(table: Table) -> str:
    rows = [(f"`{column.name}`", column.unit, column.meaning) for column in table.columns]
    return f"\n`policy.{table.name}`: {table.meaning}\n" + _grid(("Column", "Unit", "Meaning"), rows)


def _grid(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    ruler = "|---" * len(head) + "|"
    return "\n" + "\n".join([_line(head), ruler, *(_line(row) for row in rows)]) + "\n"


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _default(value: float | str) -> str:
    return "empty" if value == "" else f"`{value}`" if isinstance(value, str) else f"`{value:g}`"

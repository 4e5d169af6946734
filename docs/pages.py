"""Write the pages of docs/ that are drawn from the code: `python docs/pages.py`, or `make docs`."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evercrawl.ask.policies.docs import described
from evercrawl.config import SETTINGS, as_toml
from evercrawl.config.focus import HEAVIEST, LIGHTEST, MOST
from evercrawl.model.policy.policies import kind_of, names
from evercrawl.schedule.parameters import kinds_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evercrawl.ask.policies.docs import Described, Option, Table
    from evercrawl.config import Setting
    from evercrawl.config.values import Kind

_SETTINGS: Final = """\
# Settings

Every setting of a crawl. A value comes from the first of these that names it:

1. a flag of `evercrawl crawl`, for this run only;
2. an environment variable, for this run only: `EVERCRAWL_` and the name in capitals; lists are parted by white space;
3. the file given with `--config FILE`, for this run only;
4. `crawl.toml` in the crawl directory.

`crawl.toml` is written when a crawl begins, with every setting as the three others made it, and it is read whenever
the crawl goes on: edit it to change a crawl for good. A list given anew replaces the old list. Parameters in
`policy_options` mean the policy that their source names: where a flag names another, those in `crawl.toml` are passed
over for that run, and the run's first line says so. Which policy a run follows is noted beside `crawl.toml`: `why`,
`plan`, `status`, `export` and the other questions go by it while the run is under way, and after it until the next, or
until `crawl.toml` names another policy than it did then. How importance is learned (`importance`, `window`,
`internal`, `trusted`, `suspects`) lasts by nature: a flag or variable that changes it is written there, and the crawl's
past is judged anew.

Sizes may be written as `"10MiB"` or `"500kB"`, durations as `"250ms"`, `"30s"`, `"10m"`, `"1h"`, `"1d"` or `"1w"`;
plain numbers are bytes and seconds. In names of strategies `-` and `_` are equal.

This page is written by `make docs`.
"""

_FOCUS: Final = f"""
## [[focus]]

Pages that are wanted more, or less, than their importance says. Each entry begins with a line `[[focus]]`, in
`crawl.toml` or in the file given with `--config`, and says which pages it means; up to {MOST} are possible.

```toml
[[focus]]
url = "/(news|press)/"
words = ["storm", "high water"]
weight = 8

[[focus]]
content_type = "application/pdf"
```

| Name | Default | Meaning |
|---|---|---|
| `url` | `""` | a regular expression that is found in the page's URL |
| `content_type` | `""` | what the page was when it was read last: `application/pdf`, `text/*` |
| `words` | `[]` | whole words or phrases; one is in or right beside the link that made it known, or in its title |
| `weight` | `4` | how many times as much a visit is worth, from {LIGHTEST:g} to {HEAVIEST:g}; below 1, less |

A page is meant by an entry if all is true that the entry names, and of several entries the first that means it counts.
A page that was not read yet has no content type, and a link says its words only where it makes the page known; pages
known before `words` were first asked for are told by their titles, once they are read.

It is extra cash from the virtual page, which others go without: visits are chosen as if such pages had that much more
of what their importance is made of, and all others less. Importance itself stays what the links make it, in rankings
(`evercrawl top`), in searches and in what is learned; `evercrawl why URL` tells when an entry has a say. The policies
breadth-first, cycle and random do not ask what a page is worth, so neither focus nor `discovery` means anything to
them.
"""

_OPTIONS: Final = """\
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


def settings() -> str:
    """Return docs/guide/SETTINGS.md."""
    parts = [_SETTINGS]
    for section, settings in groupby(SETTINGS.values(), key=lambda s: s.section):
        parts.append(f"\n## [{section}]\n\n| Name | Flag | Default | Meaning |\n|---|---|---|---|\n")
        parts += [f"| `{s.name}` | `{_flag(s)}` | {_shown(s)} | {s.help.replace('|', '&#124;')} |\n" for s in settings]
    return "".join([*parts, _FOCUS])


def _flag(setting: Setting) -> str:
    if isinstance(setting.default, bool):
        return f"{setting.flag}` `--no-{setting.flag[2:]}"
    return f"{setting.flag} {setting.kind.metavar}".replace("|", "\\|")


def _shown(setting: Setting) -> str:
    return f"`{as_toml(setting, setting.default)}`"


def policy_options() -> str:
    """Return docs/guide/POLICY_OPTIONS.md."""
    return "".join([_OPTIONS, *(_of_policy(described(name, kind_of(name))) for name in names())])


def _of_policy(found: Described) -> str:
    head = f"\n## {found.name}\n\n{found.promise}\n"
    return "".join(
        [head, _parameters(found.options, kinds_of(kind_of(found.name))), *(_table(each) for each in found.tables)]
    )


def _parameters(options: list[Option], kinds: dict[str, Kind]) -> str:
    rows = [(f"`{each.name}`", _shown_default(each.default), _allowed(each, kinds), each.meaning) for each in options]
    return _grid(("Parameter", "Default", "Allowed", "Meaning"), rows) if rows else "\nIt has no parameters.\n"


def _allowed(option: Option, kinds: dict[str, Kind]) -> str:
    if option.name in kinds:
        return kinds[option.name].form
    return "a text, see its meaning" if isinstance(option.default, str) else "a number"


def _table(table: Table) -> str:
    rows = [(f"`{column.name}`", column.unit, column.meaning) for column in table.columns]
    return f"\n`policy.{table.name}`: {table.meaning}\n" + _grid(("Column", "Unit", "Meaning"), rows)


def _grid(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    ruler = "|---" * len(head) + "|"
    return "\n" + "\n".join([_line(head), ruler, *(_line(row) for row in rows)]) + "\n"


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _shown_default(value: float | str) -> str:
    return "empty" if value == "" else f"`{value}`" if isinstance(value, str) else f"`{value:g}`"


if __name__ == "__main__":
    for name, page in (("SETTINGS.md", settings()), ("POLICY_OPTIONS.md", policy_options())):
        (Path(__file__).parent / "guide" / name).write_text(page, encoding="utf-8")

"""The settings as people read them: the crawl's own TOML file, and the table in the documentation."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING

from evercrawl.config.focus import HEAVIEST, KINDS, LIGHTEST, MOST, Focus
from evercrawl.config.settings import SETTINGS, Config, Setting
from evercrawl.config.sources import FILE_NAME

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = """\
# The settings of this crawl. `evercrawl crawl` reads them each time it goes on; edit them while it rests.
# Flags and environment variables override them for one run and are not written here, unless they change how importance
# is learned, which lasts.
# Sizes may be written as "10MiB" and durations as "30s", "10m", "1h" or "1d".
"""

_PAGE = """\
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


_HINT = """
# What is wanted more than its importance says; several entries are possible. docs/SETTINGS.md tells all of it.
# [[focus]]
# url = "/news/"
# weight = 4
"""

_FOCUS = f"""
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


def to_toml(config: Config) -> str:
    r"""Return the whole configuration as TOML, each setting under its meaning as a comment.

    Examples
    --------
    >>> print(to_toml(Config(focus=(Focus(url=r"\d+$"), Focus(words=("storm",), weight=8)))).partition("[focus")[2])
    ]]
    url = '\d+$'
    weight = 4
    <BLANKLINE>
    [[focus]]
    words = ["storm"]
    weight = 8
    <BLANKLINE>
    """
    parts = [_HEAD]
    for section, settings in groupby(SETTINGS.values(), key=lambda s: s.section):
        parts.append(f"\n[{section}]\n")
        for setting in settings:
            value = as_toml(setting, getattr(config, setting.name))
            parts.append(f"# {setting.help} ({setting.flag})\n{setting.name} = {value}\n")
    return "".join([*parts, _HINT if not config.focus else "", *(_entry(entry) for entry in config.focus)])


def _entry(entry: Focus) -> str:
    """Return an entry as TOML, without what it does not name."""
    given = [(name, getattr(entry, name)) for name in KINDS]
    return "\n[[focus]]\n" + "".join(f"{name} = {_written(value)}\n" for name, value in given if value)


def save(config: Config, directory: Path) -> Path:
    """Write `crawl.toml` into `directory`, whole or not at all; return its path."""
    target = directory / FILE_NAME
    draft = target.with_suffix(".toml.new")
    draft.write_text(to_toml(config), encoding="utf-8")
    draft.replace(target)
    return target


def to_markdown() -> str:
    """Return docs/SETTINGS.md."""
    parts = [_PAGE]
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


def as_toml(setting: Setting, value: object) -> str:
    """Return a value of `setting` as TOML writes it.

    Examples
    --------
    >>> as_toml(SETTINGS["body_max_bytes"], 10 << 20), as_toml(SETTINGS["delay_s"], 1.0)
    ('"10MiB"', '1')
    """
    if isinstance(value, int) and not isinstance(value, bool) and setting.kind.metavar == "SIZE":
        return _size(value)
    return _written(value)


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(_quoted(str(entry)) for entry in value) + "]"  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return _number(value) if isinstance(value, int | float) else _quoted(str(value))


def _size(size_bytes: int) -> str:
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size_bytes and size_bytes % factor == 0:
            return f'"{size_bytes // factor}{unit}"'
    return str(size_bytes)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _quoted(text: str) -> str:
    """Return `text` as a TOML string, a literal one where backslashes would double."""
    if "\\" in text and "'" not in text and text.isprintable():
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

"""The settings as people read them: the crawl's own TOML file."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING

from evercrawl.config.focus import KINDS, Focus
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


_HINT = """
# What is wanted more than its importance says; several entries are possible. docs/SETTINGS.md tells all of it.
# [[focus]]
# url = "/news/"
# weight = 4
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

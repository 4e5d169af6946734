"""Writing and amending of the crawl's own TOML file, `crawl.toml`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from evercrawl.config import site_rules, targets
from evercrawl.config.focus import KINDS, Focus
from evercrawl.config.secrets import write_private
from evercrawl.config.settings import SETTINGS, Config, Setting
from evercrawl.config.site_rules import SiteRules
from evercrawl.config.sources import FILE_NAME, MOST_BYTES, load
from evercrawl.config.targets import Target
from evercrawl.small_file import read_small

_BARE: Final = re.compile(r"(?<!\r)\n")


Change: TypeAlias = Callable[[Config], Mapping[str, object]]
"""Function of the present settings that returns the settings to change."""


def amend_by(directory: Path, change: Change) -> None:
    """Change some settings in `crawl.toml`, computed from the present ones; otherwise as `amend`."""
    amend(directory, change(load(directory / FILE_NAME)))


def amend(directory: Path, changed: Mapping[str, object]) -> bool:
    """Change some settings in `crawl.toml` atomically, and preserve everything else as users wrote it.

    Return whether there was anything to change.

    Parameters
    ----------
    directory
        The crawl directory; its file must hold valid settings.
    changed
        Setting name -> value.
    """
    target = directory / FILE_NAME
    now = load(target)
    wanted = replace(now, **changed)  # type: ignore[arg-type]
    if wanted == now:
        return False
    text = read_small(target, MOST_BYTES).decode()
    draft = target.with_suffix(".toml.new")
    write_private(draft, _amended(text, {name: getattr(wanted, name) for name in changed}).encode(), target)
    assert load(draft) == wanted, "an amended file says what was asked, and all else as before"
    draft.replace(target)
    return True


def _amended(text: str, changed: Mapping[str, object]) -> str:
    r"""Return TOML with new values of some settings; comments, order and line ends are preserved.

    Examples
    --------
    >>> print(_amended("[pace]\ndelay_s = 1  # polite\n", {"delay_s": 2.5}), end="")
    [pace]
    delay_s = 2.5  # polite
    """
    import tomlkit

    document: Any = tomlkit.parse(text)
    for name, value in changed.items():
        if name in _SECTIONS:
            _put_sections(document, name, cast("tuple[SiteRules, ...] | tuple[Target, ...]", value))
            continue
        setting = SETTINGS[name]
        table = document.setdefault(setting.section, tomlkit.table())
        _put(table if isinstance(table, dict) else document, name, as_written(setting, value))
    written = tomlkit.dumps(document)
    return _BARE.sub("\r\n", written) if "\r\n" in text and not _BARE.search(text) else written


def _put(table: Any, name: str, value: object) -> None:
    """Set a key; entries that stay in an existing list keep their lines and comments."""
    there = table.get(name)
    if isinstance(there, list) and isinstance(value, list):
        listed, entries = cast("list[object]", there), cast("list[object]", value)
        for gone in [entry for entry in listed if entry not in entries]:
            listed.remove(gone)
        listed.extend(entry for entry in entries if entry not in listed)
        if list(listed) == entries:
            return
    table[name] = value


_SECTIONS: Final[dict[str, tuple[str, Callable[[object], object]]]] = {
    "sites": ("site", site_rules.NAME.read),
    "targets": ("target", targets.PATTERN.read),
}
"""Setting -> how its sections are called, and the name that TOML gives one -> the name that it has with us."""


def _put_sections(document: Any, name: str, sections: tuple[SiteRules, ...] | tuple[Target, ...]) -> None:
    """Replace the sections of a kind; keys whose values do not change keep their lines and comments."""
    import tomlkit

    kind, named = _SECTIONS[name]
    tables: Any = document.setdefault(kind, tomlkit.table(is_super_table=True))
    there: dict[object, str] = {named(str(written)): str(written) for written in tables}
    wanted = {each.name if isinstance(each, SiteRules) else each.pattern: each for each in sections}
    for gone in there.keys() - wanted.keys():
        tables.remove(there[gone])
    for key, section in wanted.items():
        if key not in there:
            tables.add(key, tomlkit.table())
        table, given = tables[there.get(key, key)], section.given()
        kinds = site_rules.KINDS if isinstance(section, SiteRules) else targets.KINDS
        for old in [old for old in table if old not in given]:
            table.remove(old)
        for key_of, value in given.items():
            if key_of not in table or kinds[key_of].read(table[key_of]) != value:
                _put(table, key_of, _plain(value))


_HEAD = """\
# The settings of this crawl. `evercrawl crawl` reads them at each start; edit them while the crawl is stopped.
# Flags and environment variables override them for one run. They are not saved here, except for those that change
# how importance is learned.
# Sizes may be written as "10MiB" and durations as "30s", "10m", "1h" or "1d".
"""


_HINT = """
# Pages wanted more, or less, than their importance; several entries are possible. See docs/guide/SETTINGS.md.
# [[focus]]
# url = "/news/"
# weight = 4
"""


_SITE_HINT = """
# What holds for one site alone. See docs/guide/SETTINGS.md.
# [site."example.org"]
# delay_s = "10s"
# hours = "22:00-06:00"
"""


_TARGET_HINT = """
# How fresh pages of a pattern are to be kept, as far as the budget allows. See docs/guide/SETTINGS.md.
# [target."/news/"]
# fresh = 0.95
# within = "1h"
"""


def to_toml(config: Config) -> str:
    r"""Return the whole configuration as TOML, with the meaning of each setting as a comment above it.

    Examples
    --------
    >>> print(to_toml(Config(focus=(Focus(url=r"\d+$"), Focus(words=("storm",), weight=8)))).partition("\n[[focus")[2])
    ]]
    url = '\d+$'
    weight = 4
    <BLANKLINE>
    [[focus]]
    words = ["storm"]
    weight = 8
    <BLANKLINE>
    # What holds for one site alone. See docs/guide/SETTINGS.md.
    # [site."example.org"]
    # delay_s = "10s"
    # hours = "22:00-06:00"
    <BLANKLINE>
    # How fresh pages of a pattern are to be kept, as far as the budget allows. See docs/guide/SETTINGS.md.
    # [target."/news/"]
    # fresh = 0.95
    # within = "1h"
    <BLANKLINE>
    """
    parts = [_HEAD]
    for section, settings in groupby(SETTINGS.values(), key=lambda s: s.section):
        parts.append(f"\n[{section}]\n")
        for setting in settings:
            value = as_toml(setting, getattr(config, setting.name))
            parts.append(f"# {setting.help} ({setting.flag})\n{setting.name} = {value}\n")
    focus = [_entry(entry) for entry in config.focus] or [_HINT]
    sites = [_section(section) for section in config.sites] or [_SITE_HINT]
    return "".join([*parts, *focus, *sites, *([_target(target) for target in config.targets] or [_TARGET_HINT])])


def _section(rules: SiteRules) -> str:
    """Return the section of a site as TOML, with only the keys that it sets."""
    lines = [f"{name} = {_item(_plain(value))}\n" for name, value in rules.given().items()]
    return f'\n[site."{rules.name}"]\n{"".join(lines)}'


def _target(target: Target) -> str:
    """Return a freshness target as TOML."""
    lines = [f"{name} = {_item(_plain(value))}\n" for name, value in target.given().items()]
    return f"\n[target.{_item(target.pattern)}]\n{''.join(lines)}"


def _entry(entry: Focus) -> str:
    """Return a focus entry as TOML, with only the keys that it sets."""
    given = [(name, getattr(entry, name)) for name in KINDS]
    return "\n[[focus]]\n" + "".join(f"{name} = {_item(_plain(value))}\n" for name, value in given if value)


def save(config: Config, directory: Path) -> Path:
    """Write `crawl.toml` into `directory` atomically, readable by its owner only; return its path."""
    target = directory / FILE_NAME
    draft = target.with_suffix(".toml.new")
    write_private(draft, to_toml(config).encode())
    draft.replace(target)
    return target


def as_written(setting: Setting, value: object) -> object:
    """Return a value of `setting` as a user would write it: sizes with a unit, integers without a decimal point.

    Examples
    --------
    >>> as_written(SETTINGS["body_max_bytes"], 10 << 20), as_written(SETTINGS["delay_s"], 1.0)
    ('10MiB', 1)
    """
    if isinstance(value, int) and not isinstance(value, bool) and setting.kind.metavar == "SIZE":
        for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
            if value and value % factor == 0:
                return f"{value // factor}{unit}"
    return _plain(value)


def as_toml(setting: Setting, value: object) -> str:
    """Return a value of `setting` as TOML.

    >>> as_toml(SETTINGS["body_max_bytes"], 10 << 20), as_toml(SETTINGS["trusted"], ("example.org",))
    ('"10MiB"', '["example.org"]')
    """
    return _item(as_written(setting, value))


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _item(value: object) -> str:
    """Return a value as TOML; as a literal string if backslashes would be doubled."""
    import tomlkit

    if isinstance(value, str) and "\\" in value and "'" not in value and value.isprintable():
        return tomlkit.string(value, literal=True).as_string()
    return tomlkit.item(value).as_string()

"""Sources of settings, in ascending precedence: the crawl's own file, another file, the environment, flags."""

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TypeAlias, cast

from evercrawl.config import focus, site_rules, targets
from evercrawl.config.focus import Focus
from evercrawl.config.owned import owned, same
from evercrawl.config.settings import SETTINGS, Config, Setting, read
from evercrawl.config.site_rules import SiteRules
from evercrawl.config.targets import Target
from evercrawl.config.values import Value
from evercrawl.errors import ConfigError, StoreError
from evercrawl.small_file import read_small

_Found: TypeAlias = "dict[str, Value | tuple[Focus, ...] | tuple[SiteRules, ...] | tuple[Target, ...]]"

FILE_NAME = "crawl.toml"
MOST_BYTES = 8 << 20
"""Of a file of settings."""
_SECTION = re.compile(r"""\s*\[\s*([\w-]+)\s*\.\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*\]""")
_NO_SETTINGS = ("EVERCRAWL_KERNELS", "EVERCRAWL_PARTS_DIR", "EVERCRAWL_REFS", "EVERCRAWL_TRUSTED")  # not of a crawl


def has_settings(directory: Path) -> bool:
    """Return whether a crawl's settings file exists and is not blank; a full disk or a crash can leave blank files."""
    file = directory / FILE_NAME
    try:
        return file.is_file() and bool(read_small(file, MOST_BYTES).strip(b"\0 \t\r\n"))
    except (OSError, StoreError):
        return True  # the error is reported when it is read


def load(*files: Path, environ: Mapping[str, str] | None = None, flags: Mapping[str, object] | None = None) -> Config:
    """Return the defaults, overlaid by each of `files`, then the environment, then the flags.

    If a source names another policy than an earlier one, the earlier source's policy options stay with its policy.

    Parameters
    ----------
    files
        TOML files; the later wins.
    environ
        Environment variables: EVERCRAWL_ and the name of a setting. Entries of lists are separated by white space.
    flags
        Setting name -> value as written; None if not given.

    Raises
    ------
    ConfigError
        A file cannot be read, a name is not a setting, or a value is of the wrong kind.

    Examples
    --------
    >>> load(environ={"EVERCRAWL_DELAY_S": "2s"}, flags={"max_depth": "3"}).delay_s
    2.0
    >>> variables = {"EVERCRAWL_POLICY": "chile", "EVERCRAWL_POLICY_OPTIONS": "a=2"}
    >>> load(environ=variables, flags={"policy": "rpuc"}).policy_options
    ('chile.a=2',)
    """
    found: _Found = {}
    whose = ""  # the policy that `policy_options` mean
    for file in files:
        found, whose = _overlaid(found, _from_file(file)[0], whose, lasting=file.name == FILE_NAME)
    found, whose = _overlaid(found, dict(_from_environment(environ or {})), whose)
    given = [(SETTINGS[name], raw) for name, raw in (flags or {}).items() if raw is not None]
    found, _ = _overlaid(found, {known.name: read(known, raw, known.flag) for known, raw in given}, whose)
    return Config(**found)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def source_of(name: str, *files: Path, environ: Mapping[str, str], flags: Mapping[str, object]) -> str:
    """Return the source of the value that `load` would return for a setting; "" for a default.

    Raises
    ------
    ConfigError
        As for `load`.
    """
    setting = SETTINGS[name]
    if flags.get(name) is not None:
        return setting.flag
    if setting.variable in environ:
        return f"the environment variable {setting.variable}"
    for file in reversed(files):
        found, sources = _from_file(file)
        if name in found:
            return sources[name]
    return ""


def _overlaid(found: _Found, more: _Found, whose: str, *, lasting: bool = False) -> tuple[_Found, str]:
    """Return what was found before with what a stronger source says, and whose the parameters of the policy are now.

    They are of the policy that their source names, or of the usual one where a crawl's own file names none; those that
    another source gives alone are of whichever policy will be followed, "" here.
    """
    options = cast("tuple[str, ...]", found.get("policy_options", ()))
    if whose and "policy" in more and not same(whose, str(more["policy"])):
        found = found | {"policy_options": owned(whose, options)}
    if "policy_options" in more:
        whose = str(more.get("policy", SETTINGS["policy"].default)) if lasting or "policy" in more else ""
    return found | more, whose


def _from_file(file: Path) -> tuple[_Found, dict[str, str]]:
    """Return the settings in a file, and the location of each."""
    import tomllib

    try:
        text = read_small(file, MOST_BYTES).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
        tables = tomllib.loads(text)
    except (OSError, StoreError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {file}: {error}; name a TOML file in UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f"{file} is not TOML: {error}; correct that line, or copy the file back from a backup"
        ) from error
    found: _Found = {}
    sources = dict[str, str]()
    if "focus" in tables:
        found["focus"] = focus.read(tables.pop("focus"), f"{file}: focus")
    lines = _lines(text)
    if "site" in tables:
        found["sites"] = site_rules.read(tables.pop("site"), partial(_in_section, file, lines, "site"))
    if "target" in tables:
        found["targets"] = targets.read(tables.pop("target"), partial(_in_section, file, lines, "target"))
    for section, table in tables.items():
        for name, raw in _keys(section, table).items():
            source = f"{file}{_line(lines, section, name)}"
            sources[name] = f"{source}: {name}"
            found[name] = read(_known(section, name, source), raw, sources[name])
    return found, sources


def _in_section(file: Path, lines: dict[tuple[str, str], int], kind: str, name: str, key: str) -> str:
    """Return the location of a key of a section such as [site."example.org"], or of the section itself."""
    at = lines.get((f"{kind}.{name}", key)) or lines.get((f"{kind}.{name}", ""))
    return f"{file}{f' line {at}' if at else ''}: {kind}" + (f'."{name}"' if name else "")


def _keys(section: str, table: object) -> dict[str, object]:
    """Return the keys of a top-level table of the file; for any other entry, the entry itself."""
    return cast("dict[str, object]", table) if isinstance(table, dict) else {section: table}


def _known(section: str, name: str, source: str) -> Setting:
    setting = SETTINGS.get(name)
    if setting is None:
        raise ConfigError(f"{source}: {name} is not a setting; {nearest(name)}")
    if setting.section != section:
        raise ConfigError(f"{source}: {name} is in the wrong table; move it to [{setting.section}]")
    return setting


def nearest(name: str) -> str:
    """Say which setting was probably meant.

    Examples
    --------
    >>> nearest("rate")
    'did you mean rate_per_s?'
    """
    import difflib

    spellings = {s.flag.removeprefix("--").replace("-", "_"): s.name for s in SETTINGS.values()}
    spellings |= {known: known for known in SETTINGS}
    near = difflib.get_close_matches(name.lower().replace("-", "_"), list(spellings), n=1, cutoff=0.5)
    return f"did you mean {spellings[near[0]]}?" if near else "docs/guide/SETTINGS.md lists them all"


def _lines(text: str) -> dict[tuple[str, str], int]:
    """Return the first line of each key in each table, "" for none; keys in unusual spellings may be missing.

    A table called [site."example.org"] is named site.example.org, and its own line is that of its key "".
    """
    table, lines = "", dict[tuple[str, str], int]()
    for at, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[\s*([\w-]+)\s*\]", line):
            table = header[1]
        elif header := _SECTION.match(line):
            table = f"{header[1]}.{header[2] or header[3] or header[4]}"
            lines.setdefault((table, ""), at)
        elif key := re.match(r"\s*[\"']?([^\s\"'=]+)[\"']?\s*=", line):
            lines.setdefault((table, key[1]), at)
    return lines


def _line(lines: dict[tuple[str, str], int], section: str, name: str) -> str:
    """Return " line N" for the key in its table, or "" if the line is not known."""
    at = lines.get(("", name)) or lines.get((section, name))  # keys outside tables come before all tables
    return f" line {at}" if at else ""


def _from_environment(environ: Mapping[str, str]) -> dict[str, Value]:
    by_variable = {setting.variable: setting for setting in SETTINGS.values()}
    found: dict[str, Value] = {}
    for variable, raw in environ.items():
        if not variable.startswith("EVERCRAWL_") or variable in _NO_SETTINGS:
            continue
        setting = by_variable.get(variable)
        if setting is None:
            hint = nearest(variable.removeprefix("EVERCRAWL_"))
            raise ConfigError(f"the environment variable {variable} is not a setting; {hint}")
        found[setting.name] = read(setting, raw, f"the environment variable {variable}")
    return found

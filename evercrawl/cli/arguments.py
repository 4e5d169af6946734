"""Arguments that several verbs share, and the flags of `Config`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from evercrawl.config import SETTINGS, Setting, as_written
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.config.values import Value, ValueKind


_CODE: Final = re.compile(r"(?:^|(?<==))[\w.-]+:[^\W\d]\w*$")
_NO_CODE: Final = frozenset({"url", "seeds", "words", "dir"})


LAB: Final = "lab"
"""The verb that groups the laboratory's verbs."""


class Verbs(Protocol):
    """The collection of the verbs' parsers, as returned by `add_subparsers`."""

    def add_parser(self, name: str, **about: Any) -> argparse.ArgumentParser:
        """Return a new parser for the verb `name`."""
        ...


def add_verb(
    verbs: Verbs,
    name: str,
    summary: str,
    run: Callable[[argparse.Namespace], int],
    more: str = "",
    *,
    lab: bool = False,
) -> argparse.ArgumentParser:
    """Declare the verb `name`, which `run` executes; return its parser.

    One of the `lab` is called as `evercrawl lab NAME`; without `lab` it works too, but is not listed.
    """
    description = f"{summary[0].upper()}{summary[1:]}. {more}".strip()
    called = {"prog": f"evercrawl {LAB} {name}"} if lab else {}
    parser = verbs.add_parser(name, description=description, allow_abbrev=False, **called)
    parser.set_defaults(summary="" if lab else summary, run=run, verb=name)
    return parser


def add_directory(parser: argparse.ArgumentParser) -> None:
    """Add `--dir`, the crawl directory, and `--trust`, which lets its settings name code from elsewhere."""
    parser.add_argument(
        "--dir", metavar="DIR", help="crawl directory (default: the current folder, or the only crawl in it)"
    )
    parser.add_argument(
        "--trust",
        metavar="MODULE:CLASS",
        action="append",
        default=[],
        help="load this class from outside evercrawl where the directory's settings name it (repeatable)",
    )


def named_code(args: argparse.Namespace) -> list[str]:
    """Return the classes from outside evercrawl that are named on the command line.

    >>> named_code(argparse.Namespace(set_policy="my.orders:Mine", set_policy_options=["estimator=e:F"], url="a:B"))
    ['my.orders:Mine', 'e:F']
    """
    given = [value for name, value in vars(args).items() if name not in _NO_CODE]
    texts = [text for value in given for text in (cast("list[object]", value) if isinstance(value, list) else [value])]
    return [found for text in texts if isinstance(text, str) for found in _CODE.findall(text)]


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="print JSON, one object per line")


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add a flag for every setting, in a group per section."""
    for section, settings in groupby(SETTINGS.values(), key=lambda s: s.section):
        group = parser.add_argument_group(f"{section}, as in [{section}] of crawl.toml")
        for setting in settings:
            group.add_argument(
                setting.flag, dest=f"set_{setting.name}", default=None, help=_help(setting), **_form(setting)
            )


def given_settings(args: argparse.Namespace) -> dict[str, object]:
    """Return the settings given as flags, as they were written."""
    flags = {name: getattr(args, f"set_{name}") for name in SETTINGS}
    return {name: raw for name, raw in flags.items() if raw is not None}


def value(kind: ValueKind, raw: object, flag: str) -> Value:
    """Return the value of `flag`, parsed as `kind`.

    Raises
    ------
    ConfigError
        It is not of that kind.
    """
    try:
        return kind.read(raw)
    except ValueError as error:
        raise ConfigError(f"{flag} must be {kind.form}, not {raw!r}") from error


def _form(setting: Setting) -> dict[str, Any]:
    if isinstance(setting.default, bool):
        return {"action": argparse.BooleanOptionalAction}
    form: dict[str, Any] = {"metavar": setting.kind.metavar}
    return form | {"action": "append"} if isinstance(setting.default, tuple) else form


def _help(setting: Setting) -> str:
    if isinstance(setting.default, tuple):
        return f"{setting.help}; may be repeated".replace("%", "%%")
    shown = as_written(setting, setting.default)
    shown = str(shown).lower() if isinstance(shown, bool) else shown
    return f"{setting.help} (default: {'none' if shown == '' else shown})".replace("%", "%%")

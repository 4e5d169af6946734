"""A crawl's own TOML file, changed in a few places."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from evercrawl.config.settings import SETTINGS, Setting
from evercrawl.config.sources import FILE_NAME, load
from evercrawl.config.written import as_toml, save
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def amend(directory: Path, changed: Mapping[str, object]) -> bool:
    """Change some settings in `crawl.toml`, and leave all else in it as people wrote it; whole or not at all.

    Return whether there was anything to change.

    Parameters
    ----------
    directory
        Of the crawl; its file holds good settings.
    changed
        Setting name -> value.
    """
    target = directory / FILE_NAME
    now = load(target)
    wanted = replace(now, **changed)  # type: ignore[arg-type]
    if wanted == now:
        return False
    text = target.read_text(encoding="utf-8")
    for name in changed:
        text = _amended(text, SETTINGS[name], getattr(wanted, name))
    draft = target.with_suffix(".toml.new")
    draft.write_text(text, encoding="utf-8")
    try:
        kept = load(draft) == wanted
    except ConfigError:
        kept = False
    if kept:
        draft.replace(target)
    else:  # it was written in a way that lines do not tell
        save(wanted, directory)
    return True


def _amended(text: str, setting: Setting, value: object) -> str:
    r"""Return TOML with another value of one setting, in its line, or in a new one under the head of its table.

    Examples
    --------
    >>> print(_amended("[pace]\ndelay_s = 1  # polite\n", SETTINGS["delay_s"], 2.5), end="")
    [pace]
    delay_s = 2.5
    """
    line = f"{setting.name} = {as_toml(setting, value)}"
    found, count = re.subn(rf"(?m)^[ \t]*{setting.name}[ \t]*=.*$", lambda _: line, text, count=1)
    if count:
        return found
    found, count = re.subn(rf"(?m)^[ \t]*\[{setting.section}\].*$", lambda head: f"{head[0]}\n{line}", text, count=1)
    return found if count else f"{text.rstrip()}\n\n[{setting.section}]\n{line}\n"

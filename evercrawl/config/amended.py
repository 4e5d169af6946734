"""A crawl's own TOML file, changed in a few places."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

from evercrawl.config.settings import SETTINGS
from evercrawl.config.sources import FILE_NAME, load
from evercrawl.config.written import as_written

_BARE: Final = re.compile(r"(?<!\r)\n")


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
    text = target.read_bytes().decode()
    draft = target.with_suffix(".toml.new")
    draft.write_bytes(_amended(text, {name: getattr(wanted, name) for name in changed}).encode())
    assert load(draft) == wanted, "an amended file says what was asked, and all else as before"
    draft.replace(target)
    return True


def _amended(text: str, changed: Mapping[str, object]) -> str:
    r"""Return TOML with other values of some settings; comments, order and line ends stay.

    Examples
    --------
    >>> print(_amended("[pace]\ndelay_s = 1  # polite\n", {"delay_s": 2.5}), end="")
    [pace]
    delay_s = 2.5  # polite
    """
    import tomlkit

    document: Any = tomlkit.parse(text)
    for name, value in changed.items():
        setting = SETTINGS[name]
        table = document.setdefault(setting.section, tomlkit.table())
        _put(table if isinstance(table, dict) else document, name, as_written(setting, value))
    written = tomlkit.dumps(document)
    return _BARE.sub("\r\n", written) if "\r\n" in text and not _BARE.search(text) else written


def _put(table: Any, name: str, value: object) -> None:
    """Give a key its value; of a list that is there, entries that stay keep their lines and comments."""
    there = table.get(name)
    if isinstance(there, list) and isinstance(value, list):
        listed, entries = cast("list[object]", there), cast("list[object]", value)
        for gone in [entry for entry in listed if entry not in entries]:
            listed.remove(gone)
        listed.extend(entry for entry in entries if entry not in listed)
        if list(listed) == entries:
            return
    table[name] = value

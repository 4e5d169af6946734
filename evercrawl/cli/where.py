"""The crawl directory of a verb, given or found."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from evercrawl.errors import ConfigError

PARTED: Final = "cluster.json"  # as `evercrawl.cluster.birth.FILE`, which every start would load
_SHOWN: Final = 5
_HERE: Final = Path()


def directory(args: argparse.Namespace) -> Path:
    """Return the crawl directory: the one named, the current folder, or the only crawl in it.

    If neither the current folder nor a folder in it is a crawl, the current folder is returned, which the verb refuses.

    Raises
    ------
    ConfigError
        --dir is not a directory, or its partition was moved, or the current folder contains several crawls.
    StoreError
        Something in the directory leads elsewhere.
    """
    from evercrawl.store.birth import is_crawl
    from evercrawl.store.disk.moved import see_unmoved
    from evercrawl.store.disk.plain import see_plain

    found = _found(args)
    if args.dir is not None or is_crawl(found):
        see_plain(found)
        see_unmoved(found)
    return found


def _found(args: argparse.Namespace) -> Path:
    if args.dir is not None:
        return _named(args.dir)
    from evercrawl.store.birth import is_crawl

    if is_crawl(_HERE) or (_HERE / PARTED).is_file():
        return _HERE
    below = crawls_below(_HERE)
    if len(below) > 1:
        more = f" and {len(below) - _SHOWN} more" if len(below) > _SHOWN else ""
        listed = ", ".join(map(str, below[:_SHOWN])) + more
        raise ConfigError(f"{len(below)} crawls are in this folder ({listed}); name one, such as --dir {below[0]}")
    return below[0] if below else _HERE


def for_seeds(args: argparse.Namespace, urls: Sequence[str]) -> Path:
    """Return the directory of a crawl from these seeds: the current folder if it is empty or a crawl, else ./HOST.

    Without seeds it is the crawl to resume, as in `directory`.

    Raises
    ------
    ConfigError
        --dir is not a directory, or ./HOST is not a crawl.
    """
    if args.dir is not None or not urls:
        return directory(args)
    from evercrawl.parse.urls import hostname
    from evercrawl.store.birth import is_crawl

    if is_crawl(_HERE) or (_HERE / PARTED).is_file() or _is_unused(_HERE):
        return _HERE
    made = Path(hostname(urls[0]).strip("[]"))
    if made.exists() and not (made.is_dir() and (is_crawl(made) or (made / PARTED).is_file() or _is_unused(made))):
        raise ConfigError(f"{made} exists and is not a crawl; name another directory, such as --dir {made}-crawl")
    return made


def crawls_below(folder: Path) -> list[Path]:
    """Return the folders in `folder` that are crawls, sorted."""
    from evercrawl.store.birth import is_crawl

    def there(path: Path) -> bool:
        return path.is_dir() and (is_crawl(path) or (path / PARTED).is_file())

    try:
        return sorted(path.relative_to(folder) for path in folder.iterdir() if there(path))
    except OSError:
        return []


def _named(name: str) -> Path:
    named = Path(name)
    if named.exists() and not named.is_dir():
        raise ConfigError(f"--dir {named} is a file; name a directory; it need not exist yet")
    return named


def _is_unused(folder: Path) -> bool:
    """Return whether a folder contains only files that the start of a crawl may find: settings, an earlier lock."""
    return all(path.name in {"crawl.toml", "lock"} for path in folder.iterdir())

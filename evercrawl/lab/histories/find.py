"""Look-up of histories by name, folder or crawl directory."""

from importlib.resources import files
from pathlib import Path
from typing import Final

from evercrawl.errors import ConfigError
from evercrawl.lab.histories.history import History
from evercrawl.lab.histories.journal import history_of_crawl
from evercrawl.lab.histories.tables import KINDS, names_in, read_history
from evercrawl.model.stored.reader import Tell
from evercrawl.store.birth import is_crawl

SHIPPED: Final = Path(str(files("evercrawl.lab.histories") / "shipped"))
"""Folder of the histories that come with the package."""
_FORMS: Final = "FOLDER/NAME, a FOLDER of them, the directory of a crawl"


def shipped() -> list[str]:
    """Return the names of the histories that come with the package.

    Examples
    --------
    >>> shipped()
    ['ota-contrib', 'peps']
    """
    return names_in(SHIPPED)


def find(*words: str) -> list[Path]:
    """Return the histories that the words refer to, in order, without repetitions.

    Parameters
    ----------
    words
        Each is the name of a shipped history, FOLDER/NAME, one of its three files, a FOLDER (all histories in it), or
        the directory of a crawl. A shipped name takes precedence over a folder of the same name: write ./NAME for the
        folder.

    Returns
    -------
    list
        FOLDER/NAME of tables, and directories of crawls, as accepted by `read`.

    Raises
    ------
    ConfigError
        A word refers to no history.

    Examples
    --------
    >>> [path.name for path in find("peps", "ota-contrib", "peps")]
    ['peps', 'ota-contrib']
    """
    return list(dict.fromkeys(path for word in words for path in _meant(word)))


def load(*words: str) -> list[History]:
    """Load the histories that the words refer to; see `find`.

    Raises
    ------
    ConfigError
        A word refers to no history, or the history cannot be read.
    StoreError
        It is a crawl, and damaged.

    Examples
    --------
    >>> [(history.name, len(history)) for history in load("peps")]
    [('peps', 738)]
    """
    return [read(path) for path in find(*words)]


def read(path: Path, tell: Tell | None = None) -> History:
    """Return one of the histories found by `find`; for a journal, `tell` is called with the progress.

    Raises
    ------
    ConfigError, StoreError
        As for `load`.
    """
    return history_of_crawl(path, tell) if is_crawl(path) else read_history(path)


def _meant(word: str) -> list[Path]:
    path = Path(word)
    if word in shipped():
        return [SHIPPED / word]
    if is_crawl(path):
        return [path]
    if path.is_dir():
        return _all_of(path)
    stem = path.with_name(_stem(path.name)) if path.name else path
    if path.name and stem.with_name(stem.name + KINDS[0]).is_file():
        return [stem]
    raise ConfigError(f"there is no history {word}: write {_FORMS}, or {_there_is(path.parent)}")


def _all_of(folder: Path) -> list[Path]:
    """Return all histories in a folder.

    Raises
    ------
    ConfigError
        There is none.
    """
    names = names_in(folder)
    if not names:
        raise ConfigError(f"in {folder} is neither a crawl nor a history (NAME{KINDS[0]}): write {_FORMS}, or {_own()}")
    return [folder / name for name in names]


def _stem(name: str) -> str:
    for kind in KINDS:
        name = name.removesuffix(kind)
    return name


def _there_is(folder: Path) -> str:
    """Return the names of available histories."""
    beside = names_in(folder) if folder.is_dir() else []
    return f"{_own()}; in {folder} there is {', '.join(beside)}" if beside else _own()


def _own() -> str:
    return f"one of those that come with evercrawl: {', '.join(shipped())}"

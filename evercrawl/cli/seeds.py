"""The URLs that a crawl starts from, as people give them: arguments, files of lines, standard input."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from evercrawl.errors import ConfigError


def read_seeds(arguments: Iterable[str], stdin: TextIO) -> list[str]:
    """Return the normalised seeds, each once, in the order given.

    Parameters
    ----------
    arguments
        URLs; `@FILE` stands for the lines of a file, `-` for those of `stdin`; empty lines and
        `#` comments are skipped.

    Raises
    ------
    ConfigError
        When one is no http or https URL, or a file cannot be read; the message says which.
    """
    seeds: dict[str, None] = {}
    for where, text in _texts(arguments, stdin):
        seeds[_checked(text, where)] = None
    return list(seeds)


def _texts(arguments: Iterable[str], stdin: TextIO) -> Iterator[tuple[str, str]]:
    for argument in arguments:
        if argument == "-":
            yield from _lines("standard input", stdin.read())
        elif argument.startswith("@"):
            yield from _lines(argument[1:], _contents(argument))
        else:
            yield "", argument


def _contents(argument: str) -> str:
    try:
        return Path(argument[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"cannot read the seeds of {argument}: {error}; name a text file with one URL per line"
        ) from error


def _lines(where: str, text: str) -> Iterator[tuple[str, str]]:
    for at, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield f"{where} line {at}: ", line.strip()


def _checked(text: str, where: str) -> str:
    from evercrawl.parse.urls import normalise

    url = normalise(text)
    if url is not None:
        return url
    if "://" not in text and (guess := normalise(f"https://{text}")) is not None and "." in text:
        raise ConfigError(f"{where}{text!r} is not a complete URL; write {guess}")
    raise ConfigError(f"{where}{text!r} is not an http or https URL; write one such as https://example.org/")

"""The seeds of a crawl as given by the user: arguments, files of lines, standard input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Final, TextIO

from evercrawl.errors import ConfigError

_SHOWN: Final = 3
_BOM: Final = "\ufeff"
_NOT_ONE: Final = "{!r} is neither a file nor an http or https URL; write a URL such as https://example.org/"
_HELP: Final = "name a text file with one URL per line"


@dataclass(slots=True)
class Seeds:
    """What was given.

    Attributes
    ----------
    urls
        Normalised, each once, in the order given.
    completed
        Seed written without a scheme -> the completed URL.
    bad
        Sentences about lines of files that are not URLs and were skipped.
    files
        Files whose lines were read because an argument is their name.
    """

    urls: list[str] = field(default_factory=list[str])
    completed: dict[str, str] = field(default_factory=dict[str, str])
    bad: list[str] = field(default_factory=list[str])
    files: list[str] = field(default_factory=list[str])

    def notes(self) -> list[str]:
        """Return notes for the user, a sentence each.

        Examples
        --------
        >>> Seeds(completed={"example.org": "https://example.org/"}).notes()
        ['example.org is read as https://example.org/']
        """
        lines = [f"the seeds are the lines of the file {name}" for name in self.files]
        if len(self.completed) <= _SHOWN:
            lines += [f"{text} is read as {url}" for text, url in self.completed.items()]
        else:
            text, url = next(iter(self.completed.items()))
            lines.append(f"{len(self.completed):,} seeds without a scheme were completed, such as {text} to {url}")
        if self.bad:
            more = len(self.bad) - _SHOWN
            said = "; ".join(self.bad[:_SHOWN]) + (f"; and {more:,} more" if more > 0 else "")
            count = (
                f"{len(self.bad):,} lines are not URLs and were" if more > 1 - _SHOWN else "1 line is not a URL and was"
            )
            lines.append(f"{count} left out (--strict refuses them): {said}")
        return lines


def read_seeds(arguments: Iterable[str], stdin: TextIO | None, *, strict: bool = False) -> Seeds:
    """Return the seeds that were given.

    Parameters
    ----------
    arguments
        URLs; `@FILE`, or the name of a file that exists, stands for the lines of the file, `-` for those of `stdin`.
        Empty lines and `#` comments are skipped. A host without a scheme is completed: `https://`, or `http://` for
        localhost and addresses.
    strict
        Fail on a line that is not a URL, instead of skipping it.

    Raises
    ------
    ConfigError
        An argument is not an http or https URL, a file cannot be read or contains none, or a line is invalid and
        `strict` is set; the message says which.
    """
    found, urls = Seeds(), dict[str, None]()
    for argument in arguments:
        if argument == "-":
            _read("standard input", _piped(stdin), found, urls, strict=strict)
        elif argument.startswith("@"):
            _read(argument[1:], _contents(argument[1:]), found, urls, strict=strict)
        elif "://" not in argument and argument and Path(argument).is_file():
            found.files.append(argument)
            _read(argument, _contents(argument), found, urls, strict=strict)
        elif (url := _url(argument, found)) is None:
            raise ConfigError(_NOT_ONE.format(argument))
        else:
            urls[url] = None
    found.urls = list(urls)
    return found


def read_url(argument: str) -> str:
    """Return the URL of a query, completed if it was written without a scheme.

    Raises
    ------
    ConfigError
        It is not an http or https URL.
    """
    if (url := _url(argument, Seeds())) is None:
        raise ConfigError(_NOT_ONE.format(argument))
    return url


def _read(name: str, text: str, found: Seeds, urls: dict[str, None], *, strict: bool) -> None:
    """Add the URLs in the lines of a file."""
    good = 0
    bad = list[str]()
    for at, line in _lines(text):
        url = _url(line, found)
        if url is None:
            bad.append(f"{name} line {at}: {_shortened(line)!r}")
        else:
            urls[url] = None
            good += 1
    if bad and (strict or not good):
        which = bad[0] if good else f"no line of {name} is; the first is {bad[0]}"
        raise ConfigError(f"not an http or https URL: {which}; write one such as https://example.org/ on each line")
    found.bad += bad


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for at, line in enumerate(text.removeprefix(_BOM).splitlines(), start=1):
        stripped = line.strip().strip(_BOM)
        if stripped and not stripped.startswith("#"):
            yield at, stripped


def _contents(name: str) -> str:
    """Return the text of a file, which may begin with a byte order mark, also of UTF-16."""
    try:
        data = Path(name).read_bytes()
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the seeds of {name}: {error}; {_HELP}") from error


def _piped(stdin: TextIO | None) -> str:
    try:
        return stdin.read() if stdin is not None else ""
    except UnicodeDecodeError as error:
        raise ConfigError(f"cannot read the seeds of standard input: {error}; {_HELP}") from error


def _url(text: str, found: Seeds) -> str | None:
    """Return a string as a URL, completed if it has no scheme; None if it is not a URL."""
    from evercrawl.parse.urls import normalise

    if (url := normalise(text)) is not None:
        return url
    url = _completed(text)
    if url is not None:
        found.completed[text] = url
    return url


def _completed(text: str) -> str | None:
    """Return the URL of a host, perhaps with port and path, that was written without a scheme.

    Examples
    --------
    >>> _completed("example.org/a"), _completed("127.0.0.1:8000"), _completed("mailto:me@example.org")
    ('https://example.org/a', 'http://127.0.0.1:8000/', None)
    """
    from evercrawl.parse.sites import has_public_suffix
    from evercrawl.parse.urls import hostname, normalise

    if "://" in text or "@" in text or any(letter.isspace() for letter in text):
        return None
    url = normalise(f"https://{text}")
    if url is None:
        return None
    host = hostname(url)
    if host == "localhost" or _is_address(host):
        return normalise(f"http://{text}")
    return url if "." in host.strip(".") and has_public_suffix(host) else None


def _is_address(host: str) -> bool:
    try:
        return bool(ip_address(host.strip("[]")))
    except ValueError:
        return False


def _shortened(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."

"""Names with addresses listed by a person."""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from evercrawl.errors import ConfigError
from evercrawl.fetch.names.base import NO_SUCH_NAME, NameAnswer, ResolveError, literal, ordered

__all__ = ["StaticResolver", "read_resolve_file"]

_CURL = re.compile(r"\+?([^:\s]+):(?:\d+|\*):(\S+)")


class StaticResolver:
    """A resolver with fixed answers for some names.

    Parameters
    ----------
    names
        Lower-case name -> addresses; the name "*" stands for every name not listed.
    """

    label = "the list of names"

    def __init__(self, names: Mapping[str, Sequence[str]]) -> None:
        self._names = {name: ordered(addresses) for name, addresses in names.items()}

    def find(self, host: str) -> tuple[str, ...]:
        """Return the addresses of `host`, IPv4 first; () if it is not listed.

        Examples
        --------
        >>> StaticResolver({"a.example": ["::1", "192.0.2.1"]}).find("A.example.")
        ('192.0.2.1', '::1')
        """
        return literal(host) or self._names.get(host.lower().removesuffix(".")) or self._names.get("*", ())

    async def resolve(self, host: str) -> NameAnswer:
        """Return the addresses of `host`; see `Resolver`. A name that is not listed does not exist."""
        if found := self.find(host):
            return NameAnswer(found)
        raise ResolveError(NO_SUCH_NAME)


def read_resolve_file(path: Path) -> dict[str, list[str]]:
    """Return the names in `path`, lower case, and their addresses in the order of the file.

    A line holds a name and its addresses ("a.example 192.0.2.1 2001:db8::1"), or has the form of curl's --resolve
    ("a.example:443:192.0.2.1,[2001:db8::1]"; the port is ignored). The name "*" stands for all others. `#` begins a
    comment; several lines of one name add up.

    Raises
    ------
    ConfigError
        The file cannot be read, or a line is not valid; the message names the line.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"cannot read the names in {path}: {error}; give a text file of lines 'name address'"
        ) from None
    names: dict[str, list[str]] = {}
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if text:
            try:
                name, addresses = _entry(text)
            except ValueError as error:
                raise ConfigError(f"{path}, line {number}: {error}; write 'name address [address...]'") from None
            names.setdefault(name, []).extend(addresses)
    return names


def _entry(text: str) -> tuple[str, list[str]]:
    """Return name and addresses of one line; a ValueError says what is wrong."""
    curl = _CURL.fullmatch(text)
    name, *written = [curl[1], *curl[2].split(",")] if curl else text.split()
    if not written:
        raise ValueError(f"{name!r} has no address")
    if _is_address(name):
        raise ValueError(f"{name!r} is an address, but a name must come first")
    for each in written:
        if not _is_address(each):
            raise ValueError(f"{each!r} is not an IP address")
    return name.lower().removesuffix("."), [each.strip("[]") for each in written]


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text[1:-1] if text[:1] == "[" and text[-1:] == "]" else text)
    except ValueError:
        return False
    return True

"""Settings with passwords: given by reference, readable by their owner only, and never printed."""

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from evercrawl.errors import ConfigError

__all__ = ["OPEN_SETTINGS", "REFERENCE", "close_to_others", "concealed", "masked", "revealed", "write_private"]

REFERENCE: Final = r"env:[A-Za-z_]\w*|file:\S.*"
"""Reference to a secret: the environment variable or the file that holds it."""
_PASSWORD: Final = re.compile(r"(?<=//)[^/@\s]*@")
OPEN_SETTINGS: Final = "{} holds a password and could be read by others; now only you can read it"
_ANY_PASSWORD: Final = re.compile(r"(?<=//)\S*@")
_SHARED: Final = stat.S_IRWXG | stat.S_IRWXO


def masked(text: str) -> str:
    """Return a text for printing, with user names and passwords in URLs masked.

    >>> masked("http://me:secret@proxy.example:3128"), masked("http://proxy.example:3128")
    ('http://***@proxy.example:3128', 'http://proxy.example:3128')
    """
    return _PASSWORD.sub("***@", text)


def concealed(text: str) -> str:
    """Return a text about settings for printing, with everything before the last `@` of URLs masked.

    Passwords in settings may contain any character; `masked` is for texts that may contain URLs of pages.

    >>> concealed("proxy = http://me:p/w@x@proxy.example:3128")
    'proxy = http://***@proxy.example:3128'
    """
    return _ANY_PASSWORD.sub("***@", text)


def revealed(value: str, what: str, environ: Mapping[str, str] = os.environ) -> str:
    """Return the secret that a value refers to, or the value itself.

    Parameters
    ----------
    value
        `env:NAME`, `file:PATH` (a file that only its owner can read), or a plain value.
    what
        Name of the setting, for error messages.
    environ
        Environment variables.

    Raises
    ------
    ConfigError
        There is no such variable or file, or other users can read the file.

    Examples
    --------
    >>> revealed("env:MY_PROXY", "proxy", {"MY_PROXY": "http://me:secret@proxy.example/"})
    'http://me:secret@proxy.example/'
    >>> revealed("http://proxy.example/", "proxy")
    'http://proxy.example/'
    """
    kind, colon, name = value.partition(":")
    if not colon or not re.fullmatch(REFERENCE, value):
        return value
    if kind == "env":
        if name not in environ:
            raise ConfigError(f"{what} is {value}, but the environment has no {name}; set it, or use file:PATH")
        return environ[name].strip()
    path = Path(name)
    try:
        mode = path.stat().st_mode
        text = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{what} is {value}, which cannot be read: {error}") from error
    if mode & _SHARED:
        raise ConfigError(f"{what} is {value}, which others can read: run chmod 600 {path}")
    return text


def close_to_others(path: Path, text: str) -> bool:
    """Restrict a file with the content `text` to its owner, if `text` has a password and others can read the file.

    Return whether that was necessary.
    """
    mode = path.stat().st_mode
    if concealed(text) == text or not mode & _SHARED:
        return False
    path.chmod(stat.S_IMODE(mode) & ~_SHARED)
    return True


def write_private(path: Path, data: bytes, instead: Path | None = None) -> None:
    """Write a file that only its owner can read; as root, give it to the owner of the file that it will replace."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        if instead is not None and os.geteuid() == 0:
            about = instead.lstat()
            if about.st_uid:
                os.fchown(descriptor, about.st_uid, about.st_gid)
        file.write(data)

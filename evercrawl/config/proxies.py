"""Proxies of a crawl: those in the setting, or in the variable or file that it refers to."""

import re
from typing import Final

from evercrawl.config.network import PROXY
from evercrawl.config.secrets import concealed, revealed
from evercrawl.errors import ConfigError

__all__ = ["proxies_of"]

_BETWEEN: Final = re.compile(r"[,\s]+")


def proxies_of(setting: str) -> tuple[str, ...]:
    """Return the distinct URLs of proxies in the setting `proxy`.

    Parameters
    ----------
    setting
        URLs, separated by commas; or `env:NAME` or `file:PATH` with such URLs, also one per line and with comments
        after `#`.

    Raises
    ------
    ConfigError
        The variable or file is missing, or has no proxy.

    Examples
    --------
    >>> proxies_of("socks5h://127.0.0.1:1080, socks5h://127.0.0.1:1081")
    ('socks5h://127.0.0.1:1080', 'socks5h://127.0.0.1:1081')
    """
    lines = (line.partition("#")[0] for line in revealed(setting, "proxy").splitlines())
    found = [each for line in lines for each in _BETWEEN.split(line) if each]
    if setting and (not found or not all(map(PROXY.fullmatch, found))):
        raise ConfigError(
            f"{concealed(setting)} holds no proxy such as http://127.0.0.1:3128 or http://me:secret@127.0.0.1:3128; in "
            "a user name or password write / as %2F, ? as %3F, # as %23, @ as %40, % as %25 and a comma as %2C"
        )
    return tuple(dict.fromkeys(found))

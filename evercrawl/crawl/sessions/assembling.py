"""Sessions of a run: the credentials of all sections, placed before the network, and changed while the crawl runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from evercrawl.config.site_rules import Sites
from evercrawl.crawl.sessions.cookie_file import read_cookies, write_cookies
from evercrawl.crawl.sessions.credentials import Credentials
from evercrawl.crawl.sessions.network import SessionNetwork

if TYPE_CHECKING:
    from evercrawl.clock import Clock
    from evercrawl.config import Config
    from evercrawl.crawl.ports import Network
    from evercrawl.fetch.transfer import ClientCertificate
    from evercrawl.store.disk.disk import Disk


def credentials_of(config: Config) -> list[Credentials]:
    """Return the credentials in the sections of the settings, with their secrets resolved.

    Raises
    ------
    ConfigError
        A secret is not available.
    """
    return [Credentials(rules) for rules in config.sites if rules.has_session]


class Sessions:
    """The current credentials of all sections of a run.

    Parameters
    ----------
    config
        The settings at the start of the run.

    Raises
    ------
    ConfigError
        A secret is not available.
    """

    def __init__(self, config: Config) -> None:
        self._network: SessionNetwork | None = None
        self._sites = Sites(())
        self._shown: dict[str, ClientCertificate] = {}
        self._credentials: Sequence[Credentials] = ()
        self.adopt(config)

    def certificate(self, host: str) -> ClientCertificate | None:
        """Return the client certificate for a host, if any."""
        rules = self._sites.of(host) if self._shown else None
        return self._shown.get(rules.name) if rules is not None else None

    def before(
        self, network: Network, config: Config, clock: Clock, disk: Disk, say: Callable[[str], None]
    ) -> SessionNetwork:
        """Return a network that identifies the crawler to sites wherever a section says so."""
        jar = read_cookies(disk, say)
        self._network = SessionNetwork(
            network, self._credentials, config.sites, clock, jar=jar, save=lambda: write_cookies(disk, jar), say=say,
            delay_s=config.delay_s, deadline_s=config.exchange_deadline_s,
        )  # fmt: skip
        return self._network

    def check(self, config: Config) -> None:
        """Check that settings could be adopted.

        Raises
        ------
        ConfigError
            A secret is not available.
        """
        credentials_of(config)

    def adopt(self, config: Config) -> None:
        """Use other settings from now on; secrets are resolved again.

        Raises
        ------
        ConfigError
            A secret is not available; all stays as it was.
        """
        self._credentials = credentials_of(config)
        self._shown = {one.rules.name: one.certificate for one in self._credentials if one.certificate is not None}
        self._sites = Sites(config.sites)
        if self._network is not None:
            self._network.change(self._credentials, config.sites, config.delay_s)

"""Sessions for a run: nothing of this is there where no section of the settings asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

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

Certificates: TypeAlias = Callable[[str], "ClientCertificate | None"]
"""Host -> the client certificate that it is shown, if any."""


def credentials_of(config: Config) -> list[Credentials]:
    """Return what the sections of the settings say of who asks, their secrets looked up.

    Raises
    ------
    ConfigError
        A secret cannot be had.
    """
    return [Credentials(rules) for rules in config.sites if rules.has_session]


def certificates(credentials: Sequence[Credentials], config: Config) -> Certificates | None:
    """Return what says which certificate a host is shown; None where there is none."""
    shown = {one.rules.name: one.certificate for one in credentials if one.certificate is not None}
    if not shown:
        return None
    sites = Sites(config.sites)

    def of(host: str) -> ClientCertificate | None:
        rules = sites.of(host)
        return shown.get(rules.name) if rules is not None else None

    return of


def with_sessions(
    network: Network,
    credentials: Sequence[Credentials],
    config: Config,
    clock: Clock,
    disk: Disk,
    say: Callable[[str], None],
) -> Network:
    """Return a network on which sites know who asks; the one that was given where none does."""
    if not credentials:
        return network
    jar = read_cookies(disk, say)
    return SessionNetwork(
        network, credentials, config.sites, clock, jar=jar, save=lambda: write_cookies(disk, jar), say=say,
        delay_s=config.delay_s, deadline_s=config.exchange_deadline_s,
    )  # fmt: skip

"""What a crawl in the real world works with: the network, the resolvers of names, the parsers, the search index."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from evercrawl.arrays.hasher import Hasher
from evercrawl.clock import Clock
from evercrawl.config import Config
from evercrawl.config.proxies import proxies_of
from evercrawl.config.values import AUTO
from evercrawl.crawl.ports import Network
from evercrawl.crawl.sessions.assembling import Sessions
from evercrawl.crawl.visit.parsers import Inline, Parsers
from evercrawl.crawl.workers.workers import Workers
from evercrawl.errors import NoRoomError, StoreError
from evercrawl.fetch.guard import Guard
from evercrawl.fetch.http import CurlNetwork
from evercrawl.fetch.names import DnsResolver, Resolver, SystemResolver
from evercrawl.fetch.proxies import Proxies
from evercrawl.fetch.signing import RequestSigner, key_of
from evercrawl.fetch.sockets import spare_connections
from evercrawl.model.proxy_file import note_proxies
from evercrawl.progress import Progress
from evercrawl.search.index import FOLDER, Index, erase
from evercrawl.search.trouble import IndexBusyError
from evercrawl.store.partition import Partition

Reached: TypeAlias = tuple[Network, Sequence[Resolver]]
"""The network, and the resolvers of names."""


def reach_web(directory: Path, config: Config, clock: Clock, guard: Guard, sessions: Sessions) -> Reached:
    """Return the real network, and its resolvers of names."""
    network = CurlNetwork(
        clock,
        guard.judge,
        agent=config.user_agent,
        proxies=Proxies(proxies_of(config.proxy), partial(note_proxies, directory)) if config.proxy else None,
        verify_tls=config.verify_tls,
        max_connections=config.connections,
        kept_idle=spare_connections(config.connections),
        http2=config.http2,
        http3=config.http3,
        certificate=sessions.certificate,
        signer=RequestSigner(key_of(config.sign_key), config.sign_agent) if config.sign_key else None,
        happy_eyeballs_s=config.happy_eyeballs_s,
    )
    return network, [DnsResolver(server) for server in config.dns.split(",") if server] or [
        SystemResolver(config.lookups)
    ]


def parsers_of(config: Config, network: Network, hasher: Hasher, *, text: bool) -> Parsers:
    """Return the parser of bodies: by default as many worker processes as there are spare cores."""
    count = len(os.sched_getaffinity(0)) - 1 if config.workers == AUTO else int(config.workers)
    if not count:
        return Inline(config.product_token, hasher, text=text, requisites=config.requisites)
    longest_bytes = config.body_max_bytes
    return Workers(
        count, config.product_token, hasher, text=text, requisites=config.requisites, longest_bytes=longest_bytes,
        wake=network.wake,
    )  # fmt: skip


def open_index(partition: Partition, clock: Clock, watch: Callable[[Progress], None]) -> Index:
    """Open the search index, and report damage: a damaged index is replaced, and then filled from the archive."""
    directory = partition.directory / FOLDER
    try:
        return Index(directory)
    except (NoRoomError, IndexBusyError):
        raise
    except StoreError as error:
        erase(directory)
        trouble = f"the search index is rebuilt from the archive: {str(error).splitlines()[0][:200]}"
        watch(Progress(at=clock.now(), known=partition.state.known.count, message=trouble))
        return Index(directory)

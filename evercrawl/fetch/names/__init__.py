"""Resolution of host names: the resolvers, the limits on look-ups, and the cache of answers."""

from evercrawl.fetch.names.base import NameAnswer, ResolveError, Resolver
from evercrawl.fetch.names.cache import NAMES_FILE, NameCache
from evercrawl.fetch.names.listed import StaticResolver, read_resolve_file
from evercrawl.fetch.names.live import DnsResolver, SystemResolver
from evercrawl.fetch.names.lookups import LookUps

__all__ = [
    "NAMES_FILE",
    "DnsResolver",
    "LookUps",
    "NameAnswer",
    "NameCache",
    "ResolveError",
    "Resolver",
    "StaticResolver",
    "SystemResolver",
    "read_resolve_file",
]

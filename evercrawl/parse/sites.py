"""Sites: which hosts belong to one owner, by the public suffix list."""

from functools import cache, lru_cache

from publicsuffixlist import PublicSuffixList, __version__

from evercrawl.parse.digest import digest


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


def site_rules() -> int:
    """Return a digest of which list this is, not 0: where it is another, hosts may belong to other sites."""
    return digest(__version__.encode()) | 1


def registrable(host: str) -> str | None:
    """Return the registrable domain of `host`, or None where there is none: a public suffix, or no domain at all.

    Examples
    --------
    >>> registrable("www.example.co.uk")
    'example.co.uk'
    >>> registrable("co.uk") is None
    True
    """
    return _suffixes().privatesuffix(host)


@lru_cache(maxsize=65_536)
def site(host: str) -> str:
    """Return the site of `host`: its registrable domain; an address, a bare label or a public suffix is its own.

    Examples
    --------
    >>> site("docs.example.org"), site("127.0.0.1"), site("[::1]"), site("localhost")
    ('example.org', '127.0.0.1', '[::1]', 'localhost')
    """
    if host.startswith("[") or host.rpartition(".")[2].isdigit():
        return host
    return registrable(host) or host

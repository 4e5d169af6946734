"""Unkeyed checksums, for our own files and for data nobody gains by forging; untrusted data gets keyed hashes."""

from xxhash import xxh3_64_intdigest


def checksum(data: bytes) -> int:
    """Return the XXH3-64 of `data`; it is unkeyed, so collisions can be constructed (see `Hasher`).

    Examples
    --------
    >>> f"{checksum(b''):016x}"
    '2d06800538d394c2'
    """
    return xxh3_64_intdigest(data)

"""Checksums of our own files and of what nobody gains by forging; what strangers choose has keyed hashes."""

from xxhash import xxh3_64_intdigest


def checksum(data: bytes) -> int:
    """Return the XXH3-64 of `data`, a public function: two texts with the same can be looked for (see `Hasher`).

    Examples
    --------
    >>> f"{checksum(b''):016x}"
    '2d06800538d394c2'
    """
    return xxh3_64_intdigest(data)

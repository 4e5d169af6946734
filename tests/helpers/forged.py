"""Texts of one XXH3, for which nobody has to search: what strangers could send to a crawl whose hashes are public.

Of more than 240 bytes XXH3 adds up, stripe by stripe of 64 bytes, products of the two halves of each word under a
public constant. Where the lower halves of two words of a column, so masked, are the same number, one bit that moves
from the upper half of the one word to that of the other leaves the sum as it is. Here these are bytes 16 to 20, which
in a URL can be the host's, and 464 to 468.
"""

from typing import Final

_LENGTH: Final = 712
_FIRST, _SECOND = (16, b"aaa0"), (464, b"7eiR")
_MOVED: Final = ((b"b", b"c"), (b"c", b"b"))


def forged(text: bytes) -> list[bytes]:
    """Return two texts of one XXH3 that begin and end as `text` does and differ in two letters."""
    padded = text + b"p" * (_LENGTH - len(text))
    found = []
    for letters in _MOVED:
        one = bytearray(padded)
        for (at, word), letter in zip((_FIRST, _SECOND), letters, strict=True):
            one[at : at + 5] = word + letter
        found.append(bytes(one))
    return found


VICTIM, ATTACKER = (url.decode() for url in forged(b"http://the-one-aaa0b-of-two.example/"))
"""Two URLs on two sites, of one XXH3."""

"""What of a long text is indexed: its beginning as it is, and of the rest the words that are new.

Words that a page has had before cost as much as new ones, and nearly all words of a long text are of that kind. In the
beginning of a text words keep their places, so that phrases are found there; of the rest each word is kept once. Four
pages in five are beginning from end to end.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.kernels import Library, pointer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evercrawl.types import Keys

HEAD_BYTES: Final = 16_000
"""Of a text that are indexed as they are."""

TIMES: Final = 1
"""How often the rest may bring up a word that was there before, the beginning included."""

_PLACES: Final = 1 << 14  # distinct words of a page that are told apart, and a third more
_SEARCHED: Final = 200  # bytes that are searched for the end of a word
_MOST_BYTES: Final = 1 << 19  # of new words that are kept
_memory: Final = threading.local()
_KERNELS: Final = Library("evercrawl.search._condense_kernel")


def condense(text: bytes, head_bytes: int = HEAD_BYTES, times: int = TIMES) -> str:
    """Return what is indexed of a text in UTF-8.

    Examples
    --------
    >>> condense(b"to be or not to be, that is The Question: To be!", 10)
    'to be or not that is The Question'
    >>> condense(b"short")
    'short'
    """
    if len(text) <= head_bytes:
        return text.decode("utf-8", "replace")
    head = text.rfind(b" ", max(head_bytes - _SEARCHED, 0), head_bytes)
    head = head if head >= 0 else _whole(text, head_bytes)
    table, out = _scratch()
    count = _KERNELS["condense"](text, len(text), head, times, pointer(table), _PLACES, pointer(out), len(out))
    return text[:head].decode("utf-8", "replace") + out[:count].tobytes().decode("utf-8", "replace")


def _scratch() -> tuple[Keys, NDArray[np.uint8]]:
    """Return memory for this thread's calls: to get it anew would cost as much as they do."""
    if not hasattr(_memory, "scratch"):
        _memory.scratch = np.empty(_PLACES, np.uint64), np.empty(_MOST_BYTES, np.uint8)
    scratch: tuple[Keys, NDArray[np.uint8]] = _memory.scratch
    return scratch


def _whole(text: bytes, at: int) -> int:
    """Return the last place up to `at` where a character begins."""
    while at and text[at] & 0xC0 == 0x80:
        at -= 1
    return at

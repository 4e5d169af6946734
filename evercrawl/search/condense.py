"""The indexed form of a text: its beginning word for word, and each further word once.

Repeated words cost as much to index as new ones, and nearly all words of a long text are repetitions. The beginning
of a text keeps its words in place, so that phrases are found there; of the rest each word is kept once. Four pages in
five are short enough to be kept entirely.

Signs that only separate words, such as dashes, quotation marks and arrows, become blanks. The words stay the same,
and nine texts in ten are then pure ASCII instead of one in five, which Python and the index process without decoding.
"""

import threading
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.kernels import Library, pointer

HEAD_BYTES: Final = 16_000
"""Of a text whose words are indexed where they stand."""

TIMES: Final = 1
"""How often the rest may bring up a word that was there before, the beginning included."""

_PLACES: Final = 1 << 14  # distinct words of a page that are counted, plus a third
_SEARCHED: Final = 200  # bytes searched for the end of a word
_MOST_BYTES: Final = 1 << 19  # of new words kept
_memory: Final = threading.local()
_KERNELS: Final = Library("evercrawl.search._condense_kernel")


def condense(text: bytes, head_bytes: int = HEAD_BYTES, times: int = TIMES) -> str:
    """Return the indexed form of a text in UTF-8.

    Examples
    --------
    >>> condense(b"to be or not to be, that is The Question: To be!", 10)
    'to be or not that is The Question'
    >>> condense(b"short")
    'short'
    """
    head = len(text)
    if head <= head_bytes and text.isascii():
        return text.decode("ascii")
    if head > head_bytes:
        blank = text.rfind(b" ", max(head_bytes - _SEARCHED, 0), head_bytes)
        head = blank if blank >= 0 else _whole(text, head_bytes)
    out, table, there = _scratch(head + _MOST_BYTES)
    count = _KERNELS["condense"](text, len(text), head, times, table, _PLACES, there, len(out))
    return out[:count].tobytes().decode("utf-8", "replace")


def _scratch(room: int) -> tuple[NDArray[np.uint8], Any, Any]:
    """Return buffers for this thread's calls, and their addresses: allocating them would double the cost."""
    scratch: tuple[NDArray[np.uint8], Any, Any] | None = getattr(_memory, "scratch", None)
    if scratch is None or len(scratch[0]) < room:
        out = np.empty(max(room, HEAD_BYTES + _MOST_BYTES), np.uint8)
        _memory.scratch = scratch = out, pointer(np.empty(_PLACES, np.uint64)), pointer(out)
    return scratch


def _whole(text: bytes, at: int) -> int:
    """Return the last character boundary up to `at`."""
    while at and text[at] & 0xC0 == 0x80:
        at -= 1
    return at

"""Memory layout of the similarity index, shared by its kernel and by callers without numba."""

from typing import Final

BLOCKS: Final = 4
"""Parts of a hash, 16 bits each; hashes that differ in 3 bits agree in one of them."""
VALUES: Final = 1 << 16
WORDS: Final = 1 + BLOCKS
"""Of a node: its hash, and for each block the next node in the chain, low half, and the one before, high half."""

"""Inner loops in machine code: compiled once by numba, cached on disk, and loaded from there without numba."""

from evercrawl.kernels.cache import jit
from evercrawl.kernels.library import Library, address_table, missing, pointer, warm

__all__ = ["Library", "address_table", "jit", "missing", "pointer", "warm"]

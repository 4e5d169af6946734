"""Reserved arrays: as large as asked, as heavy as used."""

import subprocess
import sys

import numpy as np
import psutil
import pytest

from evercrawl.arrays.reserved import reserve, reserve_together
from evercrawl.errors import StoreError


def test_costs_memory_only_where_written():
    before = psutil.Process().memory_info().rss
    cells = reserve(np.float32, 1 << 30)
    cells[0] = cells[-1] = 1
    assert psutil.Process().memory_info().rss - before < 1 << 20
    assert cells[0] + cells[1] + cells[-1] == 2


def test_arrays_reserved_together_have_one_shape():
    keys, slots = reserve_together([np.uint64, np.uint32], 1000)
    assert (keys.shape, slots.shape) == ((1000,), (1000,))
    assert (keys.dtype, slots.dtype) == (np.uint64, np.uint32)


def test_nothing_can_be_reserved():
    assert reserve(np.uint8, 0).shape == (0,)


def _under_limit(code: str) -> str:
    """Return what `code` prints in a process whose address space is 2 GiB."""
    head = "import resource; resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
    head += "import numpy as np\nfrom evercrawl.arrays.reserved import reserve\n"
    return subprocess.run(
        [sys.executable, "-c", head + code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_takes_less_where_the_kernel_refuses():
    reserved = int(_under_limit("print(len(reserve(np.uint64, 1 << 30)))"))
    assert 1 << 24 <= reserved < 1 << 28


def test_says_what_to_do_where_even_little_is_refused():
    code = "try: reserve(np.uint64, 1 << 30, least=1 << 29)\nexcept Exception as e: print(type(e).__name__, e)"
    said = _under_limit(code)
    assert said.startswith(StoreError.__name__)
    assert "ulimit -v" in said


def test_least_is_kept():
    with pytest.raises(StoreError):
        reserve(np.uint64, 1 << 58, least=1 << 57)

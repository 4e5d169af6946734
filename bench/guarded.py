"""Memory that ends where it ends, for kernels: between pages that nobody may touch.

A kernel that reads or writes past its buffers is killed for it. Whatever bytes kernels are given, and whatever arrays a
module makes for them, lie between such pages, in a process of its own for each case. On even cases a buffer ends at the
page behind it, on odd ones it begins at the one before.
"""

from __future__ import annotations

import ctypes
import faulthandler
import mmap
import os
import signal
import zlib
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from evercrawl.arrays import hasher
from evercrawl.parse import scan, simhash
from evercrawl.search import condense
from evercrawl.store.journal import codec

_NONE, _ANONYMOUS = 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
_PAGE: Final = mmap.PAGESIZE
_MODULES: Final = (scan, simhash, condense, codec, hasher)
_SECRET: Final = bytes(range(16))
_libc: Final = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64
_libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int


class GuardedMemory:
    """Makes buffers between pages that nobody may touch; they last as long as the process.

    Parameters
    ----------
    at_end
        Whether a buffer ends at such a page; else it begins at one.
    """

    def __init__(self, *, at_end: bool) -> None:
        self._at_end = at_end

    def room(self, size_bytes: int) -> int:
        """Return the address of a new buffer."""
        inside = -(-max(size_bytes, 1) // _PAGE) * _PAGE
        start = _libc.mmap(None, inside + 2 * _PAGE, mmap.PROT_READ | mmap.PROT_WRITE, _ANONYMOUS, -1, 0)
        assert start not in (None, ctypes.c_void_p(-1).value), "there is no memory"
        for page in (start, start + _PAGE + inside):
            assert _libc.mprotect(page, _PAGE, _NONE) == 0
        return int(start) + _PAGE + (inside - size_bytes if self._at_end else 0)

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Return an array as `numpy.empty` does, with something in it."""
        kind, sizes = np.dtype(dtype), (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
        size_bytes = int(np.prod(sizes)) * kind.itemsize
        if not size_bytes:
            return np.empty(sizes, kind)
        buffer = (ctypes.c_char * size_bytes).from_address(self.room(size_bytes))
        ctypes.memset(buffer, 0xAA, size_bytes)
        return np.frombuffer(buffer, kind).reshape(sizes)

    def held(self, data: bytes) -> int:
        """Return the address of a copy of some bytes."""
        at = self.room(len(data))
        ctypes.memmove(at, data, len(data))
        return at


class _Numpy:
    """numpy, but for where arrays lie."""

    def __init__(self, memory: GuardedMemory) -> None:
        self.empty = memory.empty

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


class _Entries:
    """The kernels of a library, which get bytes that are guarded."""

    def __init__(self, library: Any, memory: GuardedMemory) -> None:
        self._library, self._memory = library, memory

    def __getitem__(self, name: str) -> Callable[..., Any]:
        entry, held = self._library[name], self._memory.held

        def call(*arguments: Any) -> Any:
            return entry(*(held(each) if isinstance(each, bytes) else each for each in arguments))

        return call


def _guard(module: ModuleType, memory: GuardedMemory) -> None:
    for name, made in (("np", _Numpy(memory)), ("_KERNELS", _Entries(vars(module)["_KERNELS"], memory))):
        vars(module)[name] = made


def _read(data: bytes) -> None:
    """Have the kernels read a case."""
    hashed = hasher.Hasher(_SECRET)
    for most, xml in ((10_000, False), (3, True)):
        found = scan.scan(data, most, xml=xml)
        if len(found.hrefs):
            scan.anchors(found.spans, list(range(len(found.hrefs))), own=-1)
        simhash.simhash_bytes(found.text, hashed)
        condense.condense(found.text, 200, 2)
    simhash.simhash_bytes(data, hashed)
    pieces = data.split(b"<")[:100]
    hashed.shorts(pieces), hashed.short(data), hashed.digest(data)
    slots = codec.decode_slots(data)
    some = slots[:200].copy()
    codec.encode_slots(some)
    codec.encode_links(some, 3, list(range(0, len(some), 2)))


def guarded(data: bytes) -> None:
    """Have the kernels read a case between guard pages.

    Raises
    ------
    AssertionError
        One of them was killed for what it touched, or failed.
    """
    _read(b"<a href=x>y</a>")  # what is compiled or loaded is so before

    def read(memory: GuardedMemory) -> None:
        scan.LEAST_BYTES, scan.KEPT_BYTES = 0, -1  # so that no buffer has more room than is asked for
        for module in _MODULES:
            _guard(module, memory)
        _read(data)

    apart(read, at_end=zlib.crc32(data) % 2 == 0)


def apart(run: Callable[[GuardedMemory], object], *, at_end: bool) -> None:
    """Run something with guarded memory in a process of its own.

    Raises
    ------
    AssertionError
        It was killed for what it touched, or failed.
    """
    child = os.fork()
    if not child:
        code = 1
        try:
            faulthandler.disable()
            run(GuardedMemory(at_end=at_end))
            code = 0
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    ended = os.waitstatus_to_exitcode(status)
    assert ended >= 0, f"a kernel reached outside its memory: {signal.Signals(-ended).name}"
    assert ended == 0, "a kernel failed"

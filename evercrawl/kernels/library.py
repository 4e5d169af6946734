"""Kernels as Python calls them: by name, with numbers and pointers. Other threads run meanwhile."""

from __future__ import annotations

import ctypes
import functools
import itertools
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, Final

from evercrawl.kernels import cache

if TYPE_CHECKING:
    from collections.abc import Callable

_TYPES: Final[dict[str, Any]] = {
    "P": ctypes.c_void_p,
    "q": ctypes.c_int64,
    "Q": ctypes.c_uint64,
    "d": ctypes.c_double,
}
_lock: Final = RLock()
_numbers: Final = itertools.count()
_bytes_of: Final = (ctypes.c_char * 0).from_buffer


class Library:
    """The entries of a kernel module; loaded when the first is asked for, and compiled if they never were.

    Parameters
    ----------
    module
        Full name of the kernel module. It is imported only to be compiled, for it imports numba.

    Examples
    --------
    >>> import numpy as np
    >>> gaps = Library("evercrawl.store.journal._codec_kernels")
    >>> slots = np.empty(2, np.uint32)
    >>> gaps["decode"](bytes([3, 0]), 2, pointer(slots))
    2
    >>> slots
    array([3, 4], dtype=uint32)
    """

    named: ClassVar[list[Library]] = []
    """Every library that a module imported so far makes use of."""

    def __init__(self, module: str) -> None:
        self.module = module
        self._image: cache.Image | None = None
        self._entries: dict[str, Callable[..., Any]] = {}
        self._memory: tuple[Any, ...] = ()  # what holds the code, as long as somebody holds it
        self.named.append(self)

    def __getitem__(self, entry: str) -> Callable[..., Any]:
        if not self._entries:
            self.load()
        return self._entries[entry]

    def found(self) -> bool:
        """Tell whether `load` will be quick: nothing has to be compiled."""
        with _lock:
            self._image = self._image or cache.fetch(self.module, _target())
            return self._image is not None

    def load(self) -> bool:
        """Make the entries callable; return False if they were compiled and could not be kept."""
        with _lock:
            kept = self.found() or self._compile()
            if self._image is not None and not self._entries:
                self._link(self._image)
            return kept

    def _compile(self) -> bool:
        from evercrawl.kernels.build import build

        self._image = cache.Image(*build(self.module))
        return cache.keep(self.module, _target(), self._image)

    def _link(self, image: cache.Image) -> None:
        """Give the object code its place in memory."""
        import llvmlite.binding as llvm

        linker = _linker()
        builder = llvm.JITLibraryBuilder().add_object_img(image.code).add_current_process()
        for name in image.entries:
            builder.export_symbol(name)
        place = builder.link(linker, f"{self.module} {next(_numbers)}")  # a name can be linked once
        self._memory = place, linker
        self._entries = {name: _entry(place[name], letters) for name, letters in image.entries.items()}


def pointer(array: Any) -> Any:
    """Return what an entry takes for a pointer to the data of a contiguous numpy array; bytes need none.

    Who keeps it keeps the array.
    """
    try:
        return _bytes_of(array)
    except TypeError:  # it cannot be written to
        assert array.flags.c_contiguous, "kernels take contiguous arrays"
        return ctypes.c_void_p(array.ctypes.data)


def missing() -> bool:
    """Tell whether a library that is made use of has yet to be compiled, which takes some 15 s for all."""
    return any(not library.found() for library in Library.named)


def warm() -> bool:
    """Load every library that is made use of; return False if what had to be compiled could not be kept."""
    kept = [library.load() for library in Library.named]
    return all(kept)


def _entry(address: int, letters: str) -> Callable[..., Any]:
    result, *arguments = (_TYPES[letter] for letter in letters)
    return ctypes.CFUNCTYPE(result, *arguments)(address)


@functools.cache
def _linker() -> Any:
    """Return what links all libraries: to make one takes longer than to link with it."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    return llvm.create_lljit_compiler(use_jit_link=True)


@functools.cache
def _target() -> tuple[str, ...]:
    """Return what object code depends on beside its sources."""
    import llvmlite
    import llvmlite.binding as llvm

    about = llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    return (llvmlite.__version__, *about)

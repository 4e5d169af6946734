"""Kernels as Python calls them: by name, with numbers and pointers. Other threads run meanwhile.

Those that came with the installation serve first, then those that were compiled before on this machine. Where they
cannot be compiled ahead of time, as with a numba or a processor that nobody has tried yet, numba compiles them as it
does any function: in each process anew, to the same results.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
import itertools
import os
import warnings
from collections.abc import Callable, Generator
from threading import RLock
from typing import Any, ClassVar, Final

from evercrawl.errors import ConfigError
from evercrawl.kernels import cache, shipped
from evercrawl.kernels.cache import VARIABLE, jit

FAILED: Final = "compiling ahead of time failed, so each process compiles its inner loops anew ({module}: {why})"
NO_COMPILER: Final = (
    "the inner loops have to be compiled, for this installation brings none that serve here: "
    "pip install 'evercrawl[jit]'"
)

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

    Raises
    ------
    ConfigError
        When an entry is asked for: it would have to be compiled, and numba is not installed.

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
        with _lock, _or_else_jit(self.module):
            if not self._entries and self._image is None and not jit():
                came = shipped.entries_of(self.module)
                if came is not None:
                    self._entries = {name: _entry(*one) for name, one in came.items()}
                elif can_compile():
                    self._image = cache.fetch(self.module, _target())
            return bool(self._entries) or (self._image is not None and not jit())
        return False

    def load(self) -> bool:
        """Make the entries callable; return False if they were compiled and should have been kept, but were not."""
        with _lock:
            kept = self.found()
            if not self._entries and not can_compile():
                raise ConfigError(NO_COMPILER)
            if not self._entries and not jit():
                with _or_else_jit(self.module):
                    kept = kept or self._compile()
                    assert self._image is not None
                    self._link(self._image)
            if not self._entries:
                self._compile_here()
            return kept or jit()

    def _compile(self) -> bool:
        from evercrawl.kernels.build import build

        self._image = cache.Image(*build(self.module))
        return cache.keep(self.module, _target(), self._image)

    def _compile_here(self) -> None:
        """Have numba compile the entries for this process."""
        from evercrawl.kernels.build import callbacks

        made = callbacks(self.module)
        self._memory = tuple(callback for _, callback in made.values())
        self._entries = {name: _entry(callback.address, letters) for name, (letters, callback) in made.items()}

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


def address_table(*arrays: Any) -> Any:
    """Return what an entry takes for the addresses of contiguous arrays: one argument, whatever their number.

    Who keeps it keeps the arrays. It is made where the entry is called, or where arrays are made that stay the same.
    """
    assert all(array.flags.c_contiguous for array in arrays), "kernels take contiguous arrays"
    words: Any = (ctypes.c_int64 * len(arrays))(*(array.ctypes.data for array in arrays))
    words.arrays = arrays
    return words


def can_compile() -> bool:
    """Tell whether numba is installed."""
    return importlib.util.find_spec("numba") is not None


def missing() -> bool:
    """Tell whether a library that is made use of has yet to be compiled, which takes a minute of CPU for all."""
    return any(not library.found() for library in Library.named)


def warm(processes: int = 1) -> bool:
    """Load every library that is made use of; return False if what had to be compiled could not be kept.

    Parameters
    ----------
    processes
        How many may compile at once; each takes some 500 MiB.
    """
    modules = [library.module for library in Library.named if not library.found()]
    if min(processes, len(modules)) > 1 and can_compile() and not jit():
        _compile_beside(modules, processes)
    kept = [library.load() for library in Library.named]
    return all(kept)


def _compile_beside(modules: list[str], processes: int) -> None:
    """Have other processes compile and keep what they can of `modules`, the largest first; what fails there is left."""
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    modules = sorted(modules, key=cache.size_of, reverse=True)
    with (
        contextlib.suppress(BrokenProcessPool, OSError),  # some systems have no semaphores, or no room for processes
        ProcessPoolExecutor(min(processes, len(modules)), get_context("spawn")) as pool,
    ):
        list(pool.map(_compile_quietly, modules))


def _compile_quietly(module: str) -> None:
    with warnings.catch_warnings():  # whoever asked will try again, and say it
        warnings.simplefilter("ignore")
        Library(module).load()


@contextlib.contextmanager
def _or_else_jit(module: str) -> Generator[None]:
    """Where what is done fails, say so, and do without from now on: here, and in processes that are started here."""
    try:
        yield
    except Exception as error:  # what LLVM cannot do here, and whatever is not where it was inside another numba
        os.environ[VARIABLE] = "jit"
        why = " ".join(f"{type(error).__name__}: {error}".split())
        warnings.warn(FAILED.format(module=module, why=why), RuntimeWarning, stacklevel=2)


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

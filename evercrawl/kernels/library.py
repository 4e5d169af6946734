"""Access to kernels from Python, by name, with numbers and pointers. They release the GIL.

Kernels shipped with the installation are used first, then cached ones. If ahead-of-time compilation fails, for
example with an untested version of numba or an untested processor, numba compiles them as usual: in each process
again, with the same results.
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
    "the inner loops must be compiled, because this installation has none that can be used here: "
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
    """The entries of a kernel module, loaded at first use, and compiled if necessary.

    Parameters
    ----------
    module
        Full name of the kernel module. It is imported only for compilation, because it imports numba.

    Raises
    ------
    ConfigError
        At the first use of an entry, if it must be compiled and numba is not installed.

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
    """All libraries used by the modules imported so far."""

    def __init__(self, module: str) -> None:
        self.module = module
        self._image: cache.Image | None = None
        self._entries: dict[str, Callable[..., Any]] = {}
        self._memory: tuple[Any, ...] = ()  # keeps the code alive
        self.named.append(self)

    def __getitem__(self, entry: str) -> Callable[..., Any]:
        if not self._entries:
            self.load()
        return self._entries[entry]

    def found(self) -> bool:
        """Return whether `load` will be fast, because nothing must be compiled."""
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
        """Make the entries callable; return False if they were compiled and could not be cached."""
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
        """Compile the entries for this process, by numba."""
        from evercrawl.kernels.build import callbacks

        made = callbacks(self.module)
        self._memory = tuple(callback for _, callback in made.values())
        self._entries = {name: _entry(callback.address, letters) for name, (letters, callback) in made.items()}

    def _link(self, image: cache.Image) -> None:
        """Load the object code into memory."""
        import llvmlite.binding as llvm

        linker = _linker()
        builder = llvm.JITLibraryBuilder().add_object_img(image.code).add_current_process()
        for name in image.entries:
            builder.export_symbol(name)
        place = builder.link(linker, f"{self.module} {next(_numbers)}")  # a name can be linked only once
        self._memory = place, linker
        self._entries = {name: _entry(place[name], letters) for name, letters in image.entries.items()}


def pointer(array: Any) -> Any:
    """Return a pointer argument for the data of a contiguous numpy array; bytes can be passed directly.

    The pointer keeps the array alive.
    """
    try:
        return _bytes_of(array)
    except TypeError:  # the array is read-only
        assert array.flags.c_contiguous, "kernels take contiguous arrays"
        return ctypes.c_void_p(array.ctypes.data)


def address_table(*arrays: Any) -> Any:
    """Return a single argument with the addresses of any number of contiguous arrays.

    The table keeps the arrays alive. Create it at the call, or together with arrays that are never reallocated.
    """
    assert all(array.flags.c_contiguous for array in arrays), "kernels take contiguous arrays"
    words: Any = (ctypes.c_int64 * len(arrays))(*(array.ctypes.data for array in arrays))
    words.arrays = arrays
    return words


def can_compile() -> bool:
    """Return whether numba is installed."""
    return importlib.util.find_spec("numba") is not None


def missing() -> bool:
    """Return whether a used library must still be compiled, which takes a minute of CPU for all."""
    return any(not library.found() for library in Library.named)


def warm(processes: int = 1) -> bool:
    """Load all used libraries; return False if compiled ones could not be cached.

    Parameters
    ----------
    processes
        Number of processes that may compile at once; each takes some 500 MiB.
    """
    modules = [library.module for library in Library.named if not library.found()]
    if min(processes, len(modules)) > 1 and can_compile() and not jit():
        _compile_beside(modules, processes)
    kept = [library.load() for library in Library.named]
    return all(kept)


def _compile_beside(modules: list[str], processes: int) -> None:
    """Compile and cache `modules` in other processes, the largest first; failures are ignored."""
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    modules = sorted(modules, key=cache.size_of, reverse=True)
    with (
        contextlib.suppress(BrokenProcessPool, OSError),  # no semaphores on some systems, or no memory for processes
        ProcessPoolExecutor(min(processes, len(modules)), get_context("spawn")) as pool,
    ):
        list(pool.map(_compile_quietly, modules))


def _compile_quietly(module: str) -> None:
    with warnings.catch_warnings():  # the caller will retry, and warn
        warnings.simplefilter("ignore")
        Library(module).load()


@contextlib.contextmanager
def _or_else_jit(module: str) -> Generator[None]:
    """If the body fails, warn, and disable the cache from now on, in this process and in its children."""
    try:
        yield
    except Exception as error:  # unsupported by LLVM here, or a changed internal of another numba version
        os.environ[VARIABLE] = "jit"
        why = " ".join(f"{type(error).__name__}: {error}".split())
        warnings.warn(FAILED.format(module=module, why=why), RuntimeWarning, stacklevel=2)


def _entry(address: int, letters: str) -> Callable[..., Any]:
    result, *arguments = (_TYPES[letter] for letter in letters)
    return ctypes.CFUNCTYPE(result, *arguments)(address)


@functools.cache
def _linker() -> Any:
    """Return the linker of all libraries, because creating one takes longer than linking."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    return llvm.create_lljit_compiler(use_jit_link=True)


@functools.cache
def _target() -> tuple[str, ...]:
    """Return everything besides the sources on which object code depends."""
    import llvmlite
    import llvmlite.binding as llvm

    about = llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    return (llvmlite.__version__, *about)

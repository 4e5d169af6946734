"""Temporary numbers for a kernel on its stack, because kernels must not allocate."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import numba
from numba.extending import intrinsic

LENGTH: Final = 256
"""Number of elements."""

_types: Any = numba.types
_intrinsic: Any = intrinsic
_ir: Any = import_module("llvmlite.ir")


def _scratch(_typing: Any) -> Any:
    """Return the intrinsic's signature, and its code generator."""

    def generate(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        number = _ir.DoubleType()
        with builder.goto_entry_block():
            room = builder.alloca(_ir.ArrayType(number, LENGTH))
        return builder.bitcast(room, number.as_pointer())

    return _types.CPointer(_types.float64)(), generate


scratch: Callable[[], Any] = _intrinsic(_scratch)
"""In a compiled function, scratch() is a pointer to 256 uninitialised float64, for `view`."""

"""Some numbers that a kernel needs for a moment, on its stack: kernels must not allocate."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import numba
from numba.extending import intrinsic

LENGTH: Final = 256
"""Numbers that there are room for."""

_types: Any = numba.types
_intrinsic: Any = intrinsic
_ir: Any = import_module("llvmlite.ir")


def _scratch(_typing: Any) -> Any:
    """Return the type of the pointer, and what writes the room for the numbers into a function being compiled."""

    def generate(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        number = _ir.DoubleType()
        with builder.goto_entry_block():
            room = builder.alloca(_ir.ArrayType(number, LENGTH))
        return builder.bitcast(room, number.as_pointer())

    return _types.CPointer(_types.float64)(), generate


scratch: Callable[[], Any] = _intrinsic(_scratch)
"""scratch(), in a compiled function: a pointer to 256 float64, for `view`; what is in them is anything at first."""

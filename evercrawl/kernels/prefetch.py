"""The prefetch hint of processors, for kernels: load this memory soon.

Loops that follow links mostly wait for memory, unless they prefetch the data that they will need a few pages later.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import numba
from numba.extending import intrinsic
from numpy.typing import NDArray

_HINT: Final = "llvm.prefetch.p0i8"
_READ, _KEEP, _DATA = 0, 3, 1  # for reading, into all caches, data rather than instructions
_types: Any = numba.types
_intrinsic: Any = intrinsic
_ir: Any = import_module("llvmlite.ir")


def _prefetch(_typing: Any, array: Any, place: Any) -> Any:
    """Return the intrinsic's signature, and its code generator."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        number = context.cast(builder, arguments[1], signature.args[1], _types.int64)
        far = builder.mul(number, builder.extract_value(made.strides, 0))
        byte, small = _ir.IntType(8).as_pointer(), _ir.IntType(32)
        kind = _ir.FunctionType(_ir.VoidType(), [byte, small, small, small])
        hint = builder.module.declare_intrinsic(_HINT, (), kind)
        address = builder.gep(builder.bitcast(made.data, byte), [far])
        builder.call(hint, [address, small(_READ), small(_KEEP), small(_DATA)])
        return context.get_dummy_value()

    return _types.void(array, place), generate


prefetch: Callable[[NDArray[Any], Any], None] = _intrinsic(_prefetch)
"""In a compiled function, prefetch(array, place) loads `array[place]`; an index out of bounds does no harm."""

"""A hint to the processor, for kernels only: have this at hand soon.

Loops that follow links wait for memory most of the time, unless they say a few pages ahead what they are going to need.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import numba
from numba.extending import intrinsic
from numpy.typing import NDArray

_HINT: Final = "llvm.prefetch.p0i8"
_READ, _KEEP, _DATA = 0, 3, 1  # to be read, to be kept in all caches, no instructions
_types: Any = numba.types
_intrinsic: Any = intrinsic
_ir: Any = import_module("llvmlite.ir")


def _prefetch(_typing: Any, array: Any, place: Any) -> Any:
    """Return the types of the hint, and what writes it into a function that is being compiled."""

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
"""prefetch(array, place), in a compiled function: `array[place]` will be wanted; a place outside does no harm."""

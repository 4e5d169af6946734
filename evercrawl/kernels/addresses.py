"""Tables of addresses for kernels: one argument replaces many pointers, each of which costs a call 0.1 us."""

from collections.abc import Callable
from typing import Any, Final

import numba
import numpy as np
from numba.extending import intrinsic

from evercrawl.kernels.build import pointer

_types: Any = numba.types
_intrinsic: Any = intrinsic


def pointer_at(to: Any) -> Callable[[Any], Any]:
    """Return an intrinsic that converts an address (int64) to a pointer to a numpy type or dtype."""
    kind = pointer(to)

    def typed(_typing: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number = context.cast(builder, arguments[0], signature.args[0], _types.int64)
            return builder.inttoptr(number, context.get_value_type(signature.return_type))

        return kind(address), generate

    made: Callable[[Any], Any] = _intrinsic(typed)
    return made


floats_at: Final = pointer_at(np.float64)
ints_at: Final = pointer_at(np.int64)
ints32_at: Final = pointer_at(np.int32)
"""Intrinsics for pointers to float64, int64 and int32."""

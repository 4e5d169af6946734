"""Bidirectional map of names and numbers without an object per name: one buffer of text, and a table of digests."""

from __future__ import annotations

import operator
from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Protocol, cast, overload

import numpy as np
from xxhash import xxh3_64

if TYPE_CHECKING:
    from evercrawl.arrays.hasher import Hasher
    from evercrawl.types import Ints, Keys

_NEAR: Final = 4096  # cached look-ups, also of unknown names: a look-up in the table takes some microseconds
_UNSEEN: Final = -1
LOADED_BYTES: Final = 16 << 20
"""Size of the names that are loaded together."""


class KeyNumbers(Protocol):
    """A numbering of 64-bit keys from 0, in order of arrival."""

    def intern_one(self, key: int) -> int:
        """Return the number of a key; a new one gets the next."""
        ...

    def find_one(self, key: int) -> int | None:
        """Return the number of a key; None if it has none."""
        ...

    def rebuild(self, keys: Keys) -> None:
        """Assign numbers to distinct keys in bulk; no key may have a number yet."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        ...


class NumberedNames(Sequence[str]):
    """Distinct names, numbered from 0 in order of arrival; about 21 bytes each besides their text.

    Names with equal 64-bit digests count as identical. A name that is a suffix of the text written last takes no space:
    the site of a new host is part of the host's name.

    Parameters
    ----------
    numbers
        Numbering of the keys, not shared with others.
    hasher
        Hash functions of the crawl, because strangers choose names.
    within
        Other names whose text buffer is shared; by default the names have a buffer of their own.

    Attributes
    ----------
    hasher
        Hash functions of the crawl.

    Examples
    --------
    >>> from evercrawl.arrays.hasher import Hasher
    >>> from evercrawl.store.table.table import KeyMap
    >>> hasher = Hasher(bytes(16))
    >>> hosts = NumberedNames(KeyMap(1000), hasher)
    >>> sites = NumberedNames(KeyMap(1000), hasher, within=hosts)
    >>> hosts.append("www.example.org"), sites.append("example.org"), hosts.text_bytes
    (0, 0, 15)
    >>> hosts[0], sites[0], hosts.find("www.example.org"), hosts.find("example.org")
    ('www.example.org', 'example.org', 0, None)
    """

    def __init__(self, numbers: KeyNumbers, hasher: Hasher, within: NumberedNames | None = None) -> None:
        self._numbers, self.hasher, self._own, self._within = numbers, hasher, within is None, within
        self._text: bytearray = bytearray() if within is None else within._text
        self._starts, self._lengths = array("I"), array("H")
        self._near: dict[str, int | None] = {}
        self._hash = xxh3_64()

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self._starts)

    @overload
    def __getitem__(self, number: int) -> str: ...

    @overload
    def __getitem__(self, number: slice) -> list[str]: ...

    def __getitem__(self, number: int | slice) -> str | list[str]:
        """Return the name with a number, or those of a slice."""
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        start = self._starts[number]
        return self._text[start : start + self._lengths[number]].decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        """Yield all names, by number."""
        text = self._text
        for start, length in zip(self._starts, self._lengths, strict=True):
            yield text[start : start + length].decode("utf-8", "surrogatepass")

    def __eq__(self, other: object) -> bool:
        """Return whether the other has the same names in the same order."""
        if not isinstance(other, (NumberedNames, list)):
            return False
        names = cast("Sequence[str]", other)
        return len(self) == len(names) and all(map(operator.eq, self, names))

    __hash__ = None  # type: ignore[assignment]

    def __contains__(self, name: object) -> bool:
        """Return whether a name has a number."""
        return isinstance(name, str) and self.find(name) is not None

    def index(self, value: str, start: int = 0, stop: int | None = None) -> int:
        """Return the number of a name, if it lies from `start` up to, and not including, `stop`.

        Raises
        ------
        ValueError
            It has none there.
        """
        number = self.find(value)
        if number is None or not start <= number < (len(self) if stop is None else stop):
            raise ValueError(f"{value} has no number")
        return number

    def __repr__(self) -> str:
        """Return the representation of the list of names."""
        return repr(list(self))

    def find(self, name: str) -> int | None:
        """Return the number of a name; None where it has none."""
        number = self._near.get(name, _UNSEEN)
        if number == _UNSEEN:
            number = self._numbers.find_one(self.hasher.short(_bytes(name)) or 1)
            self._keep_near(name, number)
        return number

    def append(self, name: str) -> int:
        """Add a name that has no number yet, and return its number."""
        data = _bytes(name)
        number = self._numbers.intern_one(self.hasher.short(data) or 1)  # 0 stands for no key
        assert number == len(self._starts), "a name is numbered once"
        if not self._text.endswith(data):
            self._text += data
        self._starts.append(len(self._text) - len(data))
        self._lengths.append(len(data))
        self._hash.update(b"\n" + data if number else data)
        self._keep_near(name, number)
        return number

    def load(self, lines: bytes, behind: Ints | None = None) -> None:
        r"""Load names, each followed by a line break, into an empty object; it costs a tenth of `append`.

        Parameters
        ----------
        lines
            The names, in the order of their numbers.
        behind
            For names within others' text: the number of a name of theirs that may end with each, shape (n,).

        Examples
        --------
        >>> from evercrawl.arrays.hasher import Hasher
        >>> from evercrawl.store.table.table import KeyMap
        >>> hasher = Hasher(bytes(16))
        >>> hosts = NumberedNames(KeyMap(1000), hasher)
        >>> sites = NumberedNames(KeyMap(1000), hasher, within=hosts)
        >>> hosts.load(b"www.example.org\nexample.com\n")
        >>> sites.load(b"example.org\nexample.net\n", np.array([0, 1]))
        >>> hosts[1], sites[0], sites[1], hosts.text_bytes, sites.find("example.net")
        ('example.com', 'example.org', 'example.net', 37, 1)
        """
        assert not self._starts, "they are the first"
        self._near.clear()  # some may have been looked for
        parts = [np.zeros(0, np.uint64)]
        for piece in _pieces(lines):
            names = piece.split(b"\n")[:-1]
            keys = self.hasher.shorts(names)
            parts.append(np.where(keys == 0, np.uint64(1), keys))
            lengths = np.fromiter(map(len, names), np.int64, len(names))
            if behind is None:
                starts: Ints = len(self._text) + np.cumsum(lengths) - lengths
                self._text += piece.replace(b"\n", b"")
            else:
                first = len(self._starts)
                starts = self._placed(names, lengths, behind[first : first + len(names)])
            self._starts.frombytes(starts.astype(np.uint32).tobytes())
            self._lengths.frombytes(lengths.astype(np.uint16).tobytes())
        self._numbers.rebuild(np.concatenate(parts))
        self._hash = xxh3_64(memoryview(lines)[:-1])

    def digest(self) -> int:
        r"""Return the XXH3-64 of all names joined by line breaks, which is updated as names are added.

        >>> from evercrawl.arrays.hasher import Hasher
        >>> from evercrawl.store.table.table import KeyMap
        >>> names = NumberedNames(KeyMap(1000), Hasher(bytes(16)))
        >>> names.append("a.example"), names.append("b.example")
        (0, 1)
        >>> names.digest() == xxh3_64(b"a.example\nb.example").intdigest()
        True
        """
        return self._hash.intdigest()

    def _placed(self, names: list[bytes], lengths: Ints, behind: Ints) -> Ints:
        """Return the offsets of names, each of which may be a suffix of another's text; write those that are not."""
        within = self._within
        assert within is not None, "there is a text that others wrote"
        ends = np.frombuffer(within._starts, np.uint32)[behind].astype(np.int64)
        ends += np.frombuffer(within._lengths, np.uint16)[behind]
        starts: Ints = np.maximum(ends - lengths, 0)
        text, found = self._text, zip(names, starts.tolist(), strict=True)
        for number in [i for i, (name, start) in enumerate(found) if not text.startswith(name, start)]:
            starts[number] = len(self._text)
            self._text += names[number]
        return starts

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use; a shared text counts for the names that own it."""
        columns = sum(len(each) * each.itemsize for each in (self._starts, self._lengths))
        return columns + self._numbers.nbytes + (self.text_bytes if self._own else 0)

    @property
    def text_bytes(self) -> int:
        """Bytes of the text buffer, including other names that share it."""
        return len(self._text)

    def _keep_near(self, name: str, number: int | None) -> None:
        if len(self._near) >= _NEAR:
            self._near.clear()
        self._near[name] = number


def _pieces(lines: bytes) -> Iterator[bytes]:
    """Yield lines some at a time, because each becomes an object."""
    first = 0
    while first < len(lines):
        last = lines.find(b"\n", min(first + LOADED_BYTES, len(lines)) - 1) + 1 or len(lines)
        yield lines[first:last]
        first = last


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")

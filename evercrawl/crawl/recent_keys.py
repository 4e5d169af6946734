"""A bounded table of keys that are remembered for a while."""

from collections.abc import Hashable
from typing import Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)


class RecentKeys(Generic[_Key]):
    """Keys, such as sites, that were noted not long ago.

    Parameters
    ----------
    for_s, most
        How long a key is remembered after it was last noted, and how many are at most: those noted first are dropped.

    Examples
    --------
    >>> keys = RecentKeys[str](for_s=10.0, most=2)
    >>> keys.note("a", 0.0), keys.note("b", 1.0), keys.note("a", 2.0), keys.note("c", 3.0)
    (None, None, None, 'b')
    >>> keys.has("a", 11.0), keys.has("a", 12.0), keys.has("b", 4.0), bool(keys)
    (True, False, False, True)
    """

    def __init__(self, for_s: float, most: int) -> None:
        self._for_s, self._most = for_s, most
        self._until = dict[_Key, float]()

    def __bool__(self) -> bool:
        """Return whether any key was ever noted."""
        return bool(self._until)

    def note(self, key: _Key, now: float) -> _Key | None:
        """Remember a key from now on; return the key that is dropped for it, if any."""
        self._until.pop(key, None)
        self._until[key] = now + self._for_s
        if len(self._until) <= self._most:
            return None
        del self._until[first := next(iter(self._until))]
        return first

    def has(self, key: _Key, now: float) -> bool:
        """Return whether a key is remembered."""
        return now < self._until.get(key, 0.0)

"""Everything that can be seen of a simulation from outside, in order, and one number for all of it."""

from collections.abc import Callable
from hashlib import blake2b


class Log:
    """Lines, each with its instant; only their hash is kept.

    Parameters
    ----------
    watch
        Given each line.

    Examples
    --------
    >>> one, other = Log(), Log()
    >>> one.add(1.5, "asked", "http://a.example/")
    >>> one.hash == other.hash
    False
    >>> other.add(1.5, "asked", "http://a.example/")
    >>> one.hash == other.hash, one.lines
    (True, 1)
    """

    def __init__(self, watch: Callable[[str], None] | None = None) -> None:
        self._hash = blake2b(digest_size=8)
        self._watch = watch
        self.lines = 0

    def add(self, at: float, what: str, *about: object) -> None:
        """Take down what happened `at` an instant; of bytes their hash is enough for people."""
        words = [blake2b(one, digest_size=8).hexdigest() if isinstance(one, bytes) else str(one) for one in about]
        line = " ".join([f"{at:.6f}", what, *words])
        self._hash.update(line.encode("utf-8", "surrogatepass") + b"\n")
        self.lines += 1
        if self._watch is not None:
            self._watch(line)

    @property
    def hash(self) -> str:
        """Return the hash of all lines so far, in hexadecimal."""
        return self._hash.hexdigest()

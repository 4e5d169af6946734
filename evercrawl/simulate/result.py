"""The result of one world.

Also its log: everything observable from outside, in order, with one hash of all of it.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b


class WorldLog:
    """A log of timed lines, of which only the hash is kept.

    Parameters
    ----------
    watch
        Called with each line.

    Examples
    --------
    >>> one, other = WorldLog(), WorldLog()
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
        """Log an occurrence at the instant `at`; bytes are shown to people as a hash."""
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


@dataclass(slots=True)
class Result:
    """The result of one world.

    Attributes
    ----------
    seed, hash, lines
        The world, and its log.
    virtual_s, real_s
        Duration in virtual and in real time.
    lives, visits, requests
        Numbers of runs, visit events, and requests of any kind.
    revisited
        Pages that the last life was required to visit again.
    ends, faults
        Counts of lives by end, and of faults by kind.
    broken
        Violated invariants, as "law: how"; empty if there are none.
    """

    seed: int
    hash: str = ""
    lines: int = 0
    virtual_s: float = 0.0
    real_s: float = 0.0
    lives: int = 0
    visits: int = 0
    requests: int = 0
    revisited: int = 0
    ends: Counter[str] = field(default_factory=Counter[str])
    faults: Counter[str] = field(default_factory=Counter[str])
    broken: list[str] = field(default_factory=list[str])

    @property
    def speed(self) -> float:
        """Return the ratio of virtual to real time.

        Examples
        --------
        >>> Result(7, virtual_s=7200.0, real_s=2.0).speed
        3600.0
        """
        return self.virtual_s / max(self.real_s, 1e-9)

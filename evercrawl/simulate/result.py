"""What became of one world.

Everything that can be seen of a simulation from outside, in order, and one number for all of it.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b


class WorldLog:
    """Lines, each with its instant; only their hash is kept.

    Parameters
    ----------
    watch
        Given each line.

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


@dataclass(slots=True)
class Result:
    """What became of one world.

    Attributes
    ----------
    seed, hash, lines
        The world, and its log.
    virtual_s, real_s
        How long it lasted, and how long that took.
    lives, visits, requests
        Runs, events of visits, requests for anything.
    revisited
        Pages of which the last life was held to have visited them again.
    ends, faults
        How the lives ended; what befell them, by kind.
    broken
        What was promised and not kept, "law: how"; empty where all is well.
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
        """Return how many times faster than real time it was.

        Examples
        --------
        >>> Result(7, virtual_s=7200.0, real_s=2.0).speed
        3600.0
        """
        return self.virtual_s / max(self.real_s, 1e-9)

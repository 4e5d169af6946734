"""Two lanes for requests that share a fixed number of slots, so that slow hosts hold few of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from evercrawl.crawl.recent_keys import RecentKeys

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SLOW_S: Final = 3.0
"""The time after which a request counts as slow."""
REMEMBERED_S: Final = 3600.0
"""The time for which a site with a slow request keeps to the slow lane, however fast it answers meanwhile."""
MOST_SITES: Final = 1 << 12
"""The highest number of slow sites that are remembered."""
QUICK_LANE: Final = "quick lane"
SLOW_LANE: Final = "slow lane"
"""The obstacles named by `Lanes.obstacle` that are not groups."""

_Key = TypeVar("_Key", bound=Hashable)


class Lanes(Generic[_Key]):
    """The slots of one kind of request: a quick lane, and a slow one for requests and sites that turned out slow.

    Parameters
    ----------
    quick, slow
        The number of slots of each lane.
    of_group
        The highest number of requests of one group (a site, a network of addresses) in each lane.

    Examples
    --------
    >>> lanes = Lanes[str](quick=1, slow=1, of_group=1)
    >>> lanes.began("x", ("evil.example",), 0.0)
    >>> lanes.obstacle(("good.example",), 0.0), lanes.obstacle(("evil.example",), 0.0)
    ('quick lane', 'evil.example')
    >>> lanes.look(lambda _: 0.0, 4.0), lanes.obstacle(("good.example",), 4.0)
    ([], '')
    >>> lanes.obstacle(("evil.example",), 4.0), lanes.slow_site("evil.example", 4.0)
    ('evil.example', True)
    """

    def __init__(self, quick: int, slow: int, of_group: int) -> None:
        self._most, self._slow_most, self._of_group = quick, slow, of_group
        self._quick: dict[_Key, Sequence[str]] = {}
        self._slow: dict[_Key, Sequence[str]] = {}
        self._taken, self._taken_slow = Counter[str](), Counter[str]()  # slots of each lane by group
        self._slow_sites = RecentKeys[str](REMEMBERED_S, MOST_SITES)

    @property
    def quick(self) -> int:
        """The number of requests in the quick lane."""
        return len(self._quick)

    @property
    def crowded(self) -> bool:
        """Whether the quick lane has no free slot."""
        return len(self._quick) >= self._most

    @property
    def full(self) -> bool:
        """Whether no lane has a free slot."""
        return self.crowded and len(self._slow) >= self._slow_most

    def slow_site(self, site: str, now: float) -> bool:
        """Whether a site keeps to the slow lane."""
        return self._slow_sites.has(site, now)

    def obstacle(self, groups: Sequence[str], now: float, *, share: bool = True) -> str:
        """Return what keeps a request from beginning: a group that has its share, or a full lane; "" if nothing does.

        So if it is `QUICK_LANE`, the end of any request in that lane lets this one begin.

        Parameters
        ----------
        groups
            The groups of the request, its site first.
        now
            The time.
        share
            Whether the limit of each group applies.
        """
        if self.slow_site(groups[0], now):
            return self._lack(groups, share=share)
        served = next((group for group in groups if self._taken[group] >= self._of_group), "") if share else ""
        return served or (QUICK_LANE if self.crowded else "")

    def began(self, key: _Key, groups: Sequence[str], now: float) -> None:
        """Give a slot to a request."""
        slow = self.slow_site(groups[0], now)
        (self._slow if slow else self._quick)[key] = groups
        (self._taken_slow if slow else self._taken).update(groups)

    def ended(self, key: _Key) -> None:
        """Free the slot of a request; do nothing if it has none."""
        if (groups := self._quick.pop(key, None)) is not None:
            _subtract(self._taken, groups)
        elif (groups := self._slow.pop(key, None)) is not None:
            _subtract(self._taken_slow, groups)

    def look(self, began_at: Callable[[_Key], float], now: float) -> list[_Key]:
        """Move slow requests to the slow lane; return those for which it has no room, the oldest first.

        `began_at` returns the time at which the wait for the host of a request began; infinity before that.
        """
        late = [(at, key) for key in self._quick if (at := began_at(key)) <= now - SLOW_S]
        over = list[_Key]()
        for _, key in sorted(late, key=lambda one: one[0]):
            groups = self._quick[key]
            self._slow_sites.note(groups[0], now)
            if not self._lack(groups):
                self.ended(key)
                self._slow[key] = groups
                self._taken_slow.update(groups)
            else:
                over.append(key)
        return over

    def _lack(self, groups: Sequence[str], *, share: bool = True) -> str:
        """Return what keeps a request from the slow lane; "" if nothing does."""
        served = next((group for group in groups if self._taken_slow[group] >= self._of_group), "") if share else ""
        return served or (SLOW_LANE if len(self._slow) >= self._slow_most else "")


def _subtract(counts: Counter[str], groups: Sequence[str]) -> None:
    for group in groups:
        counts[group] -= 1
        if not counts[group]:
            del counts[group]

"""The captures of an import in the order of time; a first pass over all files keeps some 30 bytes per capture."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.crawl.importing.captures import LeftOut, Source, Spot, Unusable, told
from evercrawl.parse.urls import hostname

SHOWN: Final = 20
"""Number of bad records that are reported one by one."""
_PIECE: Final = 1 << 16  # numbers that are objects at a time
_TOLD: Final = 512  # records between two reports of progress


class CapturePlace(NamedTuple):
    """The position of a capture: the number of its source, and the parameters of `Source.load`."""

    source: int
    place: int
    length: int
    part: int


class Plan:
    """All captures of the sources, in the order of time.

    Parameters
    ----------
    sources
        The sources of the import.
    now
        The current time, in seconds since the epoch; a later capture counts as bad.
    wanted
        Returns whether a URL may be a seed of a new crawl; None if the crawl has seeds.

    Attributes
    ----------
    dated, urls
        Number of captures with a date, and of URLs without one.
    left_out
        Number of records of no use to a crawl, by reason.
    bad, troubles
        Number of records that cannot be read, and what is wrong with the first of them.
    roots
        Maps each host to its shortest URL, a seed of a new crawl.
    """

    def __init__(self, sources: Sequence[Source], now: float, wanted: Callable[[str], bool] | None = None) -> None:
        self._sources, self._now, self._wanted = sources, now, wanted
        self._at, self._body = array("d"), array("b")
        self._source, self._part = array("I"), array("I")
        self._place, self._length = array("Q"), array("Q")
        self.left_out, self.bad, self.troubles = Counter[str](), 0, list[str]()
        self.roots: dict[str, str] = {}
        self.urls = self.dated = 0

    def read(self, watch: Callable[[int, int], None], ends: Callable[[], bool]) -> bool:
        """Read all sources once; return False if `ends` stopped the reading early.

        Parameters
        ----------
        watch
            Called with the number of bytes read, and the total.
        ends
            Returns whether to stop.
        """
        total, before = sum(source.size_bytes for source in self._sources), 0
        for number, source in enumerate(self._sources):
            for count, found in enumerate(_scanned(source)):
                self._take(number, found)
                if count % _TOLD == 0:
                    watch(before + source.read_bytes, total)
                    if ends():
                        return False
            before += source.size_bytes
        watch(total, total)
        return True

    @property
    def first_at(self) -> float:
        """Instant of the first capture; nan if no capture has a date."""
        return float(np.nanmin(self._instants)) if self.dated else math.nan

    @property
    def last_at(self) -> float:
        """Instant of the last capture; nan if no capture has a date."""
        return float(np.nanmax(self._instants)) if self.dated else math.nan

    @property
    def _instants(self) -> NDArray[Any]:
        return np.frombuffer(self._at, np.float64)

    def __len__(self) -> int:
        return len(self._at)

    def places(self) -> Iterator[CapturePlace]:
        """Yield the positions of the captures in the order of time, and then those of URLs without a date.

        Within a second, captures with a body come first: an index states whole seconds, a file also fractions.
        """
        at, body = self._instants, np.frombuffer(self._body, np.int8) != 0
        order = np.argsort(np.where(body | np.isnan(at), at, np.floor(at) + 0.999_999), kind="stable")
        for first in range(0, len(order), _PIECE):
            for i in order[first : first + _PIECE].tolist():
                yield CapturePlace(self._source[i], self._place[i], self._length[i], self._part[i])

    def _take(self, number: int, found: Spot | Unusable | LeftOut) -> None:
        if isinstance(found, LeftOut):
            self.left_out[found.why] += 1
            return
        if isinstance(found, Unusable):
            self.blame(f"{found.where}: {found.why}")
            return
        if found.at > self._now:
            self.blame(f"{self._sources[number].name}: {found.url} is dated later than now")
            return
        if math.isnan(found.at):
            self.urls += 1
        else:
            self.dated += 1
        self._at.append(found.at)
        self._body.append(found.has_body)
        self._source.append(number)
        self._place.append(found.place)
        self._length.append(found.length)
        self._part.append(found.part)
        if self._wanted is not None:
            host = hostname(found.url)
            held = self.roots.get(host)
            if (held is None or (len(found.url), found.url) < (len(held), held)) and self._wanted(found.url):
                self.roots[host] = found.url

    def blame(self, trouble: str) -> None:
        """Count a record that cannot be imported."""
        self.bad += 1
        if len(self.troubles) < SHOWN:
            self.troubles.append(trouble)


def _scanned(source: Source) -> Iterator[Spot | Unusable | LeftOut]:
    """Yield the items of a source; whatever it raises ends this source alone."""
    try:
        yield from source.scan()
    except MemoryError:
        raise
    except Exception as error:
        yield Unusable(f"{source.name}, byte {source.read_bytes}", told(error))

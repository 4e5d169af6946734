"""URLs on which evercrawl's own code failed, the failures, and the URLs that are set aside for that.

Pages are foreign data, and code that reads them has faults. The first fault on a URL costs that one visit. The second
sets the URL aside, so that no page can end a crawl repeatedly. The list outlives the process; another version of
evercrawl starts with an empty list, because its code may be fixed.
"""

from __future__ import annotations

import contextlib
import traceback
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl import __version__
from evercrawl.decoding import json_of
from evercrawl.errors import EvercrawlError, NoRoomError
from evercrawl.small_file import LIST_BYTES, small

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evercrawl.store.disk.disk import Disk

__all__ = ["ENOUGH", "ERROR_LOG", "QUARANTINE_FILE", "Quarantine", "set_aside"]

QUARANTINE_FILE: Final = "quarantine.json"
ERROR_LOG: Final = "errors.log"
ENOUGH: Final = 2
"""Number of faults of one kind after which a URL is set aside."""
MOST_URLS: Final = 10_000
"""Maximum number of remembered URLs; beyond it, those that failed first are forgotten."""
MOST_LOG_BYTES: Final = 8 << 20
_TOLD_CHARS: Final = 200


class Faults(msgspec.Struct):
    """How many times judging an answer of a URL failed, applying one failed, and the last failure."""

    judging: int = 0
    applying: int = 0
    why: str = ""

    @property
    def aside(self) -> bool:
        """Return whether the URL is set aside."""
        return self.judging >= ENOUGH or self.applying >= ENOUGH


class _Kept(msgspec.Struct):
    version: str
    urls: dict[str, Faults]


class Quarantine:
    """The failures of each URL.

    Parameters
    ----------
    disk
        Where list and log are stored; if None, every fault is raised at once, as simulated worlds need it.
    tell
        Called with a sentence for people whenever a URL is set aside.

    Examples
    --------
    >>> Quarantine().judging("http://a.example/", ValueError("no"), 0.0)
    Traceback (most recent call last):
    ValueError: no
    """

    def __init__(self, disk: Disk | None = None, tell: Callable[[str], None] = lambda _: None) -> None:
        self._disk, self._tell = disk, tell
        self._urls = _read(disk) if disk is not None else {}

    def holds(self, url: str) -> bool:
        """Return whether a URL is set aside: it must not be requested, and its answer not be read."""
        return bool(self._urls) and url in self._urls and self._urls[url].aside

    def judging(self, url: str, error: Exception, now: float) -> str:
        """Record that judging an answer of `url` failed; return a sentence about it.

        Raises
        ------
        Exception
            `error` itself if there is no disk, or if a person, a disk or lack of memory is the cause.
        """
        return self._failed((url,), "judging", error, now)

    def unreadable(self, url: str, trace: str, now: float) -> None:
        """Record that reading a body failed, maybe in another process, with a traceback; raise as `judging` does."""
        self._failed((url,), "judging", AssertionError(trace.rstrip().rpartition("\n")[2]), now, trace)

    def applying(self, urls: Sequence[str], error: Exception, now: float) -> str:
        """Record that the lessons of these URLs' answers could not be applied; raise as `judging` does."""
        return self._failed(urls, "applying", error, now)

    def apart(self, urls: Sequence[str]) -> list[range]:
        """Return consecutive ranges of `urls` to be applied together; URLs that failed in a group stand alone.

        Examples
        --------
        >>> Quarantine().apart(["http://a.example/", "http://b.example/"])
        [range(0, 2)]
        """
        alone = [at for at, url in enumerate(urls) if self._urls and url in self._urls and self._urls[url].applying]
        ends = sorted({0, len(urls), *alone, *(at + 1 for at in alone)})
        return [range(begin, end) for begin, end in pairwise(ends)]

    def applied(self, urls: Sequence[str]) -> None:
        """Record that these were applied; a URL that failed in a group and now succeeded alone is cleared."""
        if self._urls and len(urls) == 1 and (faults := self._urls.get(urls[0])) is not None and faults.applying:
            faults.applying = 0
            if not faults.judging:
                del self._urls[urls[0]]
            self._write()

    def _failed(self, urls: Sequence[str], step: str, error: Exception, now: float, trace: str = "") -> str:
        if self._disk is None or isinstance(error, EvercrawlError | MemoryError):
            raise error
        why = f"{type(error).__name__}: {error}"[:_TOLD_CHARS]
        self._log(urls, step, trace or "".join(traceback.format_exception(error)), now)
        for url in urls:
            faults = self._urls.pop(url, None) or Faults()
            before, faults.why = faults.aside, why
            setattr(faults, step, getattr(faults, step) + 1)
            self._urls[url] = faults
            if faults.aside and not before:
                self._tell(f"set aside: {url}, on which evercrawl failed {ENOUGH} times ({why}); see {ERROR_LOG}")
        for url in list(self._urls)[: max(len(self._urls) - MOST_URLS, 0)]:
            del self._urls[url]
        self._write()
        return f"evercrawl failed on it ({why}); see {ERROR_LOG}"

    def _write(self) -> None:
        assert self._disk is not None
        with contextlib.suppress(NoRoomError):  # the list still holds in this process
            self._disk.replace(QUARANTINE_FILE, [msgspec.json.encode(_Kept(__version__, self._urls))])

    def _log(self, urls: Sequence[str], step: str, trace: str, now: float) -> None:
        assert self._disk is not None
        at = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
        said = {"at": at, "step": step, "urls": list(urls), "traceback": trace}
        line = msgspec.json.encode(said) + b"\n"
        with contextlib.suppress(NoRoomError):
            if self._disk.size(ERROR_LOG) + len(line) > MOST_LOG_BYTES:
                self._disk.replace(ERROR_LOG, [])
            self._disk.append(ERROR_LOG, line)


def set_aside(disk: Disk) -> dict[str, str]:
    """Return the URLs of a crawl directory that are set aside, with reasons."""
    return {url: faults.why for url, faults in _read(disk).items() if faults.aside}


def _read(disk: Disk) -> dict[str, Faults]:
    """Return the stored list; {} if it is missing, damaged, or of another version."""
    try:
        kept = json_of(small(disk, QUARANTINE_FILE, LIST_BYTES), _Kept)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}
    return kept.urls if kept.version == __version__ else {}

"""Notices that a page in the browser only waits for requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

__all__ = ["STILL_S", "Standstill"]

STILL_S: Final = 5.0
"""The time after which a page that only waits for requests is read, if pages of other sites wait for its place."""
_LOOK_S: Final = 1.0


class Standstill:
    """How long no request of a page has ended, and its document has not changed.

    Parameters
    ----------
    shape
        Returns a value that changes with the document; None if the page does not answer.
    """

    def __init__(self, shape: Callable[[], Awaitable[object]]) -> None:
        self._shape = shape
        self._ended = 0
        self._still_s = self._look_s = 0.0
        self._seen: object = None

    def forget(self) -> None:
        """Count from the next call of `lasts`."""
        self._still_s = self._look_s = 0.0
        self._seen = None

    async def lasts(self, passed_s: float, ended: int) -> bool:
        """Whether it has lasted for `STILL_S`.

        Parameters
        ----------
        passed_s
            The time since the last call.
        ended
            The number of requests that have ended so far.
        """
        self._still_s, self._look_s = self._still_s + passed_s, self._look_s - passed_s
        if ended != self._ended:
            self._ended = ended
            self._still_s = 0.0
        if self._look_s <= 0.0:
            self._look_s = _LOOK_S
            shape = await self._shape()
            if shape is not None and shape != self._seen:
                self._seen, self._still_s = shape, 0.0
        return self._still_s >= STILL_S

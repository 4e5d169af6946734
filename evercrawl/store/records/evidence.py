"""Compact encodings of what a visit taught; they are stored with every visit of a known page, so size matters.

Probabilities are stored in ten-thousandths, a finer step than counting can distinguish. Both numbers about a site's
announcements are rounded to steps of 9 %, without bias in sums.
"""

from __future__ import annotations

import math
from struct import Struct
from typing import Final, NamedTuple

_RATE: Final = Struct("<ff")
_PARTS: Final = 10_000
_FINE: Final = 8  # steps for a doubling
_LEAST: Final = 1e-4  # start of the first eight steps
_MOST: Final = (1 << 8) - 1
_LEVEL_STEPS: Final = 64  # for a doubling of a level
_LEAST_LEVEL: Final = 1e-9
_MOST_LEVEL: Final = 700.0


class RateEvidence(NamedTuple):
    """Evidence of the visits so far on a page's rate of change: what they add to shape and scale of the prior.

    Examples
    --------
    >>> RateEvidence.unpack(RateEvidence(1.5, 86_400.0).pack())
    RateEvidence(shape=1.5, scale_s=86400.0)
    """

    shape: float
    scale_s: float

    def pack(self) -> bytes:
        """Return 8 bytes."""
        return _RATE.pack(*self)

    @classmethod
    def unpack(cls, data: bytes) -> RateEvidence:
        """Return what `pack` packed, rounded to f32."""
        return cls(*_RATE.unpack(data))


class PredictedFresh(NamedTuple):
    """The predicted probability that a copy was fresh before a visit, and whether it was."""

    probability: float
    fresh: bool

    @classmethod
    def unpack(cls, number: int) -> PredictedFresh:
        """Return what `pack_predicted` packed; `number` must not be 0.

        Examples
        --------
        >>> PredictedFresh.unpack(5002)
        PredictedFresh(probability=0.25, fresh=True)
        """
        return cls(((number - 1) >> 1) / _PARTS, bool((number - 1) & 1))


def pack_predicted(probability: float, fresh: bool | None) -> int:
    """Return both as one number of three bytes; 0 if either is unknown (nan, None).

    Examples
    --------
    >>> pack_predicted(0.25, True), pack_predicted(math.nan, True), pack_predicted(0.5, None)
    (5002, 0, 0)
    """
    if fresh is None or math.isnan(probability):
        return 0
    return 1 + 2 * round(_PARTS * min(max(probability, 0.0), 1.0)) + fresh


def pack_survival(probability: float) -> int:
    """Return a probability as a number of two bytes: the logarithm of -ln of it, in steps of 1 %.

    So probabilities near 1 are resolved as well as others. The result is never 0.

    Examples
    --------
    >>> [round(unpack_survival(pack_survival(each)), 7) for each in (1.0, 0.99999, 0.5)]
    [1.0, 0.99999, 0.4984583]
    """
    level = -math.log(max(probability, math.exp(-_MOST_LEVEL)))
    return 1 if level <= _LEAST_LEVEL else 2 + round(_LEVEL_STEPS * math.log2(level / _LEAST_LEVEL))


def unpack_survival(number: int) -> float:
    """Return what `pack_survival` packed, to the nearest step; `number` must not be 0."""
    return 1.0 if number == 1 else math.exp(-_LEAST_LEVEL * math.exp2((number - 2) / _LEVEL_STEPS))


class AnnouncementEvidence(NamedTuple):
    """Evidence of a visit on how much its site announces.

    Attributes
    ----------
    listened, looked
        Numbers of expected and of detectable changes, as defined in `change.announcements`.

    Examples
    --------
    >>> AnnouncementEvidence(0.0, 0.0).pack(), AnnouncementEvidence(0.25, 1.0).pack()
    (1, 23147)
    >>> [round(each, 2) for each in AnnouncementEvidence.unpack(23147)]
    [0.24, 0.97]
    """

    listened: float
    looked: float

    def pack(self) -> int:
        """Return both as one number of two bytes; 0 is reserved for visits without such evidence."""
        return 1 + (_MOST + 1) * _steps(self.listened) + _steps(self.looked)

    @classmethod
    def unpack(cls, number: int) -> AnnouncementEvidence:
        """Return what `pack` packed, to the nearest step; `number` must not be 0."""
        one, other = divmod(number - 1, _MOST + 1)
        return cls(_amount(one), _amount(other))


def _steps(number: float) -> int:
    return min(round(_FINE * math.log2(1.0 + max(number, 0.0) / _LEAST)), _MOST)


def _amount(steps: int) -> float:
    return _LEAST * (math.exp2(steps / _FINE) - 1.0)

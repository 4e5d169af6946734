"""Lasting and flickering words of pages with archived texts."""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from evercrawl.change.extent import replaced
from evercrawl.change.longevity import Lifetimes, divergence, flip_flops, lasting
from evercrawl.lab.histories.evolution.lives import DAY_S, WEEK_S
from evercrawl.lab.histories.evolution.survival import survival
from evercrawl.lab.histories.versions import Version
from evercrawl.types import Floats

AGES_S: Final = np.array([DAY_S, WEEK_S])
"""Ages of the copies that are compared with the page."""


class Texts(NamedTuple):
    """Statistics of the versions of one page.

    Attributes
    ----------
    changes, returned
        Number of changed versions, and of those that equal an earlier version run for run.
    new
        Share of the page that was new in each of these, shape (changes,).
    followed, stayed
        Of the changed versions with a successor: the share that was new, and the share that was new and still present
        in the successor; shape (changes - 1,) each.
    appeared, came_back
        Number of runs of words in later versions that were new, and that had existed before.
    ended_s, going_on_s
        Lifetimes of runs that appeared: of those that vanished, and of those still present at the last visit.
    apart, told_s
        Share of the page that differs from a copy of each of `AGES_S`, averaged over time, and the length of that time;
        shape (2,) each. Both are 0 if the page was not observed that long.
    """

    changes: int
    returned: int
    new: Floats
    followed: Floats
    stayed: Floats
    appeared: int
    came_back: int
    ended_s: Floats
    going_on_s: Floats
    apart: Floats
    told_s: Floats


class Staying(NamedTuple):
    """Lasting of the words of some pages; nan if unknown.

    Attributes
    ----------
    texts, text_changes
        Number of pages with two or more archived versions, and of changes between these.
    text_new
        Mean share of a page that a change made new.
    new_stayed
        Share of the new words that were still present in the next version, and thus worth fetching.
    flicker
        Share of the runs of words added by changes that had existed before and vanished.
    flip_flops
        Share of the changes that brought a page back to an earlier version.
    there_after_day, there_after_week
        Share of the new runs that are present a day, and a week later (Kaplan-Meier).
    text_half_gone_days
        Time after which half of them are gone; infinity if more than half are present when the record ends.
    other_after_day, other_after_week
        Share of such a page that differs from a copy that is a day, and a week old, averaged over pages and time. If
        changes flicker, the two are equal, and earlier visits gain nothing; if changes last, the second is larger.
    """

    texts: int
    text_changes: int
    text_new: float
    new_stayed: float
    flicker: float
    flip_flops: float
    there_after_day: float
    there_after_week: float
    text_half_gone_days: float
    other_after_day: float
    other_after_week: float


def texts(versions: Sequence[Version]) -> Texts:
    """Return the statistics of a page's versions, in order; the last entry repeats the last version at its last visit.

    Examples
    --------
    One of two runs changes, and changes back:

    >>> from evercrawl.lab.histories.versions import Version
    >>> runs = [(0.0, [1, 2]), (5.0, [1, 3]), (9.0, [1, 2])]
    >>> versions = [Version(at, np.array(each, np.uint64)) for at, each in runs]
    >>> found = texts([*versions, versions[-1]._replace(at=20.0)])
    >>> found.changes, found.returned, found.new, found.stayed, found.came_back, found.ended_s
    (2, 1, array([0.5, 0.5]), array([0.]), 1, array([4.]))
    """
    lives, runs = Lifetimes(), [version.runs for version in versions]
    for version in versions:
        lives.learn(version.at, version.runs)
    apart, told_s = _apart(versions)
    runs = runs[:-1]
    new = np.array([replaced(*runs[i : i + 2]) for i in range(len(runs) - 1)])
    stayed = np.array([lasting(*runs[i : i + 3]) for i in range(len(runs) - 2)])
    ended_s, going_on_s = lives.spans_s()
    spans = (ended_s, going_on_s, apart, told_s)
    return Texts(len(new), flip_flops(runs), new, new[:-1], stayed, lives.appeared, lives.returned, *spans)


def _apart(versions: Sequence[Version]) -> tuple[Floats, Floats]:
    """Return the share of a page that differs from copies of `AGES_S`, and the time over which that is averaged."""
    at = np.array([version.at for version in versions])
    told_s = np.maximum(at[-1] - at[0] - AGES_S, 0.0)
    long = told_s > 0
    found = np.zeros(len(AGES_S))
    found[long] = divergence(at, [version.runs for version in versions], AGES_S[long])
    return found, told_s


def staying(pages: Sequence[Texts]) -> Staying:
    """Return the lasting of the words of pages, with equal weight for each change and each run of words.

    References
    ----------
    Olston, Pandey (2008). Recrawl scheduling based on information longevity, section 2: content that lasts and content
    that churns.
    """
    changes = sum(page.changes for page in pages)
    if not changes:
        return Staying(0, 0, *(math.nan,) * 9)
    new, followed, stayed, ended_s, going_on_s = (
        np.concatenate([getattr(page, name) for page in pages])
        for name in ("new", "followed", "stayed", "ended_s", "going_on_s")
    )
    came_back = sum(page.came_back for page in pages)
    came = came_back + sum(page.appeared for page in pages)
    left_s = np.concatenate([ended_s, going_on_s])
    curve = survival(np.zeros(len(left_s)), left_s, np.arange(len(left_s)) < len(ended_s))
    return Staying(
        len(pages), changes, float(new.mean()), _ratio(stayed.sum(), followed.sum()), _ratio(came_back, came),
        sum(page.returned for page in pages) / changes, curve.at(DAY_S), curve.at(WEEK_S), curve.median_s() / DAY_S,
        *_other(pages),
    )  # fmt: skip


def _other(pages: Sequence[Texts]) -> list[float]:
    """Return the share that differs from a copy of each age, averaged over pages by the time observed."""
    told_s = np.array([page.told_s for page in pages])
    other = (np.array([page.apart for page in pages]) * told_s).sum(0)
    return [_ratio(one, of) for one, of in zip(other.tolist(), told_s.sum(0).tolist(), strict=True)]


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else math.nan

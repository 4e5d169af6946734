"""Lasting and flickering words of pages whose texts are available."""

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
"""Of the copies of which it is told how much of the page is another."""


class Texts(NamedTuple):
    """What the versions of one page show.

    Attributes
    ----------
    changes, returned
        Versions that came after another; those of them that were, run for run, one before.
    new
        Parts of the page that were new with each of these, shape (changes,).
    followed, stayed
        Of those that another version came after: the part that was new, and how much of the page was new and still
        there in that next version; shape (changes - 1,) each.
    appeared, came_back
        Runs of words that came with later versions and were never there before, and those that were.
    ended_s, going_on_s
        How long runs that appeared were there: those that went, and those that were there at the last look.
    apart, told_s
        How much of the page is other than in a copy of each of `AGES_S`, as a mean over time, and over how long a time;
        shape (2,) each. 0 and 0 where the page was not seen for so long.
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
        Pages of which two versions or more are at hand, and how often one of these became another.
    text_new
        Which part of a page a change made new: the mean.
    new_stayed
        How much of what was new was still there in the version after: what a change brought that was worth fetching.
    flicker
        Of the runs of words that came with a change, the share that had been there before, and gone.
    flip_flops
        Share of the changes that brought a page back to a version before.
    there_after_day, there_after_week
        Which share of the runs that appeared is there a day, a week later, by Kaplan and Meier's rule.
    text_half_gone_days
        After which half of them are gone; infinity where more than half are still there when the record ends.
    other_after_day, other_after_week
        How much of such a page is other than in a copy of a day, of a week: the mean over pages and moments. Where what
        changes flickers the two are alike, and sooner visits gain nothing; where it stays the second is the larger.
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
    """Return what versions of a page show, in their order; the last is the one before it, as it was seen last.

    Examples
    --------
    One of two runs becomes another, and back:

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
    """Return how much of a page is other than in copies of `AGES_S`, and over how long a time that is a mean."""
    at = np.array([version.at for version in versions])
    told_s = np.maximum(at[-1] - at[0] - AGES_S, 0.0)
    long = told_s > 0
    found = np.zeros(len(AGES_S))
    found[long] = divergence(at, [version.runs for version in versions], AGES_S[long])
    return found, told_s


def staying(pages: Sequence[Texts]) -> Staying:
    """Return what stays of the words of some pages, every change, and every run of words, counting alike.

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
    """Return how much is other than in a copy of each age, each page counting for as long as it was seen."""
    told_s = np.array([page.told_s for page in pages])
    other = (np.array([page.apart for page in pages]) * told_s).sum(0)
    return [_ratio(one, of) for one, of in zip(other.tolist(), told_s.sum(0).tolist(), strict=True)]


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else math.nan

"""The report of the demonstration: what was learned, the truth, and the freshness of the copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evercrawl.cli.show.plain import many

if TYPE_CHECKING:
    from evercrawl.simulate.living.comparison import PolicyComparison
    from evercrawl.simulate.living.learned import Learned


def told(found: Learned, comparisons: Sequence[PolicyComparison], real: int) -> list[str]:
    """Return the report as lines of text; `real` is the seed of the world that ran in real time."""
    return [*_importance(found), "", *_rates(found), "", *_freshness(comparisons, real)]


def _importance(found: Learned) -> list[str]:
    lines = [
        "Most important pages (importance in thousandths of the total):",
        "",
        f"  {'learned':>8} {'true':>8}   page",
    ]
    lines += [f"  {1000 * guess:8.2f} {1000 * true:8.2f}   {url}" for url, guess, true in found.top]
    return [*lines, "", f"  Mean error over all fetched pages: {found.error:.1%}."]


def _rates(found: Learned) -> list[str]:
    if not found.rates:
        return ["How often pages change: not known, because too few pages were visited three times."]
    lines = ["How often pages change (medians of six classes of pages, fastest first):", ""]
    lines += [f"  {'pages':>8}   {'learned':<22} true"]
    lines += [f"  {count:8}   {_every(guess):<22} {_every(true)}" for count, guess, true in found.rates]
    return [*lines, "", f"  Rank correlation of learned and true rates, page by page: {found.correlation:.2f}."]


def _every(seconds: float) -> str:
    """Return a time between changes as text.

    Examples
    --------
    >>> _every(0.25), _every(90.0), _every(4000.0)
    ('once in 0.25 s', 'once in 1.5 min', 'once in 1.1 h')
    """
    if seconds < 60:
        return f"once in {seconds:.2g} s"
    return f"once in {seconds / 60:.2g} min" if seconds < 3600 else f"once in {seconds / 3600:.2g} h"


def _freshness(comparisons: Sequence[PolicyComparison], real: int) -> list[str]:
    lines = [
        "Freshness of the copies: share that is current, weighted by importance, in the last third of the time:",
        "",
    ]
    lines += [
        f"  {'world':>8} {'fetches/s':>10} {'evercrawl':>10} {'round-robin':>12} {'optimum':>9}   against round-robin"
    ]
    lines += [_world(one, " (in real time)" if one.seed == real else "") for one in comparisons]
    gains, parts = [one.gain for one in comparisons], [one.of_optimum for one in comparisons]
    won = sum(gain > 1 for gain in gains)
    mean, worst, part = sum(gains) / len(gains), min(gains), sum(parts) / len(parts)
    return [
        *lines,
        "",
        f"  evercrawl was fresher in {won} of {many(len(gains), 'worlds')}: {mean:.2f} times as fresh as round-robin "
        f"with the same",
        f"  number of fetches ({worst:.2f} times at worst), and {part:.0%} of the optimum, which knows all rates",
        "  and all importance. Round-robin crawled a web without the endless calendars; evercrawl spent at most",
        f"  {max(one.calendar for one in comparisons):.2%} of its fetches on the calendars.",
    ]


def _world(one: PolicyComparison, note: str) -> str:
    return (
        f"  {one.seed:8} {one.fetches_per_s:10.0f} {one.price:10.3f} {one.round_robin:12.3f} {one.optimum:9.3f}   "
        f"{'won' if one.gain > 1 else 'LOST'}, {one.gain:.2f}x{note}"
    )


def as_json(found: Learned, comparisons: Sequence[PolicyComparison]) -> dict[str, Any]:
    """Return the report as an object for JSON."""
    nan = found.correlation != found.correlation
    return {
        "top": [{"url": url, "importance": guess, "true_importance": true} for url, guess, true in found.top],
        "importance_error": found.error,
        "rates": [
            {"pages": count, "every_s": guess, "true_every_s": true} for count, guess, true in found.rates
        ],
        "rate_correlation": None if nan else found.correlation,
        "worlds": [
            {
                "seed": one.seed, "fetches_per_s": one.fetches_per_s, "freshness": one.price,
                "round_robin": one.round_robin, "optimum": one.optimum, "gain": one.gain,
                "calendar_share": one.calendar,
            }
            for one in comparisons
        ],
        "won": all(one.gain > 1 for one in comparisons),
    }  # fmt: skip

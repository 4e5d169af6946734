"""Freshness targets: how far they are met, and the rate that would meet them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercrawl.cli.show.lines import size
from evercrawl.cli.show.plain import many
from evercrawl.cli.show.words import percent, span, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evercrawl.ask.targets import TargetFreshness, TargetRate

_DAY_S = 86_400.0
_LEAST = 0.005  # shares of copies; a smaller difference is none


def target_rows(targets: Sequence[TargetFreshness]) -> list[tuple[str, str]]:
    """Return rows of a name and a text, one per target, with a warning if it is not met."""
    return [("target" if not i else "", _line(target)) for i, target in enumerate(targets)]


def target_lines(found: TargetRate) -> list[str]:
    """Return the lines about the rate that each target needs, and about the rate that meets all."""
    head = ("target", "wanted", "fresh now", "copies", "fresh in the long run", "visits per day")
    rows: list[tuple[str, ...]] = [
        (
            target.pattern, _wish(target), "" if target.fresh is None else percent(target.fresh),
            f"{target.copies:,}", "" if target.fresh_then is None else percent(target.fresh_then),
            "" if target.visits_per_s is None else f"{target.visits_per_s * _DAY_S:,.0f}",
        )
        for target in found.targets
    ]  # fmt: skip
    lines = [*table(head, rows), "", _rate(found)]
    lines += [
        f"no rate meets {target.pattern}: delay_s and refresh_after_s limit the visits of a page, and "
        f"allow {percent(target.fresh_then)}"
        for target in found.targets
        if target.feasible is False and target.fresh_then is not None
    ]
    return lines


def _rate(found: TargetRate) -> str:
    a_day = f"{found.visits_per_s * _DAY_S:,.0f} visits a day"
    if found.unit == "bytes":
        a_day += f" ({size(found.budget_per_s * _DAY_S)})"
    far = " as far as any rate can" if any(target.feasible is False for target in found.targets) else ""
    text = f"{a_day} meet the targets{far} and keep other pages as fresh as the crawl does now"
    if found.limit_per_s is None:
        return f"{text}; crawl.toml sets no limit"
    limit, name = found.limit_per_s * _DAY_S, "rate_bytes_per_s" if found.unit == "bytes" else "rate_per_s"
    allowed = size(limit) if found.unit == "bytes" else f"{limit:,.0f}"
    enough = "which is enough" if found.limit_per_s >= found.budget_per_s else "which is not enough"
    return f"{text}; {name} in crawl.toml allows {allowed} a day, {enough}"


def _wish(target: TargetFreshness) -> str:
    return percent(target.wanted) + (f" within {span(target.within_s)}" if target.within_s else "")


def _line(target: TargetFreshness) -> str:
    name = f"{target.pattern}: {_wish(target)} wanted"
    if target.fresh is None:
        return f"{name}; no stored copy matches"
    text = f"{name}, {percent(target.fresh)} of {many(target.copies, 'copies')} fresh now"
    if target.met:
        return f"{text}: met"
    if target.feasible is None:
        return f"{text}: NOT MET; the policy ignores targets, or has not yet learned the worth of visits"
    if target.feasible:
        return f"{text}: not met yet; the budget allows it"
    some = target.fresh_then is not None and target.fresh_then >= _LEAST
    then = f" for more than {percent(target.fresh_then)}" if some else ""
    return f"{text}: NOT MET; the budget does not allow it{then}; see: evercrawl plan --target"

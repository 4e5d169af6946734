"""The tables of `evercrawl lab evolution`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from evercrawl.cli.show.plain import many
from evercrawl.cli.show.words import percent, span, table

if TYPE_CHECKING:
    from evercrawl.lab.histories.evolution.report import Evolution

MOST: Final = 20
"""Maximum number of groups in a table."""
_DAY_S: Final = 86_400.0
_OFTEN: Final = (
    "pages", "alive", "changes", "period", "per page and day", "daily", "weekly", "monthly", "4 months", "slower",
    "never",
)  # fmt: skip
_MUCH: Final = ("bits changed", "new words", "words kept", "up to 3 bits", "reverted")
_LONG: Final = ("born per year", "gone per year", "alive after a year", "half-life")
_LINKS: Final = ("links", "new per page and week", "new per week", "gone per week", "half-life")
_STAYING: Final = (
    "pages", "changes", "new text", "there next time", "comes back", "flip-flops", "left after a day", "a week",
    "half-life", "copy a day old", "a week",
)  # fmt: skip
_ASPECTS: Final = (
    "pages", "changes", "content", "structure", "presentation", "presentation only", "topic at first", "at last",
    "drifted",
)  # fmt: skip
_AS_BY_CHANCE: Final = (
    "regularity; changes at random moments would give: gaps vary 1, not exponential 5 %, next week x 1"
)
_CHANCE: Final = ("tested", "gaps vary", "not exponential", "next week", "in batches", "busiest tenth", "halves alike")
_ERRORS: Final = 2.0  # standard errors up to which a correlation counts as chance
_NEAR: Final = ("correlation in a site", "pairs", "in a folder", "pairs")


def tables(found: Sequence[Evolution], by: str) -> list[str]:
    """Return the tables about each group (the largest ones if there are many), and about all pages."""
    shown = _shown(found)
    linked = [each for each in shown if each.links.links or each.links.lost_link_share_a_week > 0]
    texts = [each for each in shown if each.staying.texts]
    apart = [each for each in shown if each.aspects.aspect_pages]
    near = [each for each in shown if not math.isnan(each.near.near_days)]
    fewer: dict[tuple[str, ...], list[Evolution]] = {_LINKS: linked, _STAYING: texts, _ASPECTS: apart, _NEAR: near}
    parts: list[tuple[str, tuple[str, ...], Callable[[Evolution], tuple[str, ...]]]] = [
        (f"how often pages change ({_estimators(found)}), and shares of pages by mean interval", _OFTEN, _often),
        ("how much a change replaces: bits of the 64-bit simhash, and words", _MUCH, _much),
        ("how long pages live", _LONG, _long),
        ("which text stays and which flickers, and how much of a page differs from an old copy", _STAYING, _staying),
        ("which aspect changes, and how similar pages are to the first versions of their folder", _ASPECTS, _aspects),
        ("links", _LINKS, _links),
        (_AS_BY_CHANCE, _CHANCE, _chance),
        (_together(found), _NEAR, _near),
    ]  # fmt: skip
    lines: list[str] = []
    for title, head, cells in parts:
        rows = fewer.get(head, shown)
        lines += ["", title, *_table(by, head, rows, cells)] if rows else []
    left_out = len(found) - len(shown)
    more = [f"and {many(left_out, 'smaller groups')}, which --json lists"] if left_out else []
    return [*lines[1:], *more]


def _shown(found: Sequence[Evolution]) -> list[Evolution]:
    """Return the largest groups in their order, and the last one, which is that of all pages."""
    if len(found) <= MOST + 1:
        return list(found)
    large = sorted(found[:-1], key=lambda each: -each.pages)[:MOST]
    names = {each.group for each in large}
    return [each for each in found[:-1] if each.group in names] + [found[-1]]


def _table(
    by: str, head: tuple[str, ...], rows: list[Evolution], cells: Callable[[Evolution], tuple[str, ...]]
) -> list[str]:
    return table((by, *head), [(each.group, *cells(each)) for each in rows], frozenset({by}))


def _estimators(found: Sequence[Evolution]) -> str:
    return found[-1].often.estimator


def _often(of: Evolution) -> tuple[str, ...]:
    rate = _number(of.often.rate_per_day)
    counts = (f"{of.pages:,}", f"{of.alive:,}", f"{of.changes:,}", span(of.days * _DAY_S), rate)
    return (*counts, *(_share(share) for share in of.often.classes))


def _much(of: Evolution) -> tuple[str, ...]:
    much = of.much
    return (_number(much.bits), *(_share(share) for share in (much.new, much.words_kept, much.slight, much.returned)))


def _long(of: Evolution) -> tuple[str, ...]:
    lasting = of.lasting
    shares = (lasting.born_a_year, lasting.died_a_year, lasting.alive_after_year)
    return (*(_share(share) for share in shares), _days(lasting.half_gone_days))


def _staying(of: Evolution) -> tuple[str, ...]:
    stays = of.staying
    changes = (stays.text_new, stays.new_stayed, stays.flicker, stays.flip_flops)
    shares = (_share(share) for share in (*changes, stays.there_after_day, stays.there_after_week))
    other = (_share(stays.other_after_day), _share(stays.other_after_week))
    return (f"{stays.texts:,}", f"{stays.text_changes:,}", *shares, _days(stays.text_half_gone_days), *other)


def _aspects(of: Evolution) -> tuple[str, ...]:
    apart = of.aspects
    shares = (apart.content_changed, apart.structure_changed, apart.presentation_changed, apart.presentation_alone)
    topic = (_number(apart.topic_first), _number(apart.topic_last), _share(apart.drifted))
    return (f"{apart.aspect_pages:,}", f"{apart.aspect_changes:,}", *(_share(share) for share in shares), *topic)


def _links(of: Evolution) -> tuple[str, ...]:
    links = of.links
    shares = (_share(links.new_link_share_a_week), _share(links.lost_link_share_a_week))
    return (f"{links.links:,}", _number(links.new_links_a_week), *shares, _days(links.link_half_life_days))


def _chance(of: Evolution) -> tuple[str, ...]:
    regular, together = of.regular, of.together
    lift = _times(together.weekly_lift)
    tested = (f"{regular.tested:,}", _number(regular.gap_variation), _share(regular.rejected))
    return (*tested, lift, _share(together.in_batches), _share(together.busiest_tenth), _number(together.halves))


def _together(found: Sequence[Evolution]) -> str:
    within = _days(found[-1].near.near_days)
    return (
        f"together: correlation of changes within {within} (0: independent), and pairs that change, relative to chance"
    )


def _near(of: Evolution) -> tuple[str, ...]:
    near = of.near
    of_sites = (_number(near.site_correlation), _pairs(near.site_lift, near.site_errors))
    return (*of_sites, _number(near.folder_correlation), _pairs(near.folder_lift, near.folder_errors))


def _pairs(lift: float, errors: float) -> str:
    """Return the correlation of neighbours' changes, or "by chance" if it is not significant."""
    return "by chance" if abs(errors) < _ERRORS else _times(lift)


def _times(lift: float) -> str:
    return "-" if math.isnan(lift) else f"x {lift:.2f}"


def _share(share: float) -> str:
    return percent(None if math.isnan(share) else share)


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3g}"


def _days(days: float) -> str:
    """Return a time in days as text, in a suitable unit."""
    return "-" if math.isnan(days) else span(days * _DAY_S) if math.isfinite(days) else "not seen"

"""What we promise of rows of a comparison, beside what was found."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from evercrawl.lab.base import Claim
from evercrawl.lab.contest import PAGES, TURNS, mean
from evercrawl.lab.printed_ratios import WITHIN

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from evercrawl.lab.base import Options, Row

_WORST: Final = {0.01: 0.902, 0.03: 0.936, 0.1: 0.967, 0.3: 0.983, 1.0: 0.994}
"""By budget, the worst of all runs of the learned index, as printed."""


def whole(options: Options) -> bool:
    """Return whether a comparison is as large as those of which we promise anything: 10,000 pages, 15 cycles.

    >>> from evercrawl.lab.base import Options
    >>> whole(Options()), whole(Options(pages=300))
    (True, False)
    """
    return (options.pages or PAGES) >= PAGES and (options.turns or TURNS) >= TURNS


def promise(rows: list[Row], label: str, least: Mapping[tuple[float, float], float], *, promised: bool) -> list[Claim]:
    """Return what we promise of a row, by correlation and budget, beside what was found; each figure has to do.

    There is no claim where it was run at none of these places.
    """
    found = {place: mean(rows, policy=label, correlation=place[0], budget=place[1]) for place in least}
    places = [place for place in least if not math.isnan(found[place])]
    if not places:
        return []
    said = ", ".join(f"{c:g}/{100 * b:g} %: {least[c, b]:g}" for c, b in places)
    told = ", ".join(f"{found[place]:.3f}" for place in places)
    holds = all(found[place] >= least[place] for place in places)
    return [Claim(f"{label}: what we promise at least (correlation/budget)", f"(ours) {said}", told, holds, promised)]


def abandons_none(rows: list[Row], labels: Collection[str], *, promised: bool) -> list[Claim]:
    """Return that no page is abandoned in any run of these rows; no claim where none of them was run.

    Examples
    --------
    >>> rows = [{"policy": "price", "abandoned": 0}, {"policy": "price, all dated", "abandoned": 2}]
    >>> (found,) = abandons_none(rows, ["price", "price, all dated"], promised=True)
    >>> found.holds, found.found
    (False, 'at most 2 pages that have no visit to come (price, all dated)')
    """
    run = [row for row in rows if row["policy"] in labels]
    if not run:
        return []
    worst = max(run, key=lambda row: int(row["abandoned"]))
    most = int(worst["abandoned"])
    told = f"at most {most} pages that have no visit to come" + (f" ({worst['policy']})" if most else "")
    return [Claim("price abandons no page, in any row", "(ours) 0", told, most == 0, promised)]


def worst(rows: list[Row]) -> list[Claim]:
    """Return the worst single run of the learned index, by budget; no claim where it was not run."""
    places, said, told, holds = _WORST, list[str](), list[str](), True
    for budget, printed in places.items():
        run = [float(row["ratio"]) for row in rows if (row["policy"], row["budget"]) == ("price_gamma", budget)]
        if run:
            said.append(f"{printed:.3f}")
            told.append(f"{min(run):.3f}")
            holds = holds and min(run) >= printed - WITHIN
    name = f"price_gamma: the worst single run, less {WITHIN:g}"
    return [Claim(name, ", ".join(said), ", ".join(told), holds)] if told else []

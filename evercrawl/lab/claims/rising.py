"""The gain in freshness if WebFountain's weights of periods rise towards the last period."""

from collections.abc import Sequence
from typing import ClassVar, Final

from evercrawl.lab.base import Claim, LabOptions, Row, judged
from evercrawl.lab.contests.contest import Contest
from evercrawl.lab.contests.contestants import Contestant
from evercrawl.lab.tables import listed, mean, places

_WEIGHTS: Final = ("flat", "rising", "last")
_SAME: Final = 0.01  # minimum difference between two shares of the optimum that counts


class Rising(Contest):
    """Whether WebFountain's weights should rise towards a plan's last period: rising vs. flat, vs. the last alone.

    References
    ----------
    Edwards, McCurley, Tomlin (2001). An adaptive model for optimizing performance of an incremental web crawler. Meng,
    Wang, Yan (2006), section 2.1 of the survey.
    """

    title: ClassVar[str] = "WebFountain's weights of periods, {pages} pages"
    budgets: ClassVar[Sequence[float]] = (0.03, 0.1, 0.3)
    correlations: ClassVar[Sequence[float]] = (0.0, 0.5)
    contestants: ClassVar[Sequence[Contestant]] = tuple(
        Contestant(f"webfountain, {weights}", "webfountain", {"weights": weights}) for weights in _WEIGHTS
    )

    def claims(self, rows: list[Row], options: LabOptions) -> list[Claim]:
        """Return whether rising weights reach more than the others in each case."""
        at = places(rows, "webfountain, rising")
        found = {
            weights: [mean(rows, policy=f"webfountain, {weights}", correlation=c, budget=b) for c, b in at]
            for weights in _WEIGHTS
        }
        cases = ", ".join(f"{c:g}/{b:g}" for c, b in at)
        return [
            judged(f"weights that rise towards the last period keep pages fresher than {other} weights", "",
                   f"{listed(found['rising'])} vs. {listed(found[other])} "
                   f"(correlation/visits per page and day: {cases})",
                   [one >= than + _SAME for one, than in zip(found["rising"], found[other], strict=True)])
            for other in ("flat", "last") if found["rising"] and not any(map(_missing, found[other]))
        ]  # fmt: skip


def _missing(value: float) -> bool:
    return value != value

"""The value of announced changes, which are incomplete and sometimes wrong."""

from collections.abc import Iterator
from typing import Final

from evercrawl.lab.base import Claim, LabOptions, Row, Say
from evercrawl.lab.contests.comparison import closed_form, unrun
from evercrawl.lab.contests.contest import Contest, whole
from evercrawl.lab.contests.contestants import Contestant
from evercrawl.lab.polling.polling import Conditions
from evercrawl.lab.polling.population import Population
from evercrawl.lab.tables import along, at_least, listed
from evercrawl.schedule.formulas.signals import optimum

BUDGETS: Final = (0.03, 0.3)
"""Budgets at which announcements are compared."""
_TICKS: Final = 500
_NONE, _SOME, _MORE = ("nothing announced", "recall 0.8, precision 0.9", "recall 0.95, precision 0.95")
_PRINTED: Final = {_NONE: (0.761, 0.937), _SOME: (0.888, 0.969), _MORE: (0.927, 0.983)}
KINDS: Final = {_NONE: (0.0, 1.0), _SOME: (0.8, 0.9), _MORE: (0.95, 0.95)}
"""Kinds of sites by name, with the recall and the precision of their announcements."""
UPPER: Final = "told all"
"""The row of the policy that is told of every change."""
BEST: Final = "the best there is, "
"""The prefix in the names of the optimum's rows, before the kind."""
_OF_THE_BEST: Final = {_NONE: 0.99, _SOME: 0.98, _MORE: 0.98}
"""The promised share if rates are known; lower with announcements, which are followed only at the next tick."""
_LEARNED: Final = 0.95
_WITHIN: Final = 0.03


def contestants() -> list[Contestant]:
    """Return our policy with rates known and learned, under three kinds of announcements, and the upper bound."""
    found = list[Contestant]()
    for known in (True, False):
        for kind, (recall, precision) in KINDS.items():
            label = f"price, {'known rates, ' if known else ''}{kind}"
            conditions = Conditions(known=known, recall=recall, precision=precision, ticks=_TICKS)
            found.append(Contestant(label, "price", {}, conditions))
    return [*found, Contestant(UPPER, "notices", {}, Conditions(known=True, ticks=_TICKS))]


class AnnouncedChanges(Contest):
    """How much fresher copies are if sitemaps and feeds announce changes, with some precision and recall.

    The precision and the recall of a host's announcements are learned by counting. Figures are shares of all
    importance, not of the optimum, which ignores announcements. They are compared with the best possible freshness if
    rates, recall and precision are known and announcements are followed at once.
    """

    title = "Announced changes, as a share of the optimum without announcements"
    compares = False
    contestants, budgets = contestants(), BUDGETS

    def closed(self, options: LabOptions, say: Say) -> list[Row]:
        """Return the rows of the best possible freshness."""
        return closed_form(_best, options, BUDGETS, say)

    def claims(self, rows: list[Row], options: LabOptions) -> list[Claim]:
        """Compare each row with published figures and with the best possible freshness, and ours with our promises."""
        found, promised = list[Claim](), whole(options)
        for known in ("known rates, ", ""):
            found += [claimed(rows, f"price, {known}{kind}", kind) for kind in KINDS]
            held = [helps(rows, known), *(of_the_best(rows, known, kind) for kind in KINDS)]
            found += [claim._replace(promised=promised and bool(known)) for claim in held]
        return [*found, claimed(rows, UPPER, "")._replace(promised=promised)]


def _best(pages: Population, _: int, budget: float) -> Iterator[Row]:
    for kind, said in KINDS.items():
        value = optimum(pages.weight, pages.lam_per_day, budget * len(pages), *said)
        yield unrun(BEST + kind, value, pages.optimum(budget).value)


def of_the_best(rows: list[Row], known: str, kind: str) -> Claim:
    """Return the claim that a row reaches a share of the best possible freshness, in closed form."""
    best = _values(rows, BEST + kind)
    found = [one / of for one, of in zip(_values(rows, f"price, {known}{kind}"), best, strict=True)]
    least = _OF_THE_BEST[kind] if known else _LEARNED
    label = f"price, {known}{kind}: share of the best possible freshness ({listed(best)})"
    return Claim(label, f"(ours) at least {least:g}", listed(found), min(found) >= least)


def _values(rows: list[Row], label: str) -> list[float]:
    return along(rows, label, BUDGETS, "value")


def claimed(rows: list[Row], label: str, kind: str) -> Claim:
    """Return the claim that a row's freshness is as published, or for the upper bound that it exceeds all other rows.

    With announcements the gain is compared, because the freshness without them differs between draws.
    """
    found = _values(rows, label)
    if not kind:
        others = [_values(rows, each.label) for each in contestants() if each.label != label]
        holds = all(one >= max(rest) for one, *rest in zip(found, *others, strict=True))
        return Claim(f"{label}: freshness at 3 and 30 % is higher than in any other row", "", listed(found), holds)
    printed, none = _PRINTED[kind], _values(rows, label.replace(kind, _NONE))
    least = [
        figure - _WITHIN if kind == _NONE else here + figure - before - _WITHIN
        for here, figure, before in zip(none, printed, _PRINTED[_NONE], strict=True)
    ]
    what = "freshness" if kind == _NONE else "freshness and its gain by announcements"
    return Claim(f"{label}: {what} at 3 and 30 %", listed(printed), listed(found), at_least(found, least))


def helps(rows: list[Row], known: str) -> Claim:
    """Return the claim that freshness rises with the recall and the precision of announcements."""
    none, some, more = (_values(rows, f"price, {known}{kind}") for kind in KINDS)
    holds = all(a < b < c for a, b, c in zip(none, some, more, strict=True))
    gains = [b - a for a, b in zip(none, some, strict=True)]
    return Claim(f"freshness rises with recall and precision ({known or 'learned, '}gain by {_SOME})", "0.127, 0.032",
                 listed(gains), holds)  # fmt: skip

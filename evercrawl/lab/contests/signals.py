"""Announced changes, incomplete and sometimes wrong: what they are worth."""

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
"""At which announcements are compared."""
_TICKS: Final = 500
_NONE, _SOME, _MORE = ("nothing announced", "recall 0.8, precision 0.9", "recall 0.95, precision 0.95")
_PRINTED: Final = {_NONE: (0.761, 0.937), _SOME: (0.888, 0.969), _MORE: (0.927, 0.983)}
KINDS: Final = {_NONE: (0.0, 1.0), _SOME: (0.8, 0.9), _MORE: (0.95, 0.95)}
"""Kinds of sites by name, with the recall and the precision of what they announce."""
UPPER: Final = "told all"
"""The row of who is told of every change."""
BEST: Final = "the best there is, "
"""What rows of the optimum begin with, before the kind."""
_OF_THE_BEST: Final = {_NONE: 0.99, _SOME: 0.98, _MORE: 0.98}
"""What we promise where rates are known: less with announcements, which are followed at the next tick, not at once."""
_LEARNED: Final = 0.95
_WITHIN: Final = 0.03


def contestants() -> list[Contestant]:
    """Return ours with rates known and learned, under three kinds of announcements, and whoever is told all."""
    found = list[Contestant]()
    for known in (True, False):
        for kind, (recall, precision) in KINDS.items():
            label = f"price, {'known rates, ' if known else ''}{kind}"
            conditions = Conditions(known=known, recall=recall, precision=precision, ticks=_TICKS)
            found.append(Contestant(label, "price", {}, conditions))
    return [*found, Contestant(UPPER, "notices", {}, Conditions(known=True, ticks=_TICKS))]


class AnnouncedChanges(Contest):
    """How much fresher copies are if sitemaps and feeds announce changes, and are right.

    How often a host's announcements are right is learned by counting, and so is how many changes it announces. Figures
    are parts of all importance, not of the optimum, which knows of no announcements; beside them stands what is best
    where rates, recall and precision are known, and announcements followed at once.
    """

    title = "Announced changes, as a part of what is best where none is announced"
    compares = False
    contestants, budgets = contestants(), BUDGETS

    def closed(self, options: LabOptions, say: Say) -> list[Row]:
        """Return the best there is."""
        return closed_form(_best, options, BUDGETS, say)

    def claims(self, rows: list[Row], options: LabOptions) -> list[Claim]:
        """Hold each row to what was printed and to the best there is, and ours to what we promise."""
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
    """Return which part a row reaches of the best there is in closed form, and whether that is enough."""
    best = _values(rows, BEST + kind)
    found = [one / of for one, of in zip(_values(rows, f"price, {known}{kind}"), best, strict=True)]
    least = _OF_THE_BEST[kind] if known else _LEARNED
    label = f"price, {known}{kind}: of {listed(best)}, the best there is"
    return Claim(label, f"(ours) at least {least:g}", listed(found), min(found) >= least)


def _values(rows: list[Row], label: str) -> list[float]:
    return along(rows, label, BUDGETS, "value")


def claimed(rows: list[Row], label: str, kind: str) -> Claim:
    """Return how fresh a row is kept, and that as much was printed; who is told all has to be fresher than any other.

    Of what is announced the gain counts, for freshness without it differs between draws.
    """
    found = _values(rows, label)
    if not kind:
        others = [_values(rows, each.label) for each in contestants() if each.label != label]
        holds = all(one >= max(rest) for one, *rest in zip(found, *others, strict=True))
        return Claim(f"{label}: freshness at 3 and 30 %, more than any", "", listed(found), holds)
    printed, none = _PRINTED[kind], _values(rows, label.replace(kind, _NONE))
    least = [
        figure - _WITHIN if kind == _NONE else here + figure - before - _WITHIN
        for here, figure, before in zip(none, printed, _PRINTED[_NONE], strict=True)
    ]
    what = "freshness" if kind == _NONE else "freshness, and so much gained,"
    return Claim(f"{label}: {what} at 3 and 30 %", listed(printed), listed(found), at_least(found, least))


def helps(rows: list[Row], known: str) -> Claim:
    """Return by how much a row is the fresher the more is announced, and the truer that is."""
    none, some, more = (_values(rows, f"price, {known}{kind}") for kind in KINDS)
    holds = all(a < b < c for a, b, c in zip(none, some, more, strict=True))
    gains = [b - a for a, b in zip(none, some, strict=True)]
    return Claim(f"the more and the truer, the better ({known or 'learned, '}gain by {_SOME})", "0.127, 0.032",
                 listed(gains), holds)  # fmt: skip

"""A repair in rounds: show the plan, ask for confirmation, carry it out, and check again."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evercrawl.cli.show.plain import fit, many

if TYPE_CHECKING:
    from evercrawl.ask.verify.findings import Findings
    from evercrawl.cli.show.meter import Meter
    from evercrawl.crawl.mending.repairing import RepairPlan

MOST_ROUNDS: Final = 5
"""Maximum number of rounds: the journal is repaired first, then other files, then the index of the archive."""
_SHOWN: Final = 200
_DRY: Final = "nothing was changed; give --yes to carry out the repair"


class Repairing:
    """Repairs a crawl directory round by round, until nothing is wrong or nothing can be done.

    Parameters
    ----------
    directory, args, meter
        The directory; the flags `json`, `yes`, `backup` and `cut`; and the display of progress.
    found
        The findings of the last check.
    """

    def __init__(self, directory: Path, args: argparse.Namespace, meter: Meter, found: Findings) -> None:
        self._directory, self._args, self._meter, self._found = directory, args, meter, found
        self._planned, self._done = list[str](), list[str]()
        self._lost, self._unmendable = list[str](), list[str]()

    def run(self) -> Findings:
        """Repair, and return the findings afterwards."""
        from evercrawl.ask.verify.verify import verify
        from evercrawl.crawl.mending import repairing

        backup, seen = Path(self._args.backup) if self._args.backup else None, list[list[str]]()
        for _ in range(MOST_ROUNDS):
            found = self._found
            plan = repairing.plan(self._directory, found.damage, found.mends, backup, cut=self._args.cut)
            steps = [step.what for step in plan.steps]
            self._unmendable = plan.unmendable
            self._planned += [what for what in steps if what not in self._planned]
            if not steps or steps in seen or not self._agreed(plan):
                break
            seen.append(steps)
            for step in plan.steps:
                self._lost += step.act()
                self._done.append(step.what)
            self._found = verify(self._directory, self._meter)
        self._meter.hide()
        self._say([f"LOST: {what}" for what in self._lost[:_SHOWN]])
        if len(self._lost) > _SHOWN:
            self._say([f"LOST: {len(self._lost) - _SHOWN:,} more"])
        self._say([f"cannot be repaired: {what}" for what in self._unmendable])
        return self._found

    def told(self) -> dict[str, object]:
        """Return the planned and completed steps, and the losses, as an object for JSON."""
        return {
            "planned": self._planned,
            "done": self._done,
            "lost": self._lost,
            "unmendable": self._unmendable,
        }

    def _agreed(self, plan: RepairPlan) -> bool:
        self._meter.hide()
        self._say([f"{many(len(plan.steps), 'steps')} would be taken:"])
        self._say([f"  {number}. {step.what}" for number, step in enumerate(plan.steps, 1)])
        if self._args.yes:
            return True
        if not self._args.json and sys.stdin.isatty():
            print("Carry out these steps? Type yes: ", end="", flush=True)
            return sys.stdin.readline().strip().lower() == "yes"
        self._say([_DRY])
        return False

    def _say(self, sentences: list[str]) -> None:
        for sentence in sentences if not self._args.json else ():
            print(fit(sentence, sys.stdout), flush=True)

"""The verbs of the laboratory: experiments, backtest, contest, evolution, policies and simulate."""

from evercrawl.cli import arguments
from evercrawl.cli.laboratory import backtest, contest, evolution, experiments, policies, simulate


def add(verbs: arguments.Verbs) -> None:
    """Declare the verbs."""
    for one in (backtest, contest, evolution, experiments, policies, simulate):
        one.add(verbs)

"""The verbs of the laboratory: experiments, backtest, evolution, policies and simulate."""

from evercrawl.cli import arguments
from evercrawl.cli.laboratory import backtest, evolution, experiments, policies, simulate


def add(verbs: arguments.Verbs) -> None:
    """Declare them."""
    for one in (backtest, evolution, experiments, policies, simulate):
        one.add(verbs)

"""Lifetimes of pages, and rates of birth and death."""

from typing import NamedTuple

from evercrawl.lab.histories.evolution.linked import ratio
from evercrawl.lab.histories.evolution.lives import DAY_S, YEAR_S, Lives
from evercrawl.lab.histories.evolution.survival import Survival, survival


class Lasting(NamedTuple):
    """Lifetime statistics of some pages.

    Attributes
    ----------
    born_a_year, died_a_year
        New pages, and removed pages, per existing page and year.
    alive_after_year
        Share of the new pages that exist a year later (Kaplan-Meier); nan if none was observed that long.
    half_gone_days
        Time after which half of them are gone; infinity if more than half exist when the record ends.
    """

    born_a_year: float
    died_a_year: float
    alive_after_year: float
    half_gone_days: float


def lasting(lives: Lives) -> Lasting:
    """Return the lifetime statistics of pages from their lives.

    References
    ----------
    Ntoulas, Cho, Olston (2004). What's new on the web? The evolution of the web from a search engine perspective,
    section 3.1: births and deaths of pages.
    """
    page_years = float((lives.ended_at - lives.began_at).sum()) / YEAR_S
    born = float((lives.known & (lives.appeared_at == lives.began_at)).sum())
    curve = lifetimes(lives)
    return Lasting(
        ratio(born, page_years), ratio(float(lives.died.sum()), page_years), curve.at(YEAR_S), curve.median_s() / DAY_S
    )


def lifetimes(lives: Lives) -> Survival:
    """Return the share of new pages that exist at each age; pages of unknown age do not count."""
    known = lives.known
    began_at = lives.appeared_at[known]
    return survival(lives.began_at[known] - began_at, lives.ended_at[known] - began_at, lives.died[known])

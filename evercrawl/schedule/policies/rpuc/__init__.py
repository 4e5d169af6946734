"""RPUC: types of pages by what is asked for, ranked high, changing and clicked on; a queue with its period for each."""

from evercrawl.schedule.policies.rpuc.rpuc import Rpuc

__all__ = ["Rpuc"]

"""RPUC: page types by retrievals, PageRank, updates and clicks; one queue with its own period per type."""

from evercrawl.schedule.policies.rpuc.rpuc import Rpuc

__all__ = ["Rpuc"]

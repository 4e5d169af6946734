"""Chile: batches of the visits that add most to the value of the collection."""

from evercrawl.schedule.policies.chile.chile import Chile

__all__ = ["Chile"]

"""Chile: the visit that adds most to what the collection is worth, batch by batch."""

from evercrawl.schedule.policies.chile.chile import Chile

__all__ = ["Chile"]

"""Price: the visit that is worth most per unit of the budget, new pages and old ones under one price."""

from evercrawl.schedule.policies.price.price import Price

__all__ = ["Price"]

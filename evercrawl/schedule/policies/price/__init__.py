"""Price: the visit with the highest worth per unit of the budget; one price for new and visited pages."""

from evercrawl.schedule.policies.price.price import Price

__all__ = ["Price"]

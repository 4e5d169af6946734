"""Weights by name."""

from evercrawl.model.worth.weights import AccessWeight, Embarrassment, Weight
from evercrawl.store.partition import Partition


def weight_of(name: str, partition: Partition, *, lasting: bool = False) -> Weight | None:
    """Return the weight called `name`, one of `WEIGHTS`; None for importance itself.

    With `lasting`, pages whose changes leave almost nothing permanent count less; see `lasting_weight`.
    """
    if lasting:
        from evercrawl.model.worth.lasting_weight import LastingWeight

        return LastingWeight(partition, weight_of(name, partition))
    match name:
        case "access":
            return AccessWeight(partition)
        case "embarrassment":
            return Embarrassment(partition)
        case "query_match":
            from evercrawl.model.worth.query_weight import QueryMatch

            return QueryMatch(partition)
        case "learned":
            from evercrawl.model.worth.learned_weight import LearnedWeight

            return LearnedWeight(partition)
        case "quality":
            from evercrawl.model.worth.quality_weight import Quality

            return Quality(partition)
        case "site":
            from evercrawl.model.worth.site_weight import SiteWeight

            return SiteWeight(partition)
        case _:
            return None

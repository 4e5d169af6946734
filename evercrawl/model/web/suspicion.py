"""What looks like an attempt to mislead a crawl, with the reason why it does."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Suspicion:
    """One thing that looks so; whether it is, a person has to say.

    Attributes
    ----------
    kind
        What it looks like: farm, mirror, degrees, stuffing.
    sites
        Sites or hosts that are meant, the one it is about first.
    reason
        The evidence in a sentence, with its numbers.
    score
        How strong it is, to compare those of one kind.
    evidence
        The numbers by name.
    examples
        Some of the pages that show it.
    """

    kind: str
    sites: tuple[str, ...]
    reason: str
    score: float
    evidence: dict[str, float] = field(default_factory=dict[str, float])
    examples: tuple[str, ...] = ()

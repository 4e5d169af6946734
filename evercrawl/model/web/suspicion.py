"""Suspicions: signs of attempts to mislead a crawl, with reasons."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Suspicion:
    """One suspicion, for a person to judge.

    Attributes
    ----------
    kind
        The kind of attempt: farm, mirror, degrees, stuffing.
    sites
        The sites or hosts involved, the main one first.
    reason
        The evidence in a sentence, with its numbers.
    score
        Its strength, comparable within one kind.
    evidence
        The numbers by name.
    examples
        Some pages that show it.
    """

    kind: str
    sites: tuple[str, ...]
    reason: str
    score: float
    evidence: dict[str, float] = field(default_factory=dict[str, float])
    examples: tuple[str, ...] = ()

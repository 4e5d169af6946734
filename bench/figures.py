"""A measured number beside its goal."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured number; `at_least` and `at_most` are its goal, if there is one."""

    name: str
    value: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None

    @property
    def ratio(self) -> float | None:
        """Return how far beyond the goal it is: 1 and more is met."""
        if self.at_least is not None:
            return self.value / self.at_least
        if self.at_most is None:
            return None
        ratio = self.at_most / max(self.value, 1e-12)
        return max(ratio, 1.0) if self.value <= self.at_most else ratio  # a goal of none at all can be met, too

    def __str__(self) -> str:
        """Return a line for people."""
        line = f"{self.name:<44}{self.value:>10.2f} {self.unit}"
        if self.ratio is None:
            return line
        goal = f">= {self.at_least:g}" if self.at_least is not None else f"<= {self.at_most:g}"
        return f"{line:<72}goal {goal:<8} {self.ratio:5.2f}x {'met' if self.ratio >= 1 else 'MISSED'}"

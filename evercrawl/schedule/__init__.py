"""Which page next: one policy a file, and the frontier that offers them pages."""

from evercrawl.schedule.base import Pages, Policy

__all__ = ["Pages", "Policy"]

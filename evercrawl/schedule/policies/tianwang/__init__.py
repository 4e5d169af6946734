"""Tianwang: cycles of fixed capacity, a part of it for new URLs, the rest for pages that are due."""

from evercrawl.schedule.policies.tianwang.tianwang import Tianwang

__all__ = ["Tianwang"]

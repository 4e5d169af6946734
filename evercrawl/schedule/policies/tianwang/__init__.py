"""Tianwang: cycles of a fixed capacity, part of it for new URLs, the rest for pages whose time has come."""

from evercrawl.schedule.policies.tianwang.tianwang import Tianwang

__all__ = ["Tianwang"]

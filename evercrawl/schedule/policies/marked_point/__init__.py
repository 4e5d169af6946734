"""Marked point: whole visits of each page in a horizon, evenly placed, or just after the hour at which it changes."""

from evercrawl.schedule.policies.marked_point.marked_point import MarkedPoint

__all__ = ["MarkedPoint"]

"""Marked point: whole numbers of visits per horizon, evenly spaced, or just after the hour at which a page changes."""

from evercrawl.schedule.policies.marked_point.marked_point import MarkedPoint

__all__ = ["MarkedPoint"]

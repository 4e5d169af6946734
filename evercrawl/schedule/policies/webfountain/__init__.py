"""WebFountain: how many pages of each kind to visit, and how many new ones, from an optimum over the coming periods."""

from evercrawl.schedule.policies.webfountain.webfountain import Webfountain

__all__ = ["Webfountain"]

"""WebFountain: the numbers of visits to buckets of pages and to new pages, optimised over the coming periods."""

from evercrawl.schedule.policies.webfountain.webfountain import Webfountain

__all__ = ["Webfountain"]

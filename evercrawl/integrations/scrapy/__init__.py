"""The plug-in for Scrapy: `ADDONS = {"evercrawl.integrations.scrapy.Addon": 100}` switches a project."""

from evercrawl.integrations.scrapy.addon import Addon
from evercrawl.integrations.scrapy.dupefilter import DupeFilter
from evercrawl.integrations.scrapy.middlewares import DownloaderMiddleware, SpiderMiddleware
from evercrawl.integrations.scrapy.scheduler import Scheduler

__all__ = ["Addon", "DownloaderMiddleware", "DupeFilter", "Scheduler", "SpiderMiddleware"]

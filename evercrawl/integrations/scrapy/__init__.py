"""The Scrapy plug-in: `ADDONS = {"evercrawl.integrations.scrapy.Addon": 100}` enables it for a project."""

from evercrawl.integrations.scrapy.addon import Addon
from evercrawl.integrations.scrapy.dupefilter import DupeFilter
from evercrawl.integrations.scrapy.middlewares import DownloaderMiddleware, SpiderMiddleware
from evercrawl.integrations.scrapy.scheduler import Scheduler

__all__ = ["Addon", "DownloaderMiddleware", "DupeFilter", "Scheduler", "SpiderMiddleware"]

"""The Scrapy add-on that enables evercrawl with one line in a project's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scrapy.settings import Settings

PLACE: Final = "evercrawl.integrations.scrapy"
_NEAREST_TO_THE_ENGINE: Final = 1


class Addon:
    """Add-on that sets scheduler, dupefilter and middlewares of a Scrapy project, unless the project sets its own.

    Examples
    --------
    >>> from scrapy.settings import Settings
    >>> settings = Settings({"ADDONS": {"evercrawl.integrations.scrapy.Addon": 100}})
    >>> Addon().update_settings(settings)
    >>> settings["SCHEDULER"]
    'evercrawl.integrations.scrapy.Scheduler'
    """

    def update_settings(self, settings: Settings) -> None:
        """Add evercrawl's components to the settings of the project."""
        settings.set("SCHEDULER", f"{PLACE}.Scheduler", "addon")
        settings.set("DUPEFILTER_CLASS", f"{PLACE}.DupeFilter", "addon")
        for name, kind in (("SPIDER", "SpiderMiddleware"), ("DOWNLOADER", "DownloaderMiddleware")):
            key = f"{name}_MIDDLEWARES"
            if f"{PLACE}.{kind}" not in settings.getdict(key):
                chosen = {**settings.getdict(key), f"{PLACE}.{kind}": _NEAREST_TO_THE_ENGINE}
                settings.set(key, chosen, settings.getpriority(key) or 0)

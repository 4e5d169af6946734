"""One line of a project's settings that switches it to evercrawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scrapy.settings import Settings

PLACE: Final = "evercrawl.integrations.scrapy"
_NEAREST_TO_THE_ENGINE: Final = 1


class Addon:
    """Sets scheduler, dupefilter and middlewares of a Scrapy project, where the project has not set its own.

    Examples
    --------
    >>> from scrapy.settings import Settings
    >>> settings = Settings({"ADDONS": {"evercrawl.integrations.scrapy.Addon": 100}})
    >>> Addon().update_settings(settings)
    >>> settings["SCHEDULER"]
    'evercrawl.integrations.scrapy.Scheduler'
    """

    def update_settings(self, settings: Settings) -> None:
        """Overlay the settings of the project."""
        settings.set("SCHEDULER", f"{PLACE}.Scheduler", "addon")
        settings.set("DUPEFILTER_CLASS", f"{PLACE}.DupeFilter", "addon")
        for name, kind in (("SPIDER", "SpiderMiddleware"), ("DOWNLOADER", "DownloaderMiddleware")):
            key = f"{name}_MIDDLEWARES"
            if f"{PLACE}.{kind}" not in settings.getdict(key):
                chosen = {**settings.getdict(key), f"{PLACE}.{kind}": _NEAREST_TO_THE_ENGINE}
                settings.set(key, chosen, settings.getpriority(key) or 0)

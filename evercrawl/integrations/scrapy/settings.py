"""Settings of a crawl from those of a Scrapy project."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from evercrawl.config import FILE_NAME, SETTINGS, Config, load
from evercrawl.integrations.scrapy.spider_crawl import BATCH

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

FOLDER: Final = "crawls"
"""Default parent directory of crawls: one folder per spider."""


def directory_of(settings: BaseSettings, name: str) -> Path:
    """Return the crawl directory of a spider, given its name."""
    return Path(settings.get("EVERCRAWL_DIR") or f"{FOLDER}/{name}").expanduser()


def config_of(settings: BaseSettings, directory: Path) -> tuple[Config, Config]:
    """Return the settings of a run, and those to write to a new `crawl.toml`.

    A project may set every setting of evercrawl, under the name of its environment variable.

    Raises
    ------
    ConfigError
        A setting has an invalid value, or `crawl.toml` cannot be read.

    Examples
    --------
    >>> from scrapy.settings import Settings
    >>> config, _ = config_of(Settings({"EVERCRAWL_REFRESH_AFTER_S": "1d", "DOWNLOAD_DELAY": 2}), Path("nowhere"))
    >>> config.refresh_after_s, config.delay_s
    (86400.0, 2.0)
    """
    file = directory / FILE_NAME
    said = {name: _written(settings.get(known.variable)) for name, known in SETTINGS.items()}
    kept = load(*([file] if file.is_file() else []), flags={"scope": "any", **said})
    per_host = settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
    return (
        replace(
            kept,
            scope="any",
            delay_s=settings.getfloat("DOWNLOAD_DELAY"),
            connections=max(settings.getint("CONCURRENT_REQUESTS"), 1),
            connections_per_host=max(per_host, 1) + BATCH,
            sitemaps=False,
            probe_share=0.0,
        ),
        kept,
    )


def _written(value: object) -> object:
    """Return a value in the form of the command line."""
    return cast("object", value) if value is None or isinstance(value, list) else str(value)

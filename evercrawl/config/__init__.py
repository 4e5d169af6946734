"""Configuration of a crawl: immutable and validated, from TOML files, the environment and flags."""

from evercrawl.config.focus import Focus
from evercrawl.config.settings import SETTINGS, Config, Setting
from evercrawl.config.site_rules import SiteRules
from evercrawl.config.sources import FILE_NAME, has_settings, load, source_of
from evercrawl.config.targets import Target
from evercrawl.config.written import amend, as_toml, as_written, save, to_toml

__all__ = [
    "FILE_NAME",
    "SETTINGS",
    "Config",
    "Focus",
    "Setting",
    "SiteRules",
    "Target",
    "amend",
    "as_toml",
    "as_written",
    "has_settings",
    "load",
    "save",
    "source_of",
    "to_toml",
]

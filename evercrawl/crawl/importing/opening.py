"""Recognition of the format of files and folders, and the sources that read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from evercrawl.crawl.importing import files
from evercrawl.crawl.importing.captures import Source, told
from evercrawl.crawl.importing.forms import cdx, crawl_log, nutch, warc
from evercrawl.crawl.importing.forms.cdx import CdxSource
from evercrawl.crawl.importing.forms.crawl_log import CrawlLogSource
from evercrawl.crawl.importing.forms.nutch import NutchSource
from evercrawl.crawl.importing.forms.scrapy import META, QUEUE, SEEN, ScrapyCacheSource, ScrapyJobSource
from evercrawl.crawl.importing.forms.sitemap_list import SitemapSource
from evercrawl.crawl.importing.forms.table import TableSource
from evercrawl.crawl.importing.forms.warc import RevisitContents, WarcSource
from evercrawl.errors import ConfigError, EvercrawlError

FORMS: Final = ("warc", "cdxj", "scrapy", "scrapy-cache", "nutch", "heritrix", "sitemap", "csv")
"""Names of the formats, as the flag `--form` accepts them."""
_INSIDE: Final = ("*.warc", "*.warc.gz", "part-*", "*.cdxj", "*.cdx")


def sources(paths: Sequence[Path], form: str = "", *, everything: bool = False) -> list[Source]:
    """Return the sources that read files and folders, in the given order.

    Parameters
    ----------
    paths
        Files, job directories of Scrapy, or folders with WARC files or the parts of a dump.
    form
        One of `FORMS`; if empty, the format of each file is recognised from its content.
    everything
        Whether images, styles and the like are imported too.

    Raises
    ------
    ConfigError
        A path does not exist, or has no format that can be imported.
    """
    originals, found = RevisitContents(), list[Source]()
    makers: dict[str, Callable[[Path], Source]] = {
        "warc": partial(WarcSource, originals=originals, everything=everything),
        "cdxj": CdxSource,
        "scrapy": ScrapyJobSource,
        "scrapy-cache": ScrapyCacheSource,
        "nutch": NutchSource,
        "heritrix": CrawlLogSource,
        "sitemap": SitemapSource,
        "csv": TableSource,
    }
    try:
        for path in paths:
            for one in _within(path):
                found.append(_made(makers, form, one))
    except BaseException:
        for source in found:
            source.close()
        raise
    return found


def _made(makers: dict[str, Callable[[Path], Source]], form: str, path: Path) -> Source:
    try:
        return makers[form or form_of(path)](path)
    except (EvercrawlError, MemoryError):
        raise
    except Exception as error:  # whatever a stranger's file makes a reader raise
        raise ConfigError(f"{path} cannot be imported: {told(error)}") from error


def form_of(path: Path) -> str:
    """Return the format of a file or folder, one of `FORMS`.

    Raises
    ------
    ConfigError
        It has none of these formats.
    """
    if path.is_dir():
        return "scrapy" if (path / QUEUE).is_dir() or (path / SEEN).is_file() else "scrapy-cache"
    head = files.head_of(path)
    line = next((line for line in head.splitlines() if line.strip() and not line.startswith((b"!", b"#"))), b"")
    line = line.removeprefix(b"\xef\xbb\xbf")
    if head.startswith(warc.BEGIN):
        return "warc"
    if line.startswith((b" CDX ", b"CDX ")) or cdx.CDXJ_LINE.match(line) or cdx.CDX_LINE.match(line):
        return "cdxj"
    if nutch.LINE.match(line):
        return "nutch"
    if crawl_log.LINE.match(line):
        return "heritrix"
    if line.lstrip().startswith(b"<"):
        return "sitemap"
    if line and b"\0" not in head:
        return "csv"
    what = "is empty" if not head else "has no format that can be imported"
    raise ConfigError(f"{path} {what}; name its format with --form {{{','.join(FORMS)}}}, or leave the file out")


def _within(path: Path) -> list[Path]:
    """Return the paths to read: the path itself, or the files in a folder."""
    if not path.exists():
        raise ConfigError(f"{path} does not exist; name files to import")
    path = path.resolve() if path.is_symlink() else path  # a person names it, so it may be a link
    if not path.is_dir() or (path / QUEUE).is_dir() or (path / SEEN).is_file():
        return [path]
    inside = sorted({file for pattern in _INSIDE for file in path.glob(pattern) if file.is_file()})
    if inside:
        return inside
    if next(path.rglob(META), None) is not None:
        return [path]
    raise ConfigError(
        f"{path} holds nothing that can be imported: no WARC files, no job or cache of Scrapy, no parts of a Nutch dump"
    )

"""Files as other programs write them, and imports of them."""

import asyncio
import io
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from evercrawl.config import Config
from evercrawl.crawl.importing.opening import sources
from evercrawl.crawl.importing.running import Imported, imported
from evercrawl.model.stored.reader import opened

CONFIG = replace(Config(), workers="0")


def taken(directory: Path, *paths: Path, config: Config = CONFIG, stop: Callable[[int], bool] | None = None,
          **more: Any) -> Imported:  # fmt: skip
    """Import files; `stop` is told how many captures are done, and says whether to end."""
    everything = more.pop("everything", False)
    found = sources(list(paths), more.pop("form", ""), everything=everything)

    async def work() -> Imported:
        event = asyncio.Event()

        def watch(what: str, done: int, total: int) -> None:
            if stop is not None and what == "importing" and stop(done):
                event.set()

        return await imported(directory, config, found, watch, event, **more)

    try:
        return asyncio.run(work())
    finally:
        for source in found:
            source.close()


def page(title: str, words: str = "", links: Iterable[str] = ()) -> bytes:
    """Return a page."""
    to = "".join(f'<a href="{link}">to {link}</a> ' for link in links)
    return f"<html><head><title>{title}</title></head><body><p>{words}</p>{to}</body></html>".encode()


def write_warc(path: Path, captures: Iterable[tuple[str, str, bytes]], **how: Any) -> None:
    """Write a WARC file by warcio, of (URL, date, body)."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=how.get("gzip", True))
        for url, date, body in captures:
            fields = how.get(
                "fields", [("Content-Type", how.get("mime", "text/html")), ("Content-Length", str(len(body)))]
            )
            head = StatusAndHeaders(how.get("status", "200 OK"), fields, protocol="HTTP/1.1")
            record = writer.create_warc_record(
                url, "response", io.BytesIO(body), http_headers=head, warc_headers_dict={"WARC-Date": date}
            )
            writer.write_record(record)


def journal_of(directory: Path) -> bytes:
    """Return all of the journal."""
    return b"".join(path.read_bytes() for path in sorted(directory.glob("journal-*.log")))


def records_of(directory: Path) -> dict[str, tuple[int, int, float, int]]:
    """Return of each visited page visits, changes, the shape of the evidence on its rate, and its class."""
    crawl = opened(directory)
    try:
        state = crawl.state
        rows = state.records.rows[: state.records.count]
        urls = state.urls.get_many(rows["slot"].tolist())
        columns = (rows[name].tolist() for name in ("visits", "changes", "rate_shape", "outcome"))
        return {url: row for url, *row in zip(urls, *columns, strict=True)}  # type: ignore[misc]
    finally:
        crawl.close()

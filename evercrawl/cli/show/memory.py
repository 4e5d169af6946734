"""The output of `evercrawl status --memory`."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from evercrawl.ask.memory import MemoryReport
from evercrawl.cli.show.lines import size
from evercrawl.model.footprint import CRAWL, MemoryItem


def lines(found: MemoryReport) -> list[str]:
    """Return the report as lines: items of the crawl, of one URL, page, host and folder, and of the opened state."""
    told = _of_crawl(found) if found.crawl is not None else ["no crawl has recorded its memory use yet"]
    each = [f"per {unit.of:<8}{unit.each_bytes:10,.1f} B  ({unit.count:,} in all)" for unit in found.units]
    opened = sum(item.bytes for item in found.opened)
    return [
        *told, "", *each, "",
        f"this command, which opened the crawl: {size(opened)} in the items below, {size(found.opened_bytes)} in all",
        *map(_line, found.opened),
    ]  # fmt: skip


def as_json(found: MemoryReport) -> dict[str, Any]:
    """Return the report as an object for JSON."""
    crawl = found.crawl
    return {
        "crawl": None if crawl is None else {
            "at": crawl.at, "pid": crawl.pid, "resident_bytes": crawl.resident_bytes, "named_bytes": crawl.named_bytes,
            "shelved_bytes": crawl.shelved_bytes, "items": _objects(crawl.items),
        },
        "running_bytes": found.running_bytes,
        "units": [{**msgspec.to_builtins(unit), "each_bytes": unit.each_bytes} for unit in found.units],
        "opened": {"resident_bytes": found.opened_bytes, "items": _objects(found.opened)},
    }  # fmt: skip


def _of_crawl(found: MemoryReport) -> list[str]:
    crawl = found.crawl
    assert crawl is not None, "lines about the crawl need its report"
    at = f"{datetime.fromtimestamp(int(crawl.at), UTC):%Y-%m-%d %H:%M:%S} UTC"
    now = f"; {size(found.running_bytes)} now" if found.running_bytes is not None else ""
    other = MemoryItem("other: program, libraries, buffers", CRAWL, 0, crawl.resident_bytes - crawl.named_bytes)
    return [
        f"crawl process {crawl.pid} at {at}: {size(crawl.named_bytes)} in the items below, "
        f"{size(crawl.resident_bytes)} resident in all{now}",
        *map(_line, crawl.items),
        _line(other),
        f"  not in memory, in unnamed temporary files: {size(crawl.shelved_bytes)} of rows",
    ]


def _line(item: MemoryItem) -> str:
    each = f"{item.bytes / item.count:10,.1f} B per {item.of} ({item.count:,})" if item.count else ""
    return f"  {item.name:<38}{size(item.bytes):>10}{each}"


def _objects(items: tuple[MemoryItem, ...]) -> list[dict[str, Any]]:
    return [{name: getattr(item, name) for name in item.__struct_fields__} for item in items]

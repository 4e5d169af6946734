"""What every question answers with --json about crawls that are made anew, while time stands still."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tempfile
import time
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from evercrawl.cli.main import main as evercrawl
from kept import crawls
from kept.notes import as_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kept.notes import Notes


def questions(notes: Notes, kind: str) -> None:
    """Make a crawl, and ask it everything."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "crawl"
        getattr(crawls, kind)(directory)
        crawl = Asked(notes, kind, directory)
        visits = crawl.rows("export", "visits", "-o", "-")
        crawl.now = 600.0 + max(datetime.fromisoformat(visit["at"]).timestamp() for visit in visits)
        for file in directory.rglob("*"):
            os.utime(file, (crawl.now, crawl.now))  # status tells when the newest snapshot was made
        urls = some_urls(crawl.rows("export", "pages", "-o", "-"))
        asked, ratings = Path(folder) / "asked.jsonl", Path(folder) / "ratings.csv"
        asked.write_bytes(b"".join(as_json(question) + b"\n" for question in usage(urls, crawl.now)))
        crawl.rows("usage", str(asked))
        sites = [row["site"] for row in crawl.rows("top", "9", "--sites")]
        ratings.write_text("site,rating\n" + "".join(f"{site},{1 + i % 4}\n" for i, site in enumerate(sites)))
        for question in [
            ["reindex"], ["export", "links", "-o", "-"], ["verify"], ["status"], ["status", "--calibration"], ["usage"],
            ["top"], ["top", "200"], ["top", "--by-site"], ["top", "--rising"], ["top", "--rising", "--within", "5m"],
            ["select", "--budget", "2"], ["select", "--budget", "30", "--unit", "pages", "--by", "linking"],
            ["select", "--budget", "100kB", "--unit", "bytes"], ["select", "--budget", "5", "--ratings", str(ratings)],
            ["plan"], ["plan", "--budget", "100"], ["plan", "--site", sites[0]], ["evolution", "--texts"],
            *(["evolution", "--by", by] for by in ("site", "tld", "depth", "type")),
            ["evolution", "--sample", "random=20"], ["suspects"], ["search", "queue -archive", "--limit", "50"],
            ["search", "page"], ["search", "page", "--fresh", "0.5"], ["search", f"page site:{sites[0]}"],
            *([verb, url] for url in urls for verb in ("why", "get")), ["get", urls[0], "--text"],
            ["backtest", str(directory), "--policy", "price,uniform,cycle", "--budget", "20,200"],
        ]:  # fmt: skip
            crawl.rows(*question)
        for policy in crawl.rows("policies"):
            crawl.follow(policy["name"], urls[:2])


def some_urls(pages: list[dict[str, Any]]) -> list[str]:
    """Return the URLs that matter most, and one of each class."""
    best = sorted(pages, key=lambda page: (-page["importance"], page["url"]))[:3]
    classes = {page["class"]: page for page in sorted(pages, key=lambda page: page["url"])}
    return [page["url"] for page in [*best, *classes.values()]]


def usage(urls: list[str], now: float) -> Iterable[dict[str, Any]]:
    """Yield what people asked for, were shown and opened."""
    for number, (one, other) in enumerate(pairwise(urls)):
        yield {"at": now - 100.0 * number, "query": f"page {number % 3}", "shown": [one, other], "clicked": [other]}


class StillClock:
    """A clock that always tells the same time, and ends what waits for another one.

    Parameters
    ----------
    now
        What it tells.

    Raises
    ------
    RuntimeError
        It was read ten million times.
    """

    def __init__(self, now: float) -> None:
        self._now, self._left = now, 10_000_000

    def __call__(self, *_: object) -> float:
        """Return the time."""
        self._left -= 1
        if self._left < 0:
            raise RuntimeError("time stands still, and something waits for it to pass")
        return self._now


class Asked:
    """A crawl that is asked while time stands still.

    Parameters
    ----------
    notes, name
        Where answers are taken down, and under which name.
    directory
        The crawl.

    Attributes
    ----------
    now
        The time, in seconds since the epoch.
    """

    def __init__(self, notes: Notes, name: str, directory: Path) -> None:
        self._notes, self._name, self._directory, self.now = notes, name, directory, 0.0

    def follow(self, policy: str, urls: list[str]) -> None:
        """Ask what depends on the policy, as if the crawl followed this one."""
        settings = self._directory / "crawl.toml"
        settings.write_text(re.sub("(?m)^policy = .*$", f'policy = "{policy}"', settings.read_text()))
        self._name += f" by {policy}"
        for table in [table["name"] for row in self.rows("policies", policy) for table in row["tables"]]:
            self.rows("export", f"policy.{table}", "-o", "-")
        for question in (["plan"], ["status"], *(["why", url] for url in urls)):
            self.rows(*question)
        self._name = self._name.removesuffix(f" by {policy}")

    def rows(self, *question: str) -> list[dict[str, Any]]:
        """Return the objects that answer a question with --json."""
        own = [] if question[0] in ("backtest", "policies") else ["--dir", str(self._directory)]
        out = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(io.StringIO()),
            contextlib.ExitStack() as still,
        ):
            for name in ("time", "monotonic", "perf_counter", "process_time"):
                still.enter_context(mock.patch.object(time, name, StillClock(self.now)))
            still.enter_context(mock.patch.object(time, "clock_gettime", StillClock(0.0)))
            try:
                code: object = evercrawl([*question, "--json", *own])
            except SystemExit as wrong:
                code = wrong.code
        folder = str(self._directory.parent)
        said = out.buffer.getvalue().decode().replace(folder, "FOLDER")  # type: ignore[attr-defined]
        rows = [json.loads(line, object_hook=_without_prose) for line in said.splitlines()]
        name = " ".join(question).replace(folder + "/", "")
        told = [as_json(f"exit code {code}"), *(as_json(row) for row in rows), b""]
        self._notes.add(f"questions/{self._name}: {name}", b"\n".join(told))
        return rows


def _without_prose(row: dict[str, Any]) -> dict[str, Any]:
    """Return an object without what only explains its fields."""
    return {name: value for name, value in row.items() if name != "meaning"}

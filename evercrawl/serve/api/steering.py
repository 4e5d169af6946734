"""Orders to the crawl: the last ones with their results, and new ones."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from evercrawl.ask.orders.give import OrderAnswer, awaited, give
from evercrawl.ask.orders.listing import listed
from evercrawl.config import FILE_NAME, SETTINGS, load
from evercrawl.config.patterns import UrlPattern
from evercrawl.config.section_keys import FORM, check_set, section_key, with_value
from evercrawl.config.settings import read
from evercrawl.decoding import json_of
from evercrawl.errors import ConfigError
from evercrawl.serve.asking import Parameters, answer
from evercrawl.serve.context import ServerParts, on_replica, wanted_url
from evercrawl.serve.cursors import CURSOR, NEXT, ListCursors
from evercrawl.serve.guard import BODY_BYTES
from evercrawl.serve.problems import RequestError
from evercrawl.store.orders import FORGET, MASK, CrawlOrder

MOST_WAIT_S: Final = 30.0
MOST_URLS: Final = 1000
MOST_LISTED: Final = 1_000_000
MOST_CHARS: Final = 8000
"""Of what is to be forgotten."""
WITH_URLS: Final = frozenset({"seed", "check"})
WITH_PATTERN: Final = frozenset({"exclude", "include", "boost"})
KINDS: Final = frozenset({"pause", "resume", "set", FORGET}) | WITH_URLS | WITH_PATTERN


class OrderRequest(msgspec.Struct, forbid_unknown_fields=True):
    """An order as received from programs.

    Attributes
    ----------
    do
        seed, check, pause, resume, exclude, include, boost, set or forget.
    what
        URLs, hosts and patterns to forget, as `evercrawl forget` takes them.
    urls, pattern, lift, factor, lasts_s, name, values
        As for `CrawlOrder`.
    wait_s
        Maximum time to wait for the result.
    """

    do: str
    urls: list[str] = []
    pattern: str = ""
    lift: bool = False
    factor: float = 1.0
    lasts_s: float = 0.0
    name: str = ""
    values: list[str] = []
    what: list[str] = []
    wait_s: float = 2.0


@on_replica
def told(parts: ServerParts, request: Request) -> Response:
    """Return the last orders with their results, and what is in force now."""
    given = Parameters(request, "limit", CURSOR)
    most, cursors = given.whole("limit", 50, 1, 1000), ListCursors(parts.replica, given, "orders")
    with parts.replica.reading() as view:
        found = listed(view.partition, most if cursors.text is None else MOST_LISTED)
    rows = [asdict(each) for each in found.orders][::-1]
    if cursors.text is not None:
        rows = rows[next((place for place, row in enumerate(rows, 1) if row["id"] == cursors.text[1]), len(rows)) :][
            :most
        ]
    fields = {
        "orders": rows,
        NEXT: cursors.behind(len(rows), 0.0, rows[-1]["id"]) if len(rows) == most else None,
        "paused_at": found.paused_at,
        "boosts": [msgspec.to_builtins(each) for each in found.boosts],
        "rules": [{"rule": rule, "since": since} for rule, since in found.rules.items()],
        "trouble": found.trouble,
    }
    return answer(fields, parts.replica.token)


async def tell(request: Request) -> Response:
    """Give an order, and return its result; 202 if it is not known yet."""
    Parameters(request)
    parts: ServerParts = request.app.state.context
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > BODY_BYTES:
            raise RequestError(413, f"a request may have {BODY_BYTES} bytes")
    try:
        given = json_of(body, OrderRequest)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RequestError(400, f'not an order: {error}; write one such as {{"do": "pause"}}') from error
    order = await run_in_threadpool(checked, given, parts.replica.directory / FILE_NAME)
    found = await run_in_threadpool(_given, parts, order, min(max(given.wait_s, 0.0), MOST_WAIT_S))
    status = {"waits": 202, "refused": 409}.get(found.state, 200)
    return answer(asdict(found) | {"do": order.do}, parts.replica.token, status)


def checked(given: OrderRequest, file: Path) -> CrawlOrder:
    """Return the order requested; `file` is that of the settings.

    Raises
    ------
    RequestError
        It is invalid, incomplete, or has a value out of bounds.
    """
    if given.do not in KINDS:
        raise RequestError(400, f"{given.do[:40]!r} is not an order; there are: {', '.join(sorted(KINDS))}")
    urls = tuple(wanted_url(url) for url in given.urls)
    if bool(urls) != (given.do in WITH_URLS) or len(urls) > MOST_URLS:
        raise RequestError(400, f"seed and check take 1 to {MOST_URLS} urls, other orders none")
    if bool(given.pattern) != (given.do in WITH_PATTERN):
        raise RequestError(400, "exclude, include and boost take a pattern, other orders none")
    try:
        UrlPattern(given.pattern)
    except re.error as error:
        raise RequestError(400, f"{given.pattern[:100]!r} is not a regular expression: {error}") from error
    if bool(given.what) != (given.do == FORGET) or len(given.what) > MOST_URLS:
        raise RequestError(400, f"forget takes 1 to {MOST_URLS} URLs, hosts or patterns as what, other orders none")
    if any(not word.strip(f"{MASK} ") or len(word) > MOST_CHARS for word in given.what):
        raise RequestError(400, f"what to forget is a URL, a host or a pattern of up to {MOST_CHARS} characters")
    if given.do == "boost" and not given.lift and not 0.001 <= given.factor <= 1000.0:
        raise RequestError(400, "factor must be a number from 0.001 to 1000")
    if not 0.0 <= given.lasts_s <= 1e9:
        raise RequestError(400, "lasts_s must be seconds, 0 for no end")
    if given.do == "set":
        _checked_setting(given.name, given.values, file, unset=given.lift)
    elif given.name or given.values:
        raise RequestError(400, "only set takes name and values")
    return CrawlOrder(
        given.do, urls=urls or tuple(given.what), pattern=given.pattern, lift=given.lift, factor=given.factor,
        lasts_s=given.lasts_s, name=given.name, values=tuple(given.values),
    )  # fmt: skip


def _checked_setting(name: str, values: list[str], file: Path, *, unset: bool) -> None:
    try:
        where = section_key(name)
        if where is not None:
            config = load(file)
            if unset:
                check_set(config, where)
            with_value(config, where, values, unset=unset)
            return
    except ConfigError as error:
        raise RequestError(400, str(error)) from error
    if unset:
        raise RequestError(400, f"only a key of a section can be unset: {FORM}")
    if name not in SETTINGS:
        raise RequestError(400, f"{name[:60]!r} is not a setting; docs/guide/SETTINGS.md lists them")
    setting = SETTINGS[name]
    several = isinstance(setting.default, tuple)
    if not several and len(values) != 1:
        raise RequestError(400, f"{name} takes one value")
    raw: Any = values if several else values[0]
    read(setting, raw, name)  # raises a ConfigError that states the valid values


def _given(parts: ServerParts, order: CrawlOrder, wait_s: float) -> OrderAnswer:
    given = give(parts.replica.directory, order, by="web")
    if given.pid is None:
        return OrderAnswer(given.id, "waits", "no crawl runs; the next start carries it out")
    found = awaited(parts.replica.directory, given, wait_s)
    return found if found.result else OrderAnswer(found.id, found.state, "no result yet; it is listed here later")

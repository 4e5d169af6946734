"""The lab page's data: the library's own ledger on a small web, step by step."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple, get_args

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from evercrawl.ask.changes.past import slot_of
from evercrawl.ask.why.neighbourhood import neighbourhood
from evercrawl.errors import NotHeldError
from evercrawl.importance.ledger.examples import EXAMPLES
from evercrawl.importance.ledger.trace import (
    LedgerState,
    LedgerTrace,
    TraceOrder,
    TraceSettings,
    VirtualPage,
    WindowKind,
    traced,
)
from evercrawl.serve.asking import Parameters, answer
from evercrawl.serve.context import ServerParts, on_replica, wanted_url
from evercrawl.serve.problems import RequestError

PAGES: Final = 60
STEPS: Final = 5_000
CELLS: Final = 10_000
"""Pages times states of one answer: so it is made in about 100 ms of CPU time and has less than a megabyte."""
_DRAWN, _SITE = "drawn", "site"
_GRAPHS: Final = (*EXAMPLES, _DRAWN, _SITE)
_ORDERS: Final = ("greedy", *(each for each in get_args(TraceOrder) if each != "greedy"))
_VIRTUAL: Final = get_args(VirtualPage)
_WINDOWS: Final = get_args(WindowKind)
_SPENDS: Final = ("visited", "at-once")
_LINK: Final = re.compile(r"(\d{1,2})-(\d{1,2})")


def _one_of(choices: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "string", "enum": list(choices), "default": choices[0]}


def _whole(default: int, least: int, most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most, "default": default}


SCHEMAS: Final[dict[str, dict[str, Any]]] = {
    "graph": _one_of(_GRAPHS),
    "pages": _whole(24, 1, PAGES),
    "links": {"type": "string", "description": "of a drawn web: 1-2.2-1, counted from 1", "default": ""},
    "url": {"type": "string", "description": "a page of the crawl, for graph=site", "default": ""},
    "order": _one_of(_ORDERS),
    "steps": _whole(300, 1, STEPS),
    "every": _whole(0, 0, STEPS) | {"description": "states are kept once in so many steps; 0: as often as possible"},
    "seed": _whole(0, 0, 2**31),
    "window": _one_of(_WINDOWS),
    "size": {"type": "number", "minimum": 0.5, "maximum": 1000, "default": 8},
    "virtual": _one_of(_VIRTUAL),
    "tax": {"type": "number", "minimum": 0.01, "maximum": 0.95, "default": 0.15},
    "spends": _one_of(_SPENDS),
}


class _Web(NamedTuple):
    about: str
    names: list[str]
    links: list[tuple[int, int]]


@on_replica
def trace(parts: ServerParts, request: Request) -> Response:
    """Return a small web, and the effect of visits in some order on its cash."""
    given = Parameters(request, *SCHEMAS)
    settings = _settings(given)
    web = _web(parts, given)
    count = len(web.names)
    least = -(-settings.steps * count // CELLS)
    every = given.whole("every", 0, 0, STEPS) or least
    if every < least:
        raise RequestError(400, f"every must be {least} or more for {count} pages and {settings.steps} steps, or 0")
    found = traced(count, web.links, TraceSettings(**settings._asdict(), every=every))
    fields = {"about": web.about, "names": web.names, "links": web.links, "every": every}
    return answer(fields | _fields(found), parts.replica.token)


class _Asked(NamedTuple):
    order: TraceOrder
    steps: int
    seed: int
    window: WindowKind
    size: float
    virtual: VirtualPage
    tax: float
    visited: bool


def _settings(given: Parameters) -> _Asked:
    asked = _Asked(
        order=given.choice("order", _ORDERS),
        steps=given.whole("steps", 300, 1, STEPS),
        seed=given.whole("seed", 0, 0, 2**31),
        window=given.choice("window", _WINDOWS),
        size=given.number("size", 8.0, 0.5, 1000.0),
        virtual=given.choice("virtual", _VIRTUAL),
        tax=given.number("tax", 0.15, 0.01, 0.95),
        visited=given.choice("spends", _SPENDS) == "visited",
    )
    if asked.order == "push" and asked.virtual == "none":
        raise RequestError(400, "push comes to an end only with a virtual page; ask with virtual=tax or virtual=link")
    return asked


def _web(parts: ServerParts, given: Parameters) -> _Web:
    name, count = given.choice("graph", _GRAPHS), given.whole("pages", 24, 1, PAGES)
    if name == _SITE:
        return _around(parts, given.text("url", most=8000), count)
    if name == _DRAWN:
        return _Web("A web of your own.", _numbers(count), _links(given.text("links", most=20_000), count))
    web = EXAMPLES[name]
    return _Web(web.about, _numbers(web.pages), list(web.links))


def _numbers(count: int) -> list[str]:
    return [str(page + 1) for page in range(count)]


def _links(text: str, count: int) -> list[tuple[int, int]]:
    found = list[tuple[int, int]]()
    for each in text.split(".") if text else ():
        match = _LINK.fullmatch(each)
        if match is None or not all(1 <= int(page) <= count for page in match.groups()):
            raise RequestError(400, f"{each[:20]!r} is no link between two of {count} pages; links look like 1-2.2-1")
        found.append((int(match[1]) - 1, int(match[2]) - 1))
    return found


def _around(parts: ServerParts, raw: str, most: int) -> _Web:
    """Return the neighbourhood of a page of the crawl; by default of the most important one."""
    url = wanted_url(raw) if raw else ""
    with parts.replica.derived() as (view, derived):
        try:
            slot = slot_of(view.partition, url) if url else int(np.argmax(view.importance))
        except NotHeldError as error:
            raise RequestError(404, str(error)) from error
        found = neighbourhood(view, derived.runs, slot, most)
        names = [view.state.urls.get(each) for each in found.slots]
    return _Web(f"{len(names)} pages around {names[0]}, by the links that bring importance.", names, found.links)


def _fields(found: LedgerTrace) -> dict[str, Any]:
    """Return a trace as columns, rounded to six digits, which suffice for a picture and keep the response short."""
    columns = {name: [_short(getattr(state, name)) for state in found.states] for name in LedgerState._fields}
    return {
        "exact": _short(found.exact), "visits": found.visits, "moved": _short(found.moved), "states": columns,
    }  # fmt: skip


def _short(value: Any) -> Any:
    if isinstance(value, list):
        return [_short(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
    return float(f"{value:.6g}") if isinstance(value, float) else value

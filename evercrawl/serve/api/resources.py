"""All resources of the API with their parameters, declared once, and their OpenAPI description."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from evercrawl import __version__
from evercrawl.serve.api import clicks, crawl, dots, events, lab, listed, page, past, plan, search, steering
from evercrawl.serve.api.answers import components, schemas
from evercrawl.serve.cursors import CURSOR, NEXT
from evercrawl.serve.sequences import AT_LEAST, SEQUENCE

Endpoint = Callable[[Request], Awaitable[Response]]


class Resource(NamedTuple):
    """One path of the API.

    Attributes
    ----------
    endpoint
        The handler.
    about
        A summary in one sentence.
    parameters
        Maps names to schemas; those without a default are required.
    media
        Media type of the response.
    """

    endpoint: Endpoint
    about: str
    parameters: dict[str, dict[str, Any]]
    media: str = "application/json"


def _whole(default: int, least: int, most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most, "default": default}


_URL: Final[dict[str, Any]] = {"type": "string", "description": "an http or https URL", "maxLength": 8000}
_SITE: Final[dict[str, Any]] = {"type": "string", "maxLength": 253, "default": ""}
_SINCE: Final[dict[str, Any]] = {"type": "string", "description": "2h, 7d, yesterday, 2026-05-01 or a full instant"}

_CURSOR: Final[dict[str, Any]] = {
    "type": "string", "maxLength": 400, "default": "",
    "description": f"{NEXT} of the answer before: this one goes on behind it",
}  # fmt: skip

_TICKETED: Final = {
    "retrievals": ("Tell that an answer was seen for a second, by the ticket of the search.", "SeenAnswer"),
    "clicks": ("Tell that a page of an answer was opened, by its ticket.", "OpenedHit"),
}
_PROBLEM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
    "required": ["title", "status", "detail"],
}
_ORDER: Final = msgspec.json.schema(steering.OrderRequest)["$defs"]["OrderRequest"]
_COMPONENTS: Final = {
    "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
    "parameters": {
        AT_LEAST: {
            "name": AT_LEAST, "in": "query", "required": False, "schema": {"type": "string", "maxLength": 200},
            "description": f"{SEQUENCE} of another answer: this one waits until it rests on as much",
        }
    },
}  # fmt: skip

RESOURCES: Final[dict[str, Resource]] = {
    "status": Resource(crawl.status, "The state of the crawl.", {}),
    "search": Resource(
        search.search,
        "Pages that match a query, the best first.",
        {
            "q": {"type": "string", "maxLength": 500},
            "site": _SITE,
            "language": {"type": "string", "maxLength": 35, "default": ""},
            "fresh": {"type": "number", "minimum": 0, "maximum": 1, "default": 0},
            "fetched_within": {"type": "string", "description": "1h, 7d and the like", "default": ""},
            "limit": _whole(10, 1, search.MOST),
            "skip": _whole(0, 0, search.MOST_SKIPPED),
            "facets": _whole(0, 0, 1),
            CURSOR: _CURSOR,
        },
    ),
    "suggest": Resource(
        search.suggest,
        "Completions of a query being typed.",
        {"q": {"type": "string", "maxLength": 500, "default": ""}, "limit": _whole(8, 1, 20)},
    ),
    "pages": Resource(listed.pages, "The most important pages.", {"limit": _whole(50, 1, 5000), CURSOR: _CURSOR}),
    "sites": Resource(listed.sites, "The most important sites.", {"limit": _whole(100, 1, 5000), CURSOR: _CURSOR}),
    "next": Resource(
        crawl.following,
        "Visited pages that fall due next.",
        {"limit": _whole(20, 1, 1000), "site": _SITE, CURSOR: _CURSOR},
    ),
    "visits": Resource(
        crawl.recent,
        "The last visits, the newest first: of the crawl, a site or a page.",
        {"limit": _whole(20, 1, 256), "site": _SITE, "url": _URL | {"default": ""}, CURSOR: _CURSOR},
    ),
    "requests": Resource(
        crawl.requested,
        "Requests to a host, the newest first, as comma-separated values.",
        {"host": {"type": "string", "maxLength": 253}, "limit": _whole(10_000, 1, 100_000)},
        "text/csv",
    ),
    "progress": Resource(crawl.progress, "The running crawl's own progress report.", {}),
    "waits": Resource(crawl.waits, "Hosts that must not be visited now, with reason and end.", {}),
    "changes": Resource(
        past.changed,
        "What changed, the most important first; the words of the first few with diff=1.",
        {
            "since": _SINCE | {"default": "1d"},
            "site": _SITE,
            "pattern": {"type": "string", "maxLength": 1000, "default": ""},
            "limit": _whole(50, 1, 1000),
            "all": _whole(0, 0, 1),
            "diff": _whole(0, 0, 1),
            CURSOR: _CURSOR,
        },
    ),
    "why": Resource(page.explained, "Everything that decides when a page is visited.", {"url": _URL}),
    "rise": Resource(page.rising, "The worth of a visit over time, until it crosses the price.", {"url": _URL}),
    "versions": Resource(
        past.versions,
        "The versions of a page, the newest first.",
        {"url": _URL, "limit": _whole(1000, 1, 1000), CURSOR: _CURSOR},
    ),
    "inlinks": Resource(
        past.linking, "The pages that link to a page.", {"url": _URL, "limit": _whole(100, 1, 1000), CURSOR: _CURSOR}
    ),
    "history": Resource(
        past.history,
        "All visits, the newest first: of a period, of a site, or of one page.",
        {
            "since": _SINCE | {"default": ""},
            "until": _SINCE | {"default": ""},
            "site": _SITE,
            "url": _URL | {"default": ""},
            "limit": _whole(100, 1, 1000),
            CURSOR: _CURSOR,
        },
    ),
    "content": Resource(
        page.stored, "The stored copy of a page; of an instant.", {"url": _URL, "at": _SINCE | {"default": ""}}, "*/*"
    ),
    "map": Resource(
        dots.pages_map, "The most important pages, for a picture.", {"limit": _whole(5000, 1, 5000), "site": _SITE}
    ),
    "minutes": Resource(past.minutes, "Visits, changes and errors by minute.", {"since": _SINCE | {"default": "1h"}}),
    "orders": Resource(
        steering.told,
        "The last orders and their results; POST gives one.",
        {"limit": _whole(50, 1, 1000), CURSOR: _CURSOR},
    ),
    "plan": Resource(
        plan.planned,
        "Predicted freshness by budget; 202 while it is computed.",
        {"site": {"type": "string", "maxLength": 253, "default": ""}},
    ),
    "lab": Resource(lab.trace, "The effect of successive visits on the cash of a small web.", lab.SCHEMAS),
    "events": Resource(events.events, "The state and the last visits, as they come.", {}, "text/event-stream"),
}
"""Path after /api/v1/ -> what it is."""


def description() -> dict[str, Any]:
    """Return the API's description in OpenAPI 3.1."""
    problem = {"description": "RFC 9457", "content": {"application/problem+json": {"schema": _PROBLEM}}}
    answers = schemas()
    paths: dict[str, Any] = {
        f"/api/v1/{name}": {
            "get": {
                "operationId": name,
                "summary": resource.about,
                "parameters": [
                    {"name": each, "in": "query", "required": "default" not in schema, "schema": schema}
                    for each, schema in resource.parameters.items()
                ]
                + [{"$ref": f"#/components/parameters/{AT_LEAST}"}],
                "responses": {
                    "200": {
                        "description": "the answer",
                        "content": {resource.media: {"schema": answers.get(name, {})}},
                    },
                    "304": {"description": "still what If-None-Match names"},
                    **dict.fromkeys(("400", "401", "404", "421", "429", "503"), problem),
                },
            }
        }
        for name, resource in RESOURCES.items()
    }
    paths["/api/v1/orders"]["post"] = {
        "operationId": "order",
        "summary": "Give an order, with the token.",
        "security": [{"token": []}],
        "requestBody": {"required": True, "content": {"application/json": {"schema": _ORDER}}},
        "responses": {
            "200": {"description": "obeyed", "content": {"application/json": {"schema": answers["order"]}}},
            "202": {"description": "not obeyed yet", "content": {"application/json": {"schema": answers["order"]}}},
            **dict.fromkeys(("400", "401", "403", "409", "413", "421", "429", "503"), problem),
        },
    }  # fmt: skip
    for name, (about, kind) in _TICKETED.items():
        schema = msgspec.json.schema(getattr(clicks, kind))["$defs"][kind]
        paths[f"/api/v1/{name}"] = {
            "post": {
                "operationId": name,
                "summary": about,
                "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
                "responses": {
                    "202": {"description": "not recorded: the client's network had its share of the day"},
                    "204": {"description": "it is on disk"},
                    **dict.fromkeys(("400", "403", "404", "410", "413", "421", "429", "503"), problem),
                },
            }
        }
    return {
        "openapi": "3.1.0",
        "info": {"title": "evercrawl", "version": __version__},
        "paths": paths,
        "components": {**_COMPONENTS, "schemas": components()},
    }


async def openapi(request: Request) -> Response:
    """Return the description."""
    return Response(msgspec.json.encode(description()), media_type="application/json")

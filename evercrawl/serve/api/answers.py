"""JSON Schemas of the API's responses by path, derived from the classes that the responses are made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from evercrawl.ask.changes.page_change import PageChange
from evercrawl.ask.changes.texts import WordDiff
from evercrawl.ask.changes.versions import PageVersion
from evercrawl.ask.instants import is_instant
from evercrawl.ask.orders.give import OrderAnswer
from evercrawl.ask.orders.listing import ListedOrder
from evercrawl.ask.rank.site_states import SiteState
from evercrawl.ask.rank.top import TopPage
from evercrawl.ask.rank.top_sites import TopSite
from evercrawl.ask.rank.upcoming import UpcomingPage
from evercrawl.ask.search.hits import Hit
from evercrawl.ask.status import Status
from evercrawl.ask.usage.vector import PageUse
from evercrawl.ask.why.crossing import ValueCurve
from evercrawl.ask.why.explanation import Why
from evercrawl.serve.cursors import NEXT
from evercrawl.store.journal.events import Boost

Schema = dict[str, Any]
REF: Final = "#/components/schemas/{name}"
_KINDS: Final = (
    PageChange, WordDiff, PageVersion, OrderAnswer, ListedOrder, SiteState, TopPage, TopSite, UpcomingPage, Hit, Status,
    PageUse, ValueCurve, Why, Boost,
)  # fmt: skip
_TEXT: Final[Schema] = {"type": "string"}
_NUMBER: Final[Schema] = {"type": "number"}
_WHOLE: Final[Schema] = {"type": "integer"}
_YES: Final[Schema] = {"type": "boolean"}
_ANY: Final[Schema] = {"type": "object"}
_NUMBERS: Final[Schema] = {"type": "array", "items": _NUMBER}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _each(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _object(fields: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """Return the schema of an object with required and optional fields, and no others."""
    return {
        "type": "object",
        "properties": {**fields, **(optional or {})},
        "required": list(fields),
        "additionalProperties": False,
    }


_FOUND, _CLASSES = msgspec.json.schema_components(_KINDS, ref_template=REF)
_REF_OF: Final[dict[type, Schema]] = dict(zip(_KINDS, _FOUND, strict=True))


def _fields(kind: type) -> dict[str, Schema]:
    """Return the fields of a class, by name."""
    return cast("dict[str, Schema]", _CLASSES[_REF_OF[kind]["$ref"].rpartition("/")[2]]["properties"])


_CHANCES: Final = _object({"value": _NUMBER | {"type": ["number", "string"]}, "pages": _WHOLE})
_LIST: Final[dict[str, Schema]] = {NEXT: _or_null(_TEXT)}
_VISIT: Final[dict[str, Schema]] = {
    "at": _NUMBER, "outcome": _TEXT, "status": _WHOLE, "changed": _YES, "bytes": _WHOLE, "size_bytes": _WHOLE,
}  # fmt: skip
_HEARD: Final[dict[str, Schema]] = {
    "sequence": _WHOLE, "at": _NUMBER, "url": _TEXT, "outcome": _TEXT, "first": _YES, "changed": _YES, "bytes": _WHOLE,
    "error": _TEXT,
}  # fmt: skip
_HOST: Final = _object(
    {
        "host": _TEXT, "why": _TEXT, "since": _or_null(_NUMBER), "until": _or_null(_NUMBER), "pages": _or_null(_WHOLE),
    }
)  # fmt: skip
_MINUTE: Final = _object({"at": _NUMBER}, dict.fromkeys(("visits", "changes", "errors", "bytes"), _WHOLE))
_APPOINTMENT: Final = _object(
    {
        **dict.fromkeys(("due_at", "low_at", "high_at"), _or_null(_NUMBER)),
        "judged": _WHOLE,
        "kept": _or_null(_NUMBER),
        "wanted": _NUMBER,
    }
)

ANSWERS: Final[dict[str, Schema]] = {
    "status": _object({**_fields(Status), "running": _YES, "trouble": _TEXT}),
    "search": _object(
        {
            "hits": _each(_object(_fields(Hit), {"ticket": _TEXT})),
            "more": _YES,
            "took_s": _NUMBER,
            "instead": _or_null(_TEXT),
            **_LIST,
        },
        {
            "ticket": _TEXT,
            "facets": _object(
                {"pages": _WHOLE, **dict.fromkeys(("site", "language", "fetched_within", "fresh"), _each(_CHANCES))}
            ),
        },
    ),
    "suggest": _object({"suggestions": _each(_TEXT)}),
    "pages": _object({"pages": _each(_REF_OF[TopPage]), **_LIST}),
    "sites": _object({"pending": _YES, "sites": _each(_object(_fields(TopSite), _fields(SiteState))), **_LIST}),
    "next": _object({"pages": _each(_REF_OF[UpcomingPage]), **_LIST}),
    "visits": _object({"visits": _each({"anyOf": [_object(_HEARD), _object(_VISIT)]}), **_LIST}),
    "history": _object({"visits": _each(_object({"url": _TEXT, **_VISIT})), **_LIST}),
    "progress": _object({"progress": _or_null(_ANY)}),
    "waits": _object({"hosts": _each(_HOST)}),
    "changes": _object(
        {
            "changes": _each(_object({**_fields(PageChange), "diff": _or_null(_REF_OF[WordDiff])})),
            "pages": {"type": "object", "additionalProperties": _WHOLE},
            "noise": _WHOLE,
            "unjudged": _WHOLE,
            **_LIST,
        }
    ),
    "why": _object({**_fields(Why), "use": _REF_OF[PageUse], "appointment": _or_null(_APPOINTMENT)}),
    "rise": _REF_OF[ValueCurve],
    "versions": _object(
        {
            "url": _TEXT,
            "versions": _each(_object({**_fields(PageVersion), "outcome": _TEXT, "digest": _TEXT})),
            "diff": _or_null(_REF_OF[WordDiff]),
            "away_at": _or_null(_NUMBER),
            "away_status": _WHOLE,
            "visits": _WHOLE,
            **_LIST,
        }
    ),
    "inlinks": _object(
        {"url": _TEXT, "count": _WHOLE, "pages": _each(_object({"url": _TEXT, "importance": _NUMBER})), **_LIST}
    ),
    "map": _object(
        {
            "at": _NUMBER,
            "sites": _each(_TEXT),
            "pages": _each({"type": "array", "prefixItems": [_TEXT, _WHOLE, _NUMBER, _or_null(_NUMBER), _NUMBER]}),
            "others": _each({"type": "array", "prefixItems": [_TEXT, _WHOLE, _NUMBER]}),
        }
    ),
    "minutes": _object({"minutes": _each(_MINUTE)}),
    "orders": _object(
        {
            "orders": _each(_REF_OF[ListedOrder]),
            "paused_at": _or_null(_NUMBER),
            "boosts": _each(_REF_OF[Boost]),
            "rules": _each(_object({"rule": _TEXT, "since": _NUMBER})),
            "trouble": _TEXT,
            **_LIST,
        }
    ),
    "plan": {"type": "object", "properties": {"pending": _YES}, "required": ["pending"]},
    "lab": _object(
        {
            "about": _TEXT,
            "names": _each(_TEXT),
            "links": _each({"type": "array", "prefixItems": [_WHOLE, _WHOLE]}),
            "every": _WHOLE,
            "exact": _NUMBERS,
            "visits": _each(_WHOLE),
            "moved": _NUMBERS,
            "states": {"type": "object", "additionalProperties": {"type": "array"}},
        }
    ),
}
"""Path after /api/v1/ -> its answer, instants not yet as they are written; those that are no JSON are missing."""

ORDERED: Final = _object({**_fields(OrderAnswer), "do": _TEXT})
"""What an order is answered with."""


def schemas() -> dict[str, Schema]:
    """Return the schema of each response by path, and of an order's by "order", with instants as in responses."""
    return {name: written(each) for name, each in {**ANSWERS, "order": ORDERED}.items()}


def components() -> dict[str, Schema]:
    """Return the schemas referred to by those, by name."""
    return {name: written(_whole(each)) for name, each in _CLASSES.items()}


def _whole(schema: Schema) -> Schema:
    """Return the schema of a class whose fields, including defaults, are all present, and no others."""
    return (
        {**schema, "required": list(schema["properties"]), "additionalProperties": False}
        if ("properties" in schema)
        else schema
    )


def written(schema: Schema) -> Schema:
    """Return a schema with every instant as written by `dated`: a date and time, plus seconds in NAME_s.

    Examples
    --------
    >>> found = written(_object({"visited_at": {"type": "number"}}))
    >>> found["properties"]["visited_at"], found["required"]
    ({'type': 'string', 'format': 'date-time'}, ['visited_at', 'visited_at_s'])
    """
    found = {name: _inside(name, value) for name, value in schema.items()}
    if "properties" not in schema:
        return found
    properties = cast("dict[str, Schema]", schema["properties"])
    needed = list(properties) if schema.get("required") is None else list(cast("list[str]", schema["required"]))
    for name, of in properties.items():
        kinds = _kinds(of)
        if is_instant(name) and not kinds.isdisjoint(("number", "integer")):
            moment: Schema = {"type": "string", "format": "date-time"}
            found["properties"][name] = _or_null(moment) if "null" in kinds else moment
            found["properties"][f"{name}_s"] = _NUMBER
            if name in needed and "null" not in kinds:
                needed.append(f"{name}_s")
    return {**found, "required": needed}


def _kinds(schema: Schema) -> set[str]:
    """Return the types that a schema allows."""
    if "anyOf" in schema:
        return {kind for each in schema["anyOf"] for kind in _kinds(each)}
    return {cast("str", schema["type"])} if isinstance(schema.get("type"), str) else set()


def _inside(name: str, value: Any) -> Any:
    if name == "properties":
        return {field: written(each) for field, each in cast("dict[str, Schema]", value).items()}
    if isinstance(value, dict):
        return written(cast("Schema", value))
    if isinstance(value, list):
        return [_inside("", each) for each in value]  # pyright: ignore[reportUnknownVariableType]
    return value

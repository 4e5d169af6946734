"""TypeScript declarations of the API's parameters and bodies, `static/api.d.ts`, generated from its description."""

from __future__ import annotations

from typing import Any, Final

from evercrawl.serve.api.resources import description

HEAD: Final = """/**
 * What may be asked at /api/v1, and told to it. Drawn from the description at /openapi.json by `make docs`.
 */
"""
_PLAIN: Final = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}


def declarations() -> str:
    """Return the file: an interface for the parameters of each GET, and one for the bodies of each POST."""
    paths = description()["paths"]
    asked = [_question(path, of["get"]) for path, of in paths.items() if "get" in of]
    told = [_telling(path, of["post"]) for path, of in paths.items() if "post" in of]
    return (
        f"{HEAD}export interface Questions {{\n{''.join(asked)}}}\n\nexport interface Tellings {{\n{''.join(told)}}}\n"
    )


def _question(path: str, of: dict[str, Any]) -> str:
    named = [each for each in of["parameters"] if "name" in each]
    fields = [f"{each['name']}{'' if each['required'] else '?'}: {_kind(each['schema'])}" for each in named]
    return f"  /** {of['summary']} */\n  {_name(path)}: {{ {'; '.join([*fields, 'at_least?: string'])} }};\n"


def _telling(path: str, of: dict[str, Any]) -> str:
    schema = of["requestBody"]["content"]["application/json"]["schema"]
    needed = schema.get("required", [])
    fields = [f"{name}{'' if name in needed else '?'}: {_kind(each)}" for name, each in schema["properties"].items()]
    return f"  /** {of['summary']} */\n  {_name(path)}: {{ {'; '.join(fields)} }};\n"


def _name(path: str) -> str:
    return path.removeprefix("/api/v1/")


def _kind(schema: dict[str, Any]) -> str:
    """Return the TypeScript type of a schema.

    Examples
    --------
    >>> _kind({"type": "array", "items": {"type": "string"}}), _kind({"type": "string", "enum": ["a", "b"]})
    ('string[]', '"a" | "b"')
    """
    if "enum" in schema:
        return " | ".join(f'"{each}"' for each in schema["enum"])
    if schema.get("type") == "array":
        return f"{_kind(schema['items'])}[]"
    return _PLAIN[schema["type"]]

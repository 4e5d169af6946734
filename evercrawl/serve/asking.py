"""Parameters of a request, read by name: what is not known is refused, and so is what is out of bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from evercrawl.ask.instants import dated
from evercrawl.serve.problems import RequestError

SEQUENCE = "evercrawl-sequence"


class Parameters:
    """The query of a request.

    Parameters
    ----------
    request
        What was asked.
    names
        The parameters there are.

    Raises
    ------
    RequestError
        There is another, or one twice.
    """

    def __init__(self, request: Request, *names: str) -> None:
        self._values = request.query_params
        given = [name for name, _ in self._values.multi_items()]
        unknown = [name for name in given if name not in names]
        if unknown:
            known = f"there are: {', '.join(names)}" if names else "there are none here"
            raise RequestError(400, f"{unknown[0]!r} is no parameter; {known}")
        if len(set(given)) < len(given):
            raise RequestError(400, "a parameter may be given once")

    def text(self, name: str, default: str = "", most: int = 2000) -> str:
        """Return a text."""
        value = self._values.get(name, default)
        if len(value) > most:
            raise RequestError(400, f"{name} may have {most} characters")
        return value

    def whole(self, name: str, default: int, least: int, most: int) -> int:
        """Return a whole number within bounds."""
        raw = self._values.get(name)
        if raw is None:
            return default
        if not raw.isascii() or not raw.isdigit() or not least <= int(raw[:20]) <= most:
            raise RequestError(400, f"{name} must be a whole number from {least} to {most}")
        return int(raw)

    def share(self, name: str, default: float) -> float:
        """Return a share from 0 to 1."""
        raw = self._values.get(name)
        try:
            value = default if raw is None else float(raw)
        except ValueError:
            value = -1.0
        if not 0.0 <= value <= 1.0:
            raise RequestError(400, f"{name} must be a number from 0 to 1")
        return value


def answer(fields: Mapping[str, object], sequence: int, status: int = 200, **headers: str) -> Response:
    """Return a JSON response; instants as everywhere, and how much of the journal it rests on."""
    return Response(
        msgspec.json.encode(dated(fields), enc_hook=_plainly),
        status,
        {SEQUENCE: str(sequence)} | headers,
        "application/json",
    )


def _plainly(value: Any) -> Any:
    """Return what numpy made as Python's own."""
    if hasattr(value, "item"):
        return value.item()
    raise NotImplementedError(f"no JSON for {type(value)}")

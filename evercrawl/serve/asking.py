"""Parameters of a request by name, rejecting unknown ones and values out of bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar, cast

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from evercrawl.ask.instants import dated
from evercrawl.config import values
from evercrawl.decoding import whole_of
from evercrawl.serve.problems import RequestError
from evercrawl.serve.sequences import SEQUENCE

T = TypeVar("T", bound=str)

MOST_S: Final = 1e9
"""Of a duration."""
_NUMBER_CHARS: Final = 40
"""Of a number or a duration."""


class Parameters:
    """The query parameters of a request.

    Parameters
    ----------
    request
        The request.
    names
        The valid parameters.

    Raises
    ------
    RequestError
        An unknown or repeated parameter was given.
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
        number = whole_of(raw, least, most)
        if number is None:
            raise RequestError(400, f"{name} must be a whole number from {least} to {most}")
        return number

    def share(self, name: str, default: float) -> float:
        """Return a share from 0 to 1."""
        return self.number(name, default, 0, 1)

    def number(self, name: str, default: float, least: float, most: float) -> float:
        """Return a number within bounds."""
        raw = self._values.get(name)
        try:
            value = default if raw is None else _float(raw)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise RequestError(400, f"{name} must be a number from {least} to {most}")
        return value

    def duration(self, name: str) -> float | None:
        """Return a duration in seconds; None if it is not given."""
        raw, kind = self._values.get(name), values.duration()
        if not raw:
            return None
        try:
            found = cast("float", kind.read(raw)) if len(raw) <= _NUMBER_CHARS else math.nan
        except ValueError:
            found = math.nan
        if not 0.0 <= found <= MOST_S:
            raise RequestError(400, f"{name} must be {kind.form}")
        return found

    def choice(self, name: str, choices: Sequence[T]) -> T:
        """Return one of some texts, by default the first."""
        value = self._values.get(name, choices[0])
        for each in choices:
            if value == each:
                return each
        raise RequestError(400, f"{name} must be one of {', '.join(choices)}")


def _float(raw: str) -> float:
    return float(raw) if len(raw) <= _NUMBER_CHARS else math.nan


def answer(fields: Mapping[str, object], token: str, status: int = 200, **headers: str) -> Response:
    """Return a JSON response with instants in the usual form, and the journal sequence it is based on."""
    return Response(
        msgspec.json.encode(dated(fields), enc_hook=_plainly),
        status,
        {SEQUENCE: token} | headers,
        "application/json",
    )


def _plainly(value: Any) -> Any:
    """Return a numpy value as Python's own type."""
    if hasattr(value, "item"):
        return value.item()
    raise NotImplementedError(f"no JSON for {type(value)}")

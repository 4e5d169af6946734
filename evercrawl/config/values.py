"""Kinds of setting values: how each is parsed, and its form for error messages."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = bool | int | float | str | tuple[str, ...]

AUTO = "auto"
"""Value for a number that evercrawl chooses for the machine."""

_SIZES = {
    "": 1,
    "b": 1,
    "kb": 1e3,
    "mb": 1e6,
    "gb": 1e9,
    "tb": 1e12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}
_DURATIONS = {"": 1, "ms": 1e-3, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
_MEASURE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*([a-zA-Z]*)\s*")


@dataclass(frozen=True, slots=True)
class ValueKind:
    """One kind of value.

    Attributes
    ----------
    metavar
        Placeholder of the value in the help.
    form
        The form of the value, as the end of the sentence "... must be".
    read
        Function that parses a value from TOML or the command line; it raises ValueError for any other form.
    """

    metavar: str
    form: str
    read: Callable[[object], Value]


def number(least: float = 0.0, most: float = math.inf, because: str = "", *, but: float = math.nan) -> ValueKind:
    """Return the kind of finite numbers from `least` to `most`, except `but`; `because` is the reason.

    >>> [kind.form for kind in (number(1), number(0, 100), number(0, 1, but=1))]
    ['a number, 1 or more', 'from 0 to 100', 'from 0 to 1, but not 1']
    """

    def read(raw: object) -> float:
        value = _at_least(-math.inf, _measure(raw, {"": 1}))
        if not least <= value <= most or value == but:
            raise ValueError(because)
        return value

    form = f"from {least:g} to {most:g}" if most < math.inf else f"a number, {least:g} or more"
    return ValueKind("N", form if math.isnan(but) else f"{form}, but not {but:g}", read)


def share() -> ValueKind:
    """Return the kind of numbers from 0 to 1, or percentages.

    Examples
    --------
    >>> share().read(0.25), share().read("75 %")
    (0.25, 0.75)
    """
    return ValueKind("SHARE", "a share from 0 to 1, or a percentage such as 75%", _share)


def whole(least: int = 0) -> ValueKind:
    """Return the kind of whole numbers from `least` up.

    Examples
    --------
    >>> whole().read("12")
    12
    """
    return ValueKind(
        "N", f"a whole number, {least} or more", lambda raw: _whole(_at_least(least, _measure(raw, {"": 1})))
    )


def count() -> ValueKind:
    """Return the kind of numbers that may be chosen for the machine: as text, digits or `AUTO`.

    Examples
    --------
    >>> count().read(2), count().read("Auto")
    ('2', 'auto')
    """
    return ValueKind("N", f"a whole number or {AUTO}", _count)


def part() -> ValueKind:
    """Return the kind of fractions that the crawl may choose: as text, a number from 0 to 1 or `AUTO`.

    Examples
    --------
    >>> part().read(0.1), part().read("1"), part().read("Auto")
    ('0.1', '1', 'auto')
    """
    return ValueKind("N", f"a number from 0 to 1 or {AUTO}", _part)


def size(least: int = 0) -> ValueKind:
    """Return the kind of sizes, in bytes.

    Examples
    --------
    >>> size().read("10MiB"), size().read("1.5 kB"), size().read(7)
    (10485760, 1500, 7)
    """
    form = "a size such as 10MiB, 500kB or 10485760" + (f", {least} bytes or more" if least else "")
    return ValueKind("SIZE", form, lambda raw: round(_at_least(least, _measure(raw, _SIZES))))


def duration(least: float = 0.0, besides: str | None = None) -> ValueKind:
    """Return the kind of durations, in seconds; the word `besides` is also allowed, and kept as it is.

    Examples
    --------
    >>> duration().read("1h"), duration().read("250ms"), duration().read(2)
    (3600.0, 0.25, 2.0)
    """
    form = "a duration such as 1.5, 30s, 10m, 1h or 1d" + (f", {least:g} s or more" if least else "")
    form += f", or {besides}" if besides else ""
    return ValueKind(
        "TIME",
        form,
        lambda raw: _at_least(least, _measure(raw, _DURATIONS)) if besides is None or raw != besides else besides,
    )


def switch() -> ValueKind:
    """Return the kind of boolean values."""
    return ValueKind("", "true or false", _switch)


def text() -> ValueKind:
    """Return the kind of any line of text."""
    return ValueKind("TEXT", "one line of text", _line)


def choice(*names: str) -> ValueKind:
    """Return the kind of one of `names`."""
    return ValueKind("|".join(names), f"one of {', '.join(names)}", lambda raw: _one_of(names, _line(raw)))


def several(*names: str) -> ValueKind:
    """Return the kind of subsets of `names`, separated by commas.

    >>> several("a", "b").read("b, a")
    'b,a'
    """

    def read(raw: object) -> str:
        parts = [part.strip() for part in _line(raw).split(",") if part]
        for part in parts:
            if part not in names:
                raise ValueError(f"{part!r} is not one of them")
        return ",".join(parts)

    return ValueKind("|".join(names), f"one of {', '.join(names)}", read)


def each(one: ValueKind, form: str) -> ValueKind:
    """Return the kind of lists whose entries are of kind `one`; empty entries are dropped.

    >>> each(whole(), "a list of numbers").read(["3", ""])
    ('3',)
    """
    return ValueKind(
        one.metavar, form, lambda raw: tuple(str(one.read(entry)) for entry in _entries(raw) if entry != "")
    )


def _measure(raw: object, units: dict[str, float]) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        raise ValueError
    if not isinstance(raw, str):
        return float(raw)
    match = _MEASURE.fullmatch(raw)
    if match is None:
        raise ValueError
    factor = units.get(match[2].lower())
    if factor is None:
        raise ValueError(f"{match[2]!r} is not a known unit")
    return float(match[1]) * factor


def _at_least(least: float, value: float) -> float:
    if not math.isfinite(value) or value < least:
        raise ValueError
    return value


def _share(raw: object) -> float:
    percentage = isinstance(raw, str) and raw.rstrip().endswith("%")
    value = _measure(raw.rstrip()[:-1] if isinstance(raw, str) and percentage else raw, {"": 1})
    value = _at_least(0.0, value / 100 if percentage else value)
    if value > 1.0:
        raise ValueError
    return value


def _whole(value: float) -> int:
    if value != int(value):
        raise ValueError
    return int(value)


def _count(raw: object) -> str:
    if isinstance(raw, str) and raw.strip().lower() == AUTO:
        return AUTO
    return str(_whole(_at_least(0, _measure(raw, {"": 1}))))


def _part(raw: object) -> str:
    if isinstance(raw, str) and raw.strip().lower() == AUTO:
        return AUTO
    value = _at_least(0, _measure(raw, {"": 1}))
    if value > 1:
        raise ValueError
    return f"{value:g}"


def _switch(raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if not isinstance(raw, str) or raw.strip().lower() not in words:
        raise ValueError
    return words[raw.strip().lower()]


def _line(raw: object) -> str:
    if not isinstance(raw, str) or any(ord(letter) < 32 or ord(letter) == 127 for letter in raw):
        raise ValueError
    return raw.strip()


def _one_of(names: tuple[str, ...], value: str) -> str:
    if value not in names:
        raise ValueError
    return value


def _entries(raw: object) -> list[object]:
    if isinstance(raw, str):
        return list(raw.split())
    if isinstance(raw, list | tuple):
        return list(raw)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    raise ValueError

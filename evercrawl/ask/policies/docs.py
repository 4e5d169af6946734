"""Documentation of a policy's parameters and tables, extracted from docstrings."""

import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from evercrawl.model.policy.policies import parameters
from evercrawl.schedule.base import Policy

_SEE: Final = re.compile(r"See `(\w+)`\.")
_COLUMN: Final = re.compile(r"^\w+(, \w+)* : .+$")
_NAMED: Final = {"slot": "url"}  # internal numbers, written as text in the documentation


class Option(NamedTuple):
    """A parameter: its name, its default, and its meaning."""

    name: str
    default: float | str
    meaning: str


class Column(NamedTuple):
    """A column of a table: its exported name (`N` stands for a number), its unit, and its meaning."""

    name: str
    unit: str
    meaning: str


class TableDoc(NamedTuple):
    """A table that a policy keeps."""

    name: str
    meaning: str
    columns: list[Column]


class Described(NamedTuple):
    """A policy: its name, its summary, its parameters, and its tables."""

    name: str
    promise: str
    options: list[Option]
    tables: list[TableDoc]

    def as_json(self) -> dict[str, Any]:
        """Return the documentation as objects and lists."""
        kept = [each._asdict() | {"columns": [column._asdict() for column in each.columns]} for each in self.tables]
        return self._asdict() | {"options": [option._asdict() for option in self.options], "tables": kept}


def described(name: str, kind: type[Policy]) -> Described:
    """Return the documentation of a policy from its docstrings."""
    return Described(name.replace("-", "_"), promise(kind), options(kind), tables(kind))


def promise(kind: type[Policy]) -> str:
    """Return the summary of a policy, a sentence.

    >>> from evercrawl.schedule.policies.xyleme import Xyleme
    >>> promise(Xyleme)
    'Visit the page with the most cash x interest x (0.5 + P(changed)); one visit in five follows a cycle.'
    """
    return (inspect.getdoc(kind) or "").partition("\n\n")[0].replace("\n", " ")


def options(kind: type[Policy]) -> list[Option]:
    """Return the parameters of a policy; the meaning is "" if the docstring does not document one.

    >>> from evercrawl.schedule.policies.xyleme import Xyleme
    >>> options(Xyleme)
    [Option(name='cycle', default=0.2, meaning='Share of the visits that follow the cycle.')]
    """
    told = _told(kind, "Parameters", "")
    return [Option(name, default, _flat(told.get(name, ""))) for name, default in parameters(kind).items()]


def tables(kind: type[Policy]) -> list[TableDoc]:
    """Return the tables that a policy may keep; some exist only once it has planned.

    >>> from evercrawl.schedule.policies.uniform import Uniform
    >>> [(table.name, [column.name for column in table.columns]) for table in tables(Uniform)]
    [('plan', ['url', 'visits_per_day'])]
    """
    return [_table(name, body) for name, body in _told(kind, "Returns", "tables").items()]


def _table(name: str, body: str) -> TableDoc:
    lines = body.splitlines()
    first = next((i for i, line in enumerate(lines) if _COLUMN.match(line)), len(lines))
    columns = [
        Column(_NAMED.get(each, each), unit, _flat(meaning))
        for names, meaning in _entries("\n".join(lines[first:]))
        for each, unit in _heads(names)
    ]
    return TableDoc(name, _flat("\n".join(lines[:first])), columns)


def _heads(head: str) -> list[tuple[str, str]]:
    names, _, unit = head.partition(" : ")
    return [(name, unit) for name in names.split(", ")]


def _told(kind: type[Policy], title: str, method: str) -> dict[str, str]:
    """Return the entries of a section of a class's or method's docstring; references to other classes are followed.

    A class without such a section inherits that of the nearest base class that has one.
    """
    holder = next((each for each in kind.__mro__ if not method or method in vars(each)), kind)
    found = dict[str, str]()
    for names, body in _entries(_section(vars(holder).get(method) if method else holder, title)):
        for name, _ in _heads(names):
            see = _SEE.match(body)
            other = next((each for each in kind.__mro__ if see and each.__name__ == see[1]), None)
            found[name] = body if other is None else _told(other, title, method).get(name, "")
    return found


def _section(documented: object, title: str) -> str:
    text = inspect.cleandoc(getattr(documented, "__doc__", None) or "")
    _, _, after = f"\n{text}".partition(f"\n{title}\n{'-' * len(title)}\n")
    return re.split(r"\n\n\w+\n-{3,}\n", after)[0]


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield the terms of a definition list, with the indented text below each."""
    for part in re.split(r"(?<!\n)\n++(?=\S)", text.strip("\n")):
        head, _, body = part.partition("\n")
        if head:
            yield head, textwrap.dedent(body).strip("\n")


def _flat(text: str) -> str:
    return " ".join(text.split())

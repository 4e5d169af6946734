"""Tables that a crawl's policy keeps, rebuilt from the journal by the policy itself."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.ask.export.tables import Columns
from evercrawl.clock import SystemClock
from evercrawl.errors import ConfigError
from evercrawl.model.view import View, settings
from evercrawl.schedule.abilities import Tabulates
from evercrawl.store.partition import Partition

PREFIX: Final = "policy."
_KINDS: Final = {"b": "bool", "i": "int", "u": "int", "f": "float"}


class PolicyTable(NamedTuple):
    """One table: column -> type, as in `export.TABLES`; column -> values."""

    kinds: dict[str, str]
    values: Columns


def policy_table(partition: Partition, name: str, now: float | None = None) -> PolicyTable:
    """Return a table of the policy that the crawl's settings name; pages are named by URL, sites by their domain.

    Parameters
    ----------
    partition
        The crawl, just opened for reading.
    name
        Name of the table.
    now
        Instant of the table, in seconds since the epoch; by default the current time.

    Raises
    ------
    ConfigError
        The policy has no such table; the message lists its tables.
    """
    config, _ = settings(partition.directory)
    view = View(partition, config, SystemClock().now() if now is None else now)
    policy = view.informed
    tables = policy.tables(view.context) if isinstance(policy, Tabulates) else {}
    if name not in tables:
        raise ConfigError(f"policy {view.config.policy} {_has(list(tables))}")
    kinds, values = dict[str, str](), {}
    for column, cells in tables[name].items():
        if column == "slot":
            kinds["url"], values["url"] = "string", partition.state.urls.get_many(cells.tolist())
        elif column == "site":
            kinds["site"], values["site"] = "string", [partition.state.sites[site] for site in cells.tolist()]
        else:
            kinds[column] = _kind(column, cells)
            values[column] = _cells(np.where(cells > 0, cells, np.nan) if kinds[column] == "instant" else cells)
    return PolicyTable(kinds, values)


def _has(names: list[str]) -> str:
    if not names:
        return "keeps no tables; export pages, links or visits, or name another policy in crawl.toml"
    return f"keeps these tables: {', '.join(PREFIX + name for name in names)}"


def _kind(column: str, cells: NDArray[Any]) -> str:
    return "instant" if column == "at" or column.endswith("_at") else _KINDS.get(cells.dtype.kind, "string")


def _cells(cells: NDArray[Any]) -> list[Any]:
    """Return values for export: nan and missing values become null."""
    values: list[Any] = cells.tolist()
    return [value if np.isfinite(value) else None for value in values] if cells.dtype.kind == "f" else values

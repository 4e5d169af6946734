"""Which site each page of a graph from a file belongs to, told from paths."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evercrawl.types import Spans

_SHARED: Final = 0.95  # of all pages: a folder that so many lie in tells nothing apart


def sites_of(graph: Path) -> Spans | None:
    """Return the site of each page, shape (n,), by the column `path` of NAME.nodes.parquet beside NAME.edges.parquet.

    None where there is no such file or column.

    Raises
    ------
    ConfigError
        When the file is damaged.
    """
    from pyarrow import ArrowException
    from pyarrow.parquet import read_table

    beside = graph.with_name(graph.name.replace(".edges.", ".nodes."))
    if beside == graph or not beside.exists():
        return None
    try:
        table: Any = read_table(beside)
    except (ArrowException, OSError) as error:
        raise ConfigError(f"--graph {graph}: {beside.name} cannot be read: {error}") from error
    return by_folder(table["path"].to_pylist()) if "path" in table.column_names else None


def by_folder(paths: Sequence[str]) -> Spans:
    """Return a number for each path, shape (n,): the same for paths with the same first folder.

    Folders that nearly all paths have in common are looked past.

    >>> by_folder(["docs/1.0/a.html", "docs/1.0/b/c.html", "docs/2.0/a.html", "docs/index.html"])
    array([0, 0, 1, 2], dtype=int32)
    """
    parts, depth = [path.split("/") for path in paths], 0
    while True:
        folders = [each[depth] if len(each) > depth + 1 else "" for each in parts]
        _, most = Counter(folders).most_common(1)[0]
        if most < _SHARED * len(paths) or folders.count("") == most:
            break
        depth += 1
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(folder, len(numbers)) for folder in folders], np.int32)

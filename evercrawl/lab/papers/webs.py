"""The graph of an experiment: random, or read from a file of links."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from evercrawl.errors import ConfigError
from evercrawl.extras import require_parquet
from evercrawl.lab.base import LabOptions
from evercrawl.simulate.graphs import Web, bow_tie, cooper_frieze, copying, poisson, power_law, sites
from evercrawl.types import Ints, Spans

KINDS: Final[dict[str, Callable[[int, int], Web]]] = {
    "power-law": power_law, "poisson": poisson, "copying": copying, "bow-tie": bow_tie, "sites": sites,
    "cooper-frieze": cooper_frieze,
}  # fmt: skip
USUAL: Final = "power-law"
"""The default kind of web."""
_LEAST: Final = 100
_SPARSE: Final = 100  # maximum number of pages per link of a file, unless a file of pages gives their number
_FEW: Final = 1_000_000
_SHARED: Final = 0.95  # share of all pages: a folder that contains more does not distinguish sites


def web_of(options: LabOptions, pages: int) -> Web:
    """Return the requested graph, with `pages` pages unless the options say otherwise.

    Raises
    ------
    ConfigError
        If there is no such kind or file, or if there are too few pages.

    Examples
    --------
    >>> from evercrawl.lab.base import LabOptions
    >>> web_of(LabOptions(kind="bow-tie"), 500).pages
    500
    """
    if options.graph is not None:
        return read(options.graph)
    kind = options.kind or USUAL
    if kind not in KINDS:
        raise ConfigError(f"--graph-kind {kind} is none of: {', '.join(KINDS)}")
    wanted = options.pages or pages
    if wanted < _LEAST:
        raise ConfigError(f"--pages {wanted} is too few for a result; ask for at least {_LEAST}")
    return KINDS[kind](wanted, options.seed)


def read(path: Path) -> Web:
    """Return the web of a Parquet file with the columns src and dst, one row per link.

    Pages are numbered from 0 without gaps. Pages without links whose numbers are the highest are therefore missing,
    unless NAME.nodes.parquet is in the folder of NAME.edges.parquet and has one row per page.

    Raises
    ------
    ConfigError
        If it is no such file.
    """
    if path.is_dir():
        raise ConfigError(f"--graph {path} is a folder, which only `evercrawl lab orders` can read; name a file")
    source, target = (_column(path, name) for name in ("src", "dst"))
    if not len(source) or min(source.min(), target.min()) < 0:
        raise ConfigError(f"--graph {path}: src and dst must be page numbers from 0, in at least one row")
    pages, nodes = int(max(source.max(), target.max())) + 1, _nodes(path)
    if pages > max(_SPARSE * len(source), nodes, _FEW):
        raise ConfigError(
            f"--graph {path}: has page {pages - 1}, but only {len(source)} links; number the pages from 0, without gaps"
        )
    return Web.of(max(pages, nodes), source, target)


def _column(path: Path, name: str) -> Ints:
    require_parquet()
    from pyarrow import ArrowException
    from pyarrow.parquet import read_table
    from pyarrow.types import is_integer

    try:
        column: Any = read_table(path, columns=[name])[name]
        if column.null_count or not is_integer(column.type):
            raise ValueError(f"{name} must contain integers, without nulls")
        return np.asarray(column.to_numpy(), np.int64)
    except (ArrowException, OSError, KeyError, ValueError, TypeError) as error:
        why = str(error).partition("\n")[0]
        raise ConfigError(
            f"--graph {path} cannot be read as links: {why}; it must be a Parquet file with the columns src and dst"
        ) from error


def _nodes(path: Path) -> int:
    """Return the number of pages in the nodes file that belongs to a file of links; 0 without one."""
    beside = path.with_name(path.name.replace(".edges.", ".nodes."))
    if beside == path or not beside.exists():
        return 0
    require_parquet()
    from pyarrow.parquet import read_metadata

    return int(read_metadata(beside).num_rows)


def sites_of(graph: Path) -> Spans | None:
    """Return the site of each page, shape (n,), from the column `path` of NAME.nodes.parquet beside NAME.edges.parquet.

    None if there is no such file or column.

    Raises
    ------
    ConfigError
        If the file is damaged.
    """
    require_parquet()
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

    Folders that nearly all paths have in common are skipped.

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

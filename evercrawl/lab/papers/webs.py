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
"""The kind of web where nobody says which."""
_LEAST: Final = 100
_SPARSE: Final = 100  # pages for each link of a file, at most, where nothing else says how many there are
_FEW: Final = 1_000_000
_SHARED: Final = 0.95  # of all pages: a folder that so many lie in tells nothing apart


def web_of(options: LabOptions, pages: int) -> Web:
    """Return the requested graph, with `pages` pages unless the options say otherwise.

    Raises
    ------
    ConfigError
        When there is no such kind, too few pages, or no such file.

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
        raise ConfigError(f"--pages {wanted} is too few to say anything; ask for {_LEAST} at least")
    return KINDS[kind](wanted, options.seed)


def read(path: Path) -> Web:
    """Return the web of a Parquet file with the columns src and dst, one row a link.

    Pages are numbered from 0 on without gaps, so those that nobody links to or from at the end are not there, unless
    NAME.nodes.parquet stands beside NAME.edges.parquet and has as many rows as there are pages.

    Raises
    ------
    ConfigError
        When it is no such file.
    """
    if path.is_dir():
        raise ConfigError(
            f"--graph {path} is a folder, of which only `evercrawl lab orders` reads the graphs; name a file"
        )
    source, target = (_column(path, name) for name in ("src", "dst"))
    if not len(source) or min(source.min(), target.min()) < 0:
        raise ConfigError(f"--graph {path}: src and dst have to be numbers of pages, from 0 on, and one link at least")
    pages, nodes = int(max(source.max(), target.max())) + 1, _nodes(path)
    if pages > max(_SPARSE * len(source), nodes, _FEW):
        raise ConfigError(
            f"--graph {path}: page {pages - 1} of {len(source)} links; number the pages from 0 on, without gaps"
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
            raise ValueError(f"{name} has to be whole numbers, and none missing")
        return np.asarray(column.to_numpy(), np.int64)
    except (ArrowException, OSError, KeyError, ValueError, TypeError) as error:
        why = str(error).partition("\n")[0]
        raise ConfigError(
            f"--graph {path} cannot be read as links: {why}; it has to be a Parquet file with the columns src and dst"
        ) from error


def _nodes(path: Path) -> int:
    """Return how many pages the file of pages beside a file of links has; 0 where there is none."""
    beside = path.with_name(path.name.replace(".edges.", ".nodes."))
    if beside == path or not beside.exists():
        return 0
    require_parquet()
    from pyarrow.parquet import read_metadata

    return int(read_metadata(beside).num_rows)


def sites_of(graph: Path) -> Spans | None:
    """Return the site of each page, shape (n,), by the column `path` of NAME.nodes.parquet beside NAME.edges.parquet.

    None where there is no such file or column.

    Raises
    ------
    ConfigError
        When the file is damaged.
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

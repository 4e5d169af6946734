"""The catalogue of experiments, and storage of their results."""

import inspect
from pathlib import Path
from typing import Any

from evercrawl import catalog
from evercrawl.errors import ConfigError, StoreError
from evercrawl.lab import claims, contests, papers
from evercrawl.lab.base import Experiment, Results
from evercrawl.lab.figures.plotting import can_draw, draw


def experiments() -> dict[str, type[Experiment]]:
    """Return all experiments by name; the name is that of the file.

    >>> "fig2" in experiments()
    True
    """
    kinds: type[Any] = Experiment
    rooms = (contests, papers, claims)
    return dict(sorted(item for room in rooms for item in catalog.find(room, kinds).items()))


def experiment(name: str) -> Experiment:
    """Return the experiment of that name.

    Raises
    ------
    ConfigError
        There is none; the message lists all names.
    """
    there = experiments()
    kind: Any = catalog.pick(papers, Experiment, name) if ":" in name else there.get(name.replace("-", "_"))
    if kind is None:
        raise ConfigError(f"no experiment is called {name!r}; choose one of: {', '.join(there)}")
    made: Experiment = kind()
    return made


def summary(kind: type[Experiment]) -> str:
    """Return the one-sentence description of an experiment."""
    return " ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split())


def keep(findings: Results, folder: Path, name: str) -> list[Path]:
    """Write the numbers (Parquet) and, if possible, the figure (PNG) to a folder; return the files.

    Raises
    ------
    StoreError
        The folder cannot be created or written to.
    """
    import pyarrow as pa
    from pyarrow.parquet import write_table

    files = [folder / f"{name}.parquet"]
    columns = {column: [row[column] for row in findings.rows] for column in (findings.rows or [{}])[0]}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_table(pa.table(columns), files[0], compression="zstd")
        if findings.panels and can_draw():
            files.append(folder / f"{name}.png")
            draw(findings, files[1])
    except OSError as error:
        raise StoreError(f"cannot write to {folder}: {error.strerror or error}; name another with --out") from error
    return files

"""Expert ratings of sites, read from a CSV file."""

import csv
from collections import defaultdict
from pathlib import Path
from typing import Final, TypeAlias

from evercrawl.errors import ConfigError
from evercrawl.parse.sites import site
from evercrawl.parse.urls import hostname, normalise

MOST: Final = 4
"""The highest rating; the lowest is 1."""
FORM: Final = "it must be a CSV file with the columns site and rating (1 to 4), and rater where there are several"

_COLUMNS: Final = ("site", "rating", "rater")

Ratings: TypeAlias = dict[str, dict[str, int]]
"""Rater -> site -> rating from 1 to `MOST`; the largest is the best."""


def read_ratings(path: Path, best: int = MOST) -> Ratings:
    """Return the ratings in a CSV file.

    Its first line names the columns: site and rating, and rater if there are several raters. A site may be given as any
    of its hosts or URLs. The separator is a comma, a semicolon or a tab.

    Parameters
    ----------
    path
        The file.
    best
        The best rating, `MOST` or 1.

    Raises
    ------
    ConfigError
        The file is not such a CSV file, or a line is malformed; the message names the line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text; {FORM}") from error
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}; {FORM}") from error
    ratings, lines = defaultdict[str, dict[str, int]](dict), dict[tuple[str, str], int]()
    for number, row in _rows(path, text):
        rater, name = (row.get("rater") or "").strip(), _site(path, number, row.get("site"))
        earlier = lines.setdefault((rater, name), number)
        if earlier != number:
            who = f"{rater} rated {name}" if rater else f"{name} was rated"
            raise ConfigError(f"{path}, line {number}: {who} on line {earlier} already; leave one of the two")
        rating = _rating(path, number, row.get("rating"))
        ratings[rater][name] = rating if best == MOST else MOST + 1 - rating
    if not ratings:
        raise ConfigError(f"{path} rates no site; {FORM}")
    return dict(ratings)


def _rows(path: Path, text: str) -> list[tuple[int, dict[str, str | None]]]:
    """Return the number and the columns of each line that is not empty."""
    head = text.partition("\n")[0]
    reader = csv.DictReader(text.splitlines(), delimiter=max(",;\t", key=head.count))
    try:
        columns = [name.strip().lower() for name in reader.fieldnames or ()]
        reader.fieldnames = columns
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise ConfigError(f"{path}, line {reader.line_num + 1}: {error}; {FORM}") from error
    if not {"site", "rating"} <= set(columns):
        raise ConfigError(f"{path}, line 1: it names the columns {', '.join(columns) or 'of nothing'}; {FORM}")
    twice = [name for name in _COLUMNS if columns.count(name) > 1]
    if twice:
        raise ConfigError(f"{path}, line 1: there are several columns {twice[0]}; leave one of them")
    for number, row in rows:
        more = row.get(None)  # where `csv` puts surplus fields
        if more:
            raise ConfigError(
                f"{path}, line {number}: there are {len(columns) + len(more)} fields for {len(columns)} columns; "
                "quote what has the separator in it"
            )
    return rows


def _site(path: Path, number: int, raw: str | None) -> str:
    text = (raw or "").strip()
    url = normalise(text if "://" in text else f"http://{text}/") if text else None
    if url is None:
        raise ConfigError(f"{path}, line {number}: {text!r} is not a site; write it as example.org")
    return site(hostname(url))


def _rating(path: Path, number: int, raw: str | None) -> int:
    text = (raw or "").strip()
    if text not in ("1", "2", "3", "4"):
        raise ConfigError(f"{path}, line {number}: the rating is {text!r}; it must be 1, 2, 3 or 4")
    return int(text)

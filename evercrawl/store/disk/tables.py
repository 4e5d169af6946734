"""Check of a database from a crawl directory: only tables and indexes, nothing that computes when it is read.

A directory may be foreign. A view in place of a table could recurse endlessly, or produce gigabytes from one row, for
anyone who only reads it.
"""

import re
import sqlite3
from typing import Final

__all__ = ["see_tables"]

MOST_BYTES: Final = 64 << 20
"""Maximum size of a value: twice the largest that is ever stored."""
_COMPUTED: Final = re.compile(r"\b(?:VIRTUAL|GENERATED|AS|CHECK|SELECT)\b", re.IGNORECASE)


_HARMLESS: Final = "CHECK (one = 1)"
"""In a table that evercrawl itself made until November 2026."""


def see_tables(file: sqlite3.Connection) -> None:
    """Check that a database has only tables and indexes of plain columns, and limit the size of its values.

    Raises
    ------
    sqlite3.DatabaseError
        It has something else, or is damaged.

    Examples
    --------
    >>> file = sqlite3.connect(":memory:")
    >>> see_tables(file)
    >>> _ = file.execute("CREATE VIEW a AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT x FROM c")
    >>> see_tables(file)
    Traceback (most recent call last):
    sqlite3.DatabaseError: it holds a view, 'a'
    """
    file.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
    for kind, name, sql in file.execute("SELECT type, name, sql FROM sqlite_master"):
        text = str(sql or "")
        if name == "folded":
            text = text.replace(_HARMLESS, "")
        plain = kind == "table" or (kind == "index" and text.count("(") <= 1)
        if not plain or _COMPUTED.search(text):
            raise sqlite3.DatabaseError(
                f"it holds a {str(kind)[:20]}{' that computes' if plain else ''}, {str(name)[:40]!r}"
            )

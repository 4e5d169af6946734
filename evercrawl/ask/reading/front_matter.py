"""The front matter above a page's Markdown: its source, and its probability of being fresh."""

import json
from typing import Any

from evercrawl.store.archive.warc import iso_date


def front_matter(fields: dict[str, Any]) -> str:
    """Return YAML between lines of three dashes; strings are quoted as in JSON, which is valid YAML.

    Examples
    --------
    >>> fields = {"url": "http://example.org/", "fetched_at": 0.0, "fresh": 0.91234, "language": None}
    >>> print(front_matter(fields), end="")
    ---
    url: "http://example.org/"
    fetched_at: 1970-01-01T00:00:00.000000Z
    fresh: 0.9123
    language: null
    ---
    <BLANKLINE>
    """
    lines = [f"{name}: {_yaml(name, value)}" for name, value in fields.items()]
    return "\n".join(["---", *lines, "---", "", ""])


def _yaml(name: str, value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, float):
        return iso_date(value) if name.endswith("_at") else f"{value:.4f}".rstrip("0").rstrip(".")
    text = json.dumps(str(value), ensure_ascii=False)
    return text.replace("\x7f", "\\x7f").replace("\x85", "\\N").replace("\u2028", "\\L").replace("\u2029", "\\P")

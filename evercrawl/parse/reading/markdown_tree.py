"""Adaptation of an HTML tree to Markdown: constructs that Markdown cannot place are flattened to text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from evercrawl.parse.visible import visible

if TYPE_CHECKING:
    import turbohtml

_CODE: Final = ("code", "kbd", "samp", "tt", "var")
_INLINE: Final = (
    "a", "abbr", "b", "cite", "del", "dfn", "em", "font", "i", "ins", "mark", "q", "s", "small", "span", "strike",
    "strong", "sub", "sup", "u", *_CODE,
)  # fmt: skip
_FENCED: Final = ("pre", "table")
_LANGUAGE: Final = re.compile(r"language-[A-Za-z][\w+#.-]*")  # the only class written, after a fence
_MOST_CELLS: Final = 64  # to which a table's rows are padded
_BLANK: Final = re.compile(r"(?<![ \t\r\f\v])[ \t\r\f\v]*+\n\s*\n[ \t]*+")


def untangle(found: turbohtml.Element) -> turbohtml.Element:
    r"""Return an element whose code, preformatted text and tables are in places that Markdown allows.

    Invisible characters are removed before escaping: two characters separated by one may be harmless, but not once
    joined.

    Examples
    --------
    >>> import turbohtml
    >>> def told(page: str) -> str:
    ...     return untangle(turbohtml.parse(page).find("body")).to_markdown()
    >>> told("&lt;&#x200b;script&gt;"), told("<q><pre>&lt;script&gt;</pre></q>"), told("<code>a<kbd>`b</kbd></code>")
    ('\\<script>', '```\n<script>\n```', '``a`b``')
    """
    for element in found.iter_elements(include_self=True):
        if not _LANGUAGE.fullmatch(str(element.attr("class") or "")):
            element.attrs.pop("class", None)
    for block in found.find_all(list(_FENCED)):
        _free(block, found)
    for code in found.find_all(list(_CODE)):
        for inner in reversed(code.find_all(list(_INLINE))):
            inner.unwrap()
    found.normalize()
    _say(found)
    for table in found.find_all("table"):
        _level(table)
    return found


def _free(block: turbohtml.Element, found: turbohtml.Element) -> None:
    """Unwrap blocks inside inline elements or list items, after whose marker no fence or table can begin."""
    import turbohtml

    for holder in list(block.ancestors):
        if not isinstance(holder, turbohtml.Element) or holder is found:
            return
        if holder.tag in _INLINE:
            holder.unwrap()


def _say(found: turbohtml.Element) -> None:
    """Remove invisible characters, and the empty lines within tables that would end them."""
    import turbohtml

    for node in list(found.descendants):
        if isinstance(node, turbohtml.Text):
            text = visible(node.data)
            if _BLANK.search(text) and node.closest("table") is not None:
                text = _BLANK.sub("\n", text)
            if text != node.data:
                node.data = text


def _level(table: turbohtml.Element) -> None:
    """Pad a table's rows to equal length, as Markdown needs; a table with spanning cells is written as its source."""
    import turbohtml

    rows = [
        [cell for cell in row.children if isinstance(cell, turbohtml.Element)]
        for row in table.find_all("tr")
        if row.closest("table") is table
    ]
    cells = [cell for row in rows for cell in row]
    if any(name in cell.attrs for cell in cells for name in ("colspan", "rowspan")):
        return
    most = min(max(map(len, rows), default=0), _MOST_CELLS)
    for row in rows:
        for _ in range(most - len(row) if row else 0):
            row[-1].insert_after(turbohtml.Element("td"))

"""What the site needs beside its pages: links that leave docs/ become text, for the site has no sources."""

from __future__ import annotations

import re
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any, Final

_LINK: Final = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")
_NAV: Final = "guide"


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Return a page whose links stay within the site."""
    here = dirname(page.file.src_uri)
    known = {file.src_uri for file in files}

    def within(found: re.Match[str]) -> str:
        target = normpath(join(here, found[3]))
        return found[0] if target in known or found[1] else found[2]

    return _LINK.sub(within, markdown)


def on_nav(nav: Any, config: Any, files: Any) -> Any:
    """Return the navigation; pages of the guide that nobody has put there yet come at its end."""
    from mkdocs.structure.nav import Section
    from mkdocs.structure.pages import Page

    shown = {page.file.src_uri for page in nav.pages}
    guide = next(item for item in nav.items if isinstance(item, Section) and item.title == "Guide")
    for file in files.documentation_pages():
        if file.src_uri not in shown and Path(file.src_uri).parts[0] == _NAV:
            page = Page(None, file, config)
            page.parent = guide
            guide.children.append(page)
            nav.pages.append(page)
    return nav

"""The main content of a page as Markdown or as HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Final

from evercrawl.parse.reading.main_content import main_content
from evercrawl.parse.reading.markdown_tree import untangle
from evercrawl.parse.tree import base_of, parsed
from evercrawl.parse.urls import normalise
from evercrawl.parse.visible import visible

if TYPE_CHECKING:
    import turbohtml


class ContentForm(Enum):
    """Output format of content."""

    MARKDOWN = "markdown"
    TEXT = "text"
    HTML = "html"


_SHOWN: Final = re.compile(r"\s*(?:mailto|tel):[^\x00-\x20]*\s*$", re.ASCII | re.IGNORECASE)
_LINKS: Final = {"a": "href", "area": "href", "img": "src"}
_NO_FRAGMENT: Final = re.compile(r"[\x00-\x20\"'()<>\\^`{|}\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_LANGUAGE: Final = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|sourceCode\s+|brush:\s*)([a-zA-Z][\w+#.-]{0,30})"
)
_NO_LANGUAGE: Final = frozenset({"default", "none", "text", "plaintext", "plain", "notranslate", "numbers"})
_ACTIVE: Final = (
    "iframe", "frame", "object", "embed", "input", "textarea", "link", "meta", "base", "svg", "math", "noembed",
    "noframes",
)  # fmt: skip
_WORDED: Final = ("textarea", "svg", "math")  # of those: elements whose words Markdown keeps
_RAW: Final = ("xmp", "plaintext", "listing")  # whose text is written unescaped
_ATTRIBUTES: Final = frozenset(
    {"href", "src", "alt", "title", "lang", "dir", "id", "name", "class", "colspan", "rowspan", "start"}
)
_OF_MARKDOWN: Final = frozenset({"align", "type", "checked"})  # of columns and tasks
_LEADS: Final = frozenset({"href", "src"})
_CLUTTER: Final = "a.headerlink, a.anchor, a.anchorjs-link, .linenos, .lineno, .linenodiv, .gutter, button, select"
_HOLDERS: Final = (
    "li", "ul", "ol", "dt", "dd", "dl", "h1", "h2", "h3", "h4", "h5", "h6", "a", "p", "pre", "blockquote", "table",
    "nav", "header", "footer", "aside", "form",
)  # fmt: skip
_MOST_LEVELS: Final = 3  # elements above a code block that may name its language


def markdown(body: bytes, url: str, content_type: str = "") -> str:
    r"""Return the main content of a page as Markdown, with absolute links including fragments.

    Links to the web, mail addresses and telephone numbers are kept; of others, such as scripts and data, only the
    words stay. Invisible characters are removed.

    Examples
    --------
    >>> markdown(b"<h1>A</h1><p>one <a href=b#c>two</a>", "http://example.org/")
    '# A\n\none [two](http://example.org/b#c)'
    """
    return rendered(body, url, content_type, ContentForm.MARKDOWN)


def rendered(body: bytes, url: str, content_type: str, form: ContentForm, *, whole: bool = False) -> str:
    """Return the main content of a page, or with `whole` the entire page, as Markdown or HTML.

    Examples
    --------
    >>> rendered(b"<nav>Menu</nav><h1>Tea</h1><p>Boil water.", "http://example.org/", "", ContentForm.HTML)
    '<body><h1>Tea</h1><p>Boil water.</p></body>'
    """
    tree = parsed(body, content_type)
    for clutter in tree.select(_CLUTTER):
        if clutter.tag != "a" or len(clutter.text.strip()) < 2:
            clutter.decompose()
    found = tree.find("body") if whole else main_content(tree)
    if found is None:
        return ""
    _drop_empty(found)
    _link(found, base_of(tree, url))
    if form is ContentForm.HTML:
        return _clean(_bare(found).serialize())
    _name_languages(found)
    return _clean(untangle(_bare(found, worded=_WORDED, kept=_OF_MARKDOWN)).to_markdown(_layout()))


@cache
def _layout() -> turbohtml.Markdown:
    """Return the Markdown options: source of table cells is never copied, because nothing escapes it."""
    import turbohtml

    return turbohtml.Markdown(tables=turbohtml.Markdown.Tables(cell_blocks="text"))


def _drop_empty(found: turbohtml.Element) -> None:
    """Remove elements that have lost all their words, so that no empty items and headings are left."""
    for element in reversed(found.find_all(list(_HOLDERS))):
        if not element.text.strip() and element.find("img") is None:
            element.decompose()


def _link(found: turbohtml.Element, base: str) -> None:
    """Make links absolute, and replace those without a valid target by their words."""
    import turbohtml

    for element in found.find_all(list(_LINKS)):
        name = _LINKS[element.tag]
        reference = element.attr(name)
        if reference is None:
            continue
        target = _absolute(reference, base)
        if target:
            element.attrs[name] = target
        elif element.tag == "img":
            element.replace_with(turbohtml.Text(element.attr("alt") or ""))
        else:
            del element.attrs[name]


def _absolute(reference: str, base: str) -> str:
    """Return a link's absolute target; "" if it must not be shown."""
    target = normalise(reference, base)
    if target is None:
        return _encoded(reference.strip()) if _SHOWN.match(reference) else ""
    fragment = _encoded(reference.partition("#")[2].strip())
    return f"{target}#{fragment}" if fragment else target


def _encoded(part: str) -> str:
    """Percent-encode the characters of an address that could terminate it in the output."""
    return _NO_FRAGMENT.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), part)


def _bare(
    found: turbohtml.Element, *, worded: Sequence[str] = (), kept: frozenset[str] = frozenset()
) -> turbohtml.Element:
    """Return an element without active parts: frames, form fields, and all but harmless attributes.

    Only links and pictures keep their targets. Elements named in `worded` are replaced by their words; attributes
    named in `kept` stay, with the form fields that have them.
    """
    import turbohtml

    for name in (*_ACTIVE, *_RAW):
        if name == "input" and kept:
            continue
        for element in reversed(found.find_all(name)):
            if name in worded or name in _RAW:
                element.replace_with(turbohtml.Text(element.text))
            else:
                element.decompose()
    harmless = _ATTRIBUTES | kept
    for element in found.iter_elements(include_self=True):
        leads = _LINKS.get(element.tag, "")
        for name in [name for name in element.attrs if name not in harmless or (name in _LEADS and name != leads)]:
            del element.attrs[name]
    return found


def _name_languages(found: turbohtml.Element) -> None:
    """Set the language of each code block from its class or that of an enclosing element."""
    import turbohtml

    for block in found.find_all("pre"):
        code = block.find("code")
        holders = [code, block, *(one for one, _ in zip(block.ancestors, range(_MOST_LEVELS), strict=False))]
        said = (_language(str(one.attr("class") or "")) for one in holders if isinstance(one, turbohtml.Element))
        language = next((one for one in said if one), "")
        if language:
            (code if code is not None else block).attrs["class"] = f"language-{language}"


def _language(classes: str) -> str:
    """Return the language that a class attribute names.

    >>> _language("highlight-python3 notranslate"), _language("code lang-c++"), _language("highlight")
    ('python3', 'c++', '')
    """
    return next((one for one in _LANGUAGE.findall(classes) if one.lower() not in _NO_LANGUAGE), "")


def _clean(text: str) -> str:
    """Return a text valid as UTF-8, without invisible characters."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return visible(text)

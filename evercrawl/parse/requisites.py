"""Page requisites: the images, styles, scripts, fonts, media, icons and manifests a browser loads to show a document.

References
----------
HTML Living Standard, sections 4.2.4 (link), 4.8.4 (images, srcset) and 4.12.1 (scripts); CSS Syntax Module Level 3,
sections 4.3.6 (url-token) and 4.3.7 (escapes); Web Application Manifest, section 2 (icons).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec

from evercrawl.decoding import json_of
from evercrawl.parse.encoding import decode
from evercrawl.parse.tree import base_of
from evercrawl.parse.urls import resolve

if TYPE_CHECKING:
    import turbohtml

MOST: Final = 1_000
"""Of one document."""
STYLE: Final = "text/css"
SCRIPTS: Final = ("text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript")
MANIFESTS: Final = ("application/manifest+json",)
_MOST_CHARS: Final = 4 << 20  # of a style sheet that are examined
_MOST_SCRIPT: Final = 1 << 20  # and of a script, whose imports come first
_SOURCES: Final = {
    "img": ("src", "data-src", "data-lazy-src"), "source": ("src",), "video": ("src", "poster"), "audio": ("src",),
    "track": ("src",), "script": ("src",), "input": ("src",), "embed": ("src",), "object": ("data",),
    "body": ("background",), "table": ("background",), "td": ("background",), "th": ("background",),
    "image": ("href", "xlink:href"), "use": ("href", "xlink:href"), "feimage": ("href", "xlink:href"),
}  # fmt: skip
_SETS: Final = {"img": ("srcset", "data-srcset"), "source": ("srcset", "data-srcset"), "link": ("imagesrcset",)}
_RELATIONS: Final = frozenset(
    ("stylesheet", "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon", "fluid-icon", "manifest",
     "preload", "modulepreload", "image_src")
)  # fmt: skip
_TAGS: Final = [*_SOURCES, "link", "style", "template"]
_CSS: Final = re.compile(
    r"""/\*.*?(?:\*/|\Z)
    | @import\s*+(?P<import>"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+')
    | \burl\(\s*+(?P<url>"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|(?:[^\s"'()\\]|\\[0-9a-fA-F]{1,6}\s?|\\.)*+)\s*+\)
    | (?P<set>image-set\()
    | (?P<string>"(?:[^"\\\n]|\\.)*+" | '(?:[^'\\\n]|\\.)*+')
    | "(?:[^"\\\n]|\\.)*+ | '(?:[^'\\\n]|\\.)*+""",  # an unclosed string is passed over whole
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_ESCAPE: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|\n|(.))", re.DOTALL)
_SPECIFIER: Final = re.compile(
    r"""(?:^|[;}\s])(?:import|export)\b(?>[^;"'`()]{0,400})["']((?:\.{0,2}/|https?://)[^"'\s]{1,2000})["']"""
)
_DYNAMIC: Final = re.compile(r"""\bimport\(\s*["']((?:\.{0,2}/|https?://)[^"'\s]{1,2000})["']\s*\)""")
_CANDIDATE: Final = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)")
_DESCRIPTORS: Final = re.compile(r"(?:[^,(]++|\([^)]*+(?:\)|\Z))*+")  # to a comma outside brackets, which may stay open


class _Picture(msgspec.Struct):
    src: str = ""


class _Manifest(msgspec.Struct):
    icons: list[_Picture] = []
    screenshots: list[_Picture] = []


def of_page(body: bytes, url: str, content_type: str = "") -> list[str]:
    """Return the URLs of an HTML page's requisites, in order, without repetitions.

    Examples
    --------
    >>> page = b'<link rel=icon href=i.png><img src=a.png srcset="b.png 2x, c.png 3x"><p style="background:url(d.gif)">'
    >>> [each.rpartition("/")[2] for each in of_page(page, "http://a.example/")]
    ['i.png', 'a.png', 'b.png', 'c.png', 'd.gif']
    """
    import turbohtml  # imported late: 70 ms that a crawl without requisites never needs

    tree = turbohtml.parse(decode(body, content_type)[0], positions=False)
    found = list[str]()
    for element in tree.find_all(list[Any](_TAGS)):
        found += _of_element(element)
    for element in tree.find_all(attrs={"style": True}):
        found += of_css(element.attr("style") or "")
    return _resolved(found, base_of(tree, url))


def of_body(body: bytes, url: str, content_type: str) -> list[str]:
    """Return the URLs of the requisites of a style sheet, a script or a manifest; none for anything else.

    Examples
    --------
    >>> of_body(b"@import 'b.css'; @font-face { src: url(f.woff2) }", "http://a.example/s/a.css", "text/css")
    ['http://a.example/s/b.css', 'http://a.example/s/f.woff2']
    >>> of_body(b"import {a} from './m.js'; import(`x`)", "http://a.example/s/a.js", "text/javascript")
    ['http://a.example/s/m.js']
    """
    mime = content_type.partition(";")[0].strip().lower()
    path = url.partition("?")[0].partition("#")[0]
    if mime == STYLE:
        return _resolved(of_css(_text(body, content_type)), url)
    if mime in SCRIPTS:
        text = _text(body, content_type)[:_MOST_SCRIPT]
        found = [match[1] for pattern in (_SPECIFIER, _DYNAMIC) for match in pattern.finditer(text)]
        return _resolved(found, url)
    if mime == "image/svg+xml":
        return _resolved(_of_svg(body), url)
    if mime in MANIFESTS or (mime == "application/json" and path.endswith(("manifest.json", ".webmanifest"))):
        return _resolved(_of_manifest(body), url)
    return []


def of_css(text: str) -> list[str]:
    r"""Return the URLs in a style sheet, as written, with escapes decoded.

    >>> of_css("a { b: url( 'x\\'y.png' ) } /* url(no) */ @import \"c.css\"; d::before { content: 'url(no)' }")
    ["x'y.png", 'c.css']
    >>> of_css("a { background: image-set('p.png' 1x, url(q.png) 2x) }")
    ['p.png', 'q.png']
    """
    found, within = list[str](), 0
    for match in _CSS.finditer(text[:_MOST_CHARS]):
        if match["set"]:
            within = within if match.end() < within else _closing(text, match.end())
            continue
        written = match["import"] or match["url"]
        if written is None and match.start() < within and match["string"]:
            before = text[max(match.start() - 5, 0) : match.start()]
            written = None if before.lower().endswith("type(") else match["string"]
        if written:
            quoted = written[0] in "\"'"
            found.append(_ESCAPE.sub(_unescaped, written[1:-1] if quoted else written))
    return [each for each in found if each]


def of_srcset(text: str) -> list[str]:
    """Return the URLs of a srcset, split as the HTML standard does, in linear time.

    >>> of_srcset("a.png, b,c.png 2x,d.png 100w , data:image/png;base64,AA== 3x")
    ['a.png', 'b,c.png', 'd.png', 'data:image/png;base64,AA==']
    """
    found, at = list[str](), 0
    while len(found) < MOST and (candidate := _CANDIDATE.match(text, at)):
        word, at = candidate[1].rstrip(","), candidate.end()
        found.append(word)
        if word == candidate[1] and (descriptors := _DESCRIPTORS.match(text, at)):
            at = descriptors.end()
    return found


def _of_element(element: turbohtml.Element) -> Iterator[str]:
    tag = element.tag.lower()
    if tag == "style":
        yield from of_css(element.text)
        return
    if tag == "link":
        relations = set((element.attr("rel") or "").lower().split())
        if relations & _RELATIONS and (href := element.attr("href")):
            yield href
    if tag == "input" and (element.attr("type") or "").lower() != "image":
        return
    for name in _SOURCES.get(tag, ()):
        if value := element.attr(name):
            yield value
    for name in _SETS.get(tag, ()):
        if value := element.attr(name):
            yield from of_srcset(value)


def _of_svg(body: bytes) -> Iterator[str]:
    import turbohtml

    tree = turbohtml.parse(decode(body, "text/html")[0], positions=False)
    for element in tree.find_all(["image", "use", "style", "feimage"]):
        yield from _of_element(element)


def _of_manifest(body: bytes) -> Iterator[str]:
    try:
        said = json_of(body, _Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return
    for each in [*said.icons, *said.screenshots]:
        yield each.src


def _text(body: bytes, content_type: str) -> str:
    return decode(body, content_type)[0] if "charset" in content_type.lower() else body.decode("utf-8", "replace")


def _closing(text: str, start: int) -> int:
    """Return the position of the bracket that closes the one opened before `start`, or how far it is looked for."""
    depth, end = 1, min(len(text), start + 1000)
    for at in range(start, end):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if not depth:
            return at
    return end


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        code = int(match[1], 16)
        return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\N{REPLACEMENT CHARACTER}"
    return match[2] or ""


def _resolved(found: Iterator[str] | list[str], base: str) -> list[str]:
    return resolve(base, [each for each in found if each.lstrip()[:5].lower() != "data:"])[:MOST]

"""Ends of the parts of a page without markup: raw text, scripts, comments (HTML standard, section 13.2.5)."""

from evercrawl.kernels.build import compiled
from evercrawl.parse._bytes_kernel import Bytes, ends_name, is_word, spelt, upto

_SCRIPT, _OPEN, _CLOSE, _CDATA = spelt(b"script"), spelt(b"<!--"), spelt(b"-->"), spelt(b"<![cdata[")


@compiled
def _tag_at(src: Bytes, i: int, n: int, name: Bytes) -> bool:
    """Return whether a complete tag `name` is at `i`."""
    j = i + len(name)
    return j < n and ends_name(src[j]) and is_word(src, i, n, name)


@compiled
def raw_end(src: Bytes, i: int, n: int, name: Bytes) -> int:
    """Return the start of the end tag of the raw text element `name`, or the end of the page."""
    while i < n:
        if src[i] == 60 and i + 1 < n and src[i + 1] == 47 and _tag_at(src, i + 2, n, name):
            return i
        i += 1
    return n


@compiled
def script_end(src: Bytes, i: int, n: int) -> int:
    """Return the start of a script's end tag; within `<!--`, a script may contain a script and its end tag."""
    escaped = nested = False
    while i < n:
        if src[i] == 60 and i + 1 < n:
            if src[i + 1] == 47 and _tag_at(src, i + 2, n, _SCRIPT):
                if not nested:
                    return i
                nested = False
            elif not escaped and is_word(src, i, n, _OPEN):
                escaped = True
                i += 1  # the dashes may also close: <!-->
            elif escaped and _tag_at(src, i + 1, n, _SCRIPT):
                nested = True
        elif escaped and src[i] == 45 and is_word(src, i, n, _CLOSE):
            escaped = nested = False
        i += 1
    return n


@compiled
def comment_end(src: Bytes, i: int, n: int) -> int:
    """Return the position after the comment that opens at `i`."""
    j = i + 4
    if j < n and src[j] == 62:
        return j + 1
    if j + 1 < n and src[j] == 45 and src[j + 1] == 62:
        return j + 2
    while j + 2 < n:
        if src[j] == 45 and src[j + 1] == 45:
            if src[j + 2] == 62:
                return j + 3
            if src[j + 2] == 33 and j + 3 < n and src[j + 3] == 62:
                return j + 4
        j += 1
    return n


@compiled
def declaration_end(src: Bytes, i: int, n: int, foreign: bool) -> int:
    """Return the position after the comment, declaration, instruction or invalid end tag at `i`."""
    if is_word(src, i, n, _OPEN):
        return comment_end(src, i, n)
    if foreign and is_word(src, i, n, _CDATA):
        return i + len(_CDATA)  # its contents are text
    return min(upto(src, i, n, 62) + 1, n)

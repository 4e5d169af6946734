"""Ampersands in XML that begin no reference, as many sites write them in URLs, escaped so that a parser goes on."""

import re
from typing import Final

_MAX_REFERENCE_CHARS: Final = 40
_AMPERSAND: Final = re.compile(  # one that begins no reference
    rf"&(?!(?:#[0-9]{{1,{_MAX_REFERENCE_CHARS}}}|#x[0-9A-Fa-f]{{1,{_MAX_REFERENCE_CHARS}}}"
    rf"|[^\W\d][\w.:-]{{0,{_MAX_REFERENCE_CHARS}}});)"
)
_MAY_GO_ON: Final = re.compile(rf"&#?[\w.:-]{{0,{_MAX_REFERENCE_CHARS + 1}}}\Z")
_SECTION_BEGINS: Final = "<![CDATA["
_SECTION_ENDS: Final = "]]>"


class Ampersands:
    """Escapes the ampersands of one file that begin no reference, in text that comes in pieces.

    In CDATA sections every ampersand stands for itself already.

    Examples
    --------
    >>> ampersands = Ampersands()
    >>> ampersands.escaped("<loc>/?a=1&b=2&am"), ampersands.escaped("p;c<![CDATA[&]]>&"), ampersands.rest()
    ('<loc>/?a=1&amp;b=2', '&amp;c<![CDATA[&]]>', '&amp;')
    """

    def __init__(self) -> None:
        self._held = ""  # the end of the last piece, where a reference, a section or its end may have begun
        self._in_section = False

    def escaped(self, piece: str) -> str:
        """Return the text up to about the end of a piece; what it leaves out comes with the next."""
        text, self._held = self._held + piece, ""
        done, at = list[str](), 0
        while at < len(text):
            mark = _SECTION_ENDS if self._in_section else _SECTION_BEGINS
            found = text.find(mark, at)
            to = found + len(mark) if found >= 0 else self._undecided(text, at)
            done.append(text[at:to] if self._in_section else _AMPERSAND.sub("&amp;", text[at:to]))
            if found < 0:
                self._held = text[to:]
                break
            self._in_section = not self._in_section
            at = to
        return "".join(done)

    def rest(self) -> str:
        """Return what was left out, at the end of the file."""
        return self._held if self._in_section else _AMPERSAND.sub("&amp;", self._held)

    def _undecided(self, text: str, at: int) -> int:
        """Return where the end of a text begins whose meaning depends on the next piece; the length if none does."""
        if self._in_section:
            return max(len(text) - len(_SECTION_ENDS) + 1, at)
        near = max(len(text) - _MAX_REFERENCE_CHARS - 3, at)
        begun = max(text.rfind("&", near), text.rfind("<", near))
        if begun >= 0 and (_MAY_GO_ON.match(text, begun) or _SECTION_BEGINS.startswith(text[begun:])):
            return begun
        return len(text)

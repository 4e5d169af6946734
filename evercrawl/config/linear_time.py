r"""Python's regular expressions, matched in linear time by RE2 with the meaning that Python gives them.

RE2 reads some of the syntax differently: its `\w`, `\d`, `\s` and `\b` know ASCII only, its `$` does not match before
a final newline, and it ignores case without the Turkish letters. So each such part is replaced by the characters
that Python's own matcher finds for it, and an expression whose meaning cannot be kept is refused.

References
----------
Cox (2007). Regular Expression Matching Can Be Simple And Fast.
"""

from __future__ import annotations

import functools
import re
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LACKS", "linear_search", "translated"]

LACKS: Final = "without look-around, back references and possessive repeats"
"""What RE2 does not support."""

_NO: Final = f"pages are searched in linear time, {LACKS}"
_CODES: Final = 0x110000
_ASCII: Final = "".join(map(chr, range(128)))
_TOKEN: Final = re.compile(
    r"\\(?:N\{[^}]*\}|U.{8}|u.{4}|x..|0[0-7]{0,2}|[1-3][0-7]{2}|[1-9]\d?|.)"  # an escape
    r"|\[\^?\]?(?:\\.|[^\]\\])*\]"  # a class
    r"|\(\?[a-zA-Z-]*[:)]|\(\?P<\w+>|\("  # a group, or flags
    r"|\{,(?=\d*\})|.",
    re.DOTALL,
)
_ESCAPED_SIGN: Final = re.compile(r"\\[!-/:-@\[-^`{-~]")
_SINGLE: Final = re.compile(r"\\[1-9]\d?")
_BOUNDARY: Final = frozenset(["\\b", "\\B"])
_NOT_LAST: Final = "in pages, nothing may follow $ in the same branch"


def linear_search(pattern: str, *, urls: bool) -> Callable[[str], bool]:
    r"""Return a function that tells whether Python would find an expression in a text, in time linear in its length.

    Parameters
    ----------
    pattern
        A regular expression that Python compiles.
    urls
        Whether every text is a normalised URL: ASCII, without newlines. Then `\b` needs no flag.

    Raises
    ------
    re.error
        RE2 does not support the expression, or would give it another meaning.

    Examples
    --------
    >>> found = linear_search(r"\w+: \d+$", urls=False)
    >>> [found(text) for text in ("Größe: 12", "Größe: ١٢\n", "Größe: 12 ")]
    [True, True, False]
    """
    import re2  # here, because every help imports this file

    text, before_newline = translated(pattern, urls=urls)
    options = re2.Options()
    options.log_errors, options.never_capture = False, True
    try:
        search = re2.compile(text.encode(), options).search
    except UnicodeEncodeError as error:
        raise re.error("it names half a character (a surrogate)") from error
    except re2.error as error:
        large = "too large" in str(error) or "repetition" in str(error)
        raise re.error("it repeats too often to be matched in linear time" if large else _NO) from error

    def found(searched: str) -> bool:
        encoded = searched.encode("utf-8", "replace")
        if search(encoded) is not None:
            return True
        return before_newline and encoded.endswith(b"\n") and search(encoded[:-1]) is not None

    return found


def translated(pattern: str, *, urls: bool) -> tuple[str, bool]:
    r"""Return an expression in RE2's syntax, and whether its `$` also matches before the newline that ends a text.

    Parameters
    ----------
    pattern
        A regular expression that Python compiles.
    urls
        Whether every text is a normalised URL.

    Raises
    ------
    re.error
        The meaning cannot be kept.

    Examples
    --------
    >>> translated(r"[\da-f]{,4}\s$", urls=True)
    ('[\\x{30}-\\x{39}\\x{61}-\\x{66}]{0,4}[\\x{9}-\\x{d}\\x{1c}-\\x{20}]$', False)
    """
    return _Translation(pattern, urls=urls).result()


@dataclass(slots=True)
class _Group:
    """The modes within a group, and whether it has a `$` that matches only at the end of the text."""

    modes: re.RegexFlag
    ends: bool = False


class _Translation:
    """One expression on its way from Python's syntax to RE2's."""

    def __init__(self, pattern: str, *, urls: bool) -> None:
        self._pattern, self._urls = pattern, urls
        self._groups = [_Group(re.NOFLAG)]
        self._last, self._ends, self._absolute = False, False, False

    def result(self) -> tuple[str, bool]:
        """Return the translated expression, and whether it has a `$` that is not one of lines."""
        parts = [self._part(token) for token in _TOKEN.findall(self._pattern)]
        if self._ends and self._absolute:
            raise re.error(r"in pages, use $ or \Z, not both")
        return "".join(parts), self._ends

    def _part(self, token: str) -> str:
        if self._last and token not in (")", "|"):
            raise re.error(_NOT_LAST)
        self._last = False
        group = self._groups[-1]
        if token == ")":
            self._close()
        elif token == "(" or token.startswith("(?P<"):
            self._groups.append(_Group(group.modes))
        elif token.startswith("(?"):
            return self._flags(token)
        elif token == "$" and not (self._urls or group.modes & re.MULTILINE):
            self._last = self._ends = group.ends = True
        elif token == "{,":
            return "{0,"
        elif token in (r"\Z", r"\z"):
            self._absolute = True
            return r"\z"
        elif token in _BOUNDARY and not (self._urls or group.modes & re.ASCII):
            raise re.error(rf"in pages, {token} works for ASCII words only: begin the expression with (?a)")
        elif _SINGLE.fullmatch(token):
            raise re.error(_NO)
        elif self._differs(token, group.modes):
            return self._characters(token, group.modes)
        elif token[0] == "[" and len(token) > 1:
            return "[" + token[1:-1].replace("[", r"\[") + "]"
        return token

    def _close(self) -> None:
        group = self._groups.pop()
        if not self._groups:
            raise re.error("unbalanced parenthesis")
        self._last = group.ends
        self._groups[-1].ends |= group.ends

    def _flags(self, token: str) -> str:
        """Return what begins a group with flags, or flags alone; the sets of characters need no flag for ASCII."""
        on, _, off = token[2:-1].partition("-")
        flags = self._groups[-1].modes
        for letters, add in ((on, True), (off, False)):
            for letter in letters:
                flag = re.RegexFlag[letter.upper()]
                if flag & re.VERBOSE:
                    raise re.error("in pages, the flag x is not supported")
                flags = flags | flag if add else flags & ~flag
        if "u" in on:
            flags &= ~re.ASCII
        if token[-1] == ":":
            self._groups.append(_Group(flags))
        else:
            self._groups[-1].modes = flags
        kept = "".join(letter for letter in on if letter not in "au") + (f"-{off}" if off else "")
        return f"(?{kept}{token[-1]}" if kept or token[-1] == ":" else ""

    @staticmethod
    def _differs(token: str, flags: re.RegexFlag) -> bool:
        """Whether RE2 might find other characters than Python."""
        if token[0] == "\\":
            return token not in (r"\A", *_BOUNDARY) and not _ESCAPED_SIGN.fullmatch(token)
        if token[0] == "[" and len(token) > 1:
            return "\\" in token or bool(flags & re.IGNORECASE)
        if not flags & re.IGNORECASE:
            return False
        return token in "iI\u0130\u0131" or bool(flags & re.ASCII and (token in "kKsS" or not token.isascii()))

    def _characters(self, token: str, flags: re.RegexFlag) -> str:
        kept = flags & (re.IGNORECASE | re.ASCII)
        found = _ranges(token, int(kept), urls=self._urls)
        return f"(?-i:{found})" if flags & re.IGNORECASE else found


@functools.lru_cache(256)
def _ranges(one: str, flags: int, *, urls: bool) -> str:
    """Return the class, in RE2's syntax, of the characters that an expression for one character matches in Python."""
    found = re.finditer(f"(?:{one})+", _ASCII if urls else _every_character(), flags)
    ranges = [f"\\x{{{each.start():x}}}-\\x{{{each.end() - 1:x}}}" for each in found]
    return f"[{''.join(ranges)}]" if ranges else r"[^\x{0}-\x{10ffff}]"


@functools.cache
def _every_character() -> str:
    return array("I", range(_CODES)).tobytes().decode("utf-32", "surrogatepass")

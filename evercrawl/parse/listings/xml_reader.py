"""Incremental XML events, with a limit on everything that a file could inflate.

Nothing is expanded: a document type that could declare entities, in itself or in a file that only it names, ends the
reading before it is parsed; the public name of a standard type is ignored. An undeclared entity is omitted. An
ampersand that begins no reference stands for itself: many sites write their URLs so. Everything read before an error
is kept.
"""

from collections.abc import Callable
from typing import Final, Protocol
from xml.parsers import expat

from evercrawl.parse.listings.ampersands import Ampersands

MAX_DEPTH: Final = 64
MAX_ELEMENTS: Final = 1_000_000
MAX_NAMES: Final = 2_000  # distinct names of elements and attributes; the parser interns each
MAX_TEXT_CHARS: Final = 8_192  # of one element; a longer text counts as empty
MAX_QUIET_CHARS: Final = 1 << 20  # without an element: the parser rescans an unfinished tag with every piece


class Elements(Protocol):
    """A handler of the elements of one kind of file; names are as written, including the prefix."""

    def start(self, name: str, attributes: dict[str, str], depth: int) -> bool:
        """Handle the start of an element (the root's depth is 1); return whether its text is needed."""
        ...

    def end(self, name: str, text: str, depth: int) -> None:
        """Handle the end of an element; the text is "" if it was not needed."""
        ...


class _StopError(Exception):
    """Reading must stop; the argument gives the reason."""


class XmlReader:
    """A reader of one file.

    Parameters
    ----------
    kind_of
        Maps name and attributes of the root to a handler; None for an irrelevant file.
    most_elements
        Number of elements at which reading stops.

    Attributes
    ----------
    trouble
        Why reading ended early, class first; "" without an error. Once set, further input is ignored.

    Examples
    --------
    >>> class Words:
    ...     def __init__(self) -> None:
    ...         self.said = list[str]()
    ...     def start(self, name: str, attributes: dict[str, str], depth: int) -> bool:
    ...         return name == "b"
    ...     def end(self, name: str, text: str, depth: int) -> None:
    ...         self.said += [text] if text else []
    >>> words = Words()
    >>> reader = XmlReader(lambda root, attributes: words)
    >>> reader.feed("<a><b>one</b><b>&lt;<![CDATA[t]]>wo&nbsp;</b><c>three")
    >>> words.said, reader.trouble
    (['one', '<two'], '')
    >>> reader.feed("</b>")
    >>> reader.trouble
    'broken: mismatched tag: line 1, column 55'
    """

    def __init__(
        self, kind_of: Callable[[str, dict[str, str]], Elements | None], most_elements: int = MAX_ELEMENTS
    ) -> None:
        self.trouble = ""
        self._kind_of = kind_of
        self._most_elements = most_elements
        self._elements: Elements | None = None
        self._names: dict[str, str] = {}
        self._depth = self._count = self._quiet_chars = self._chars = 0
        self._parts: list[str] | None = None  # of the text needed
        self._wanted_depth = 0
        self._ampersands = Ampersands()
        self._parser = parser = expat.ParserCreate(intern=self._names)
        parser.buffer_text = True
        parser.UseForeignDTD(True)  # then an undeclared entity is no error
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end

    def feed(self, text: str) -> None:
        """Parse the next piece."""
        self._quiet_chars += len(text)
        self._parse(self._ampersands.escaped(text), last=False)
        if not self.trouble and self._quiet_chars > MAX_QUIET_CHARS:
            self.trouble = f"large: {MAX_QUIET_CHARS} characters without an element"
        elif not self.trouble and len(self._names) > MAX_NAMES:
            self.trouble = f"many: more than {MAX_NAMES} names"

    def close(self) -> None:
        """Handle the end of the file."""
        self._parse(self._ampersands.rest(), last=True)

    def _parse(self, text: str, *, last: bool) -> None:
        if self.trouble:
            return
        try:
            self._parser.Parse(text, last)
        except expat.ExpatError as error:
            self.trouble = f"broken: {error}"
        except _StopError as stop:
            self.trouble = str(stop)

    def _doctype(self, _: str, system: str | None, public: str | None, declares: int) -> None:
        if declares or (system and not public):
            raise _StopError("doctype: a file whose document type may declare entities is not read")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._count += 1
        self._quiet_chars = 0
        if self._depth > MAX_DEPTH:
            raise _StopError(f"deep: elements within more than {MAX_DEPTH} others")
        if self._count > self._most_elements:
            raise _StopError(f"many: more than {self._most_elements} elements")
        if self._elements is None:
            self._elements = self._kind_of(name, attributes)
            if self._elements is None:
                raise _StopError(f"other: the root is {name[:100]}")
        if self._elements.start(name, attributes, self._depth) and self._parts is None:
            self._parts, self._chars, self._wanted_depth = [], 0, self._depth
            self._parser.CharacterDataHandler = self._text

    def _text(self, text: str) -> None:
        self._chars += len(text)
        if self._parts is not None and self._chars <= MAX_TEXT_CHARS:
            self._parts.append(text)

    def _end(self, name: str) -> None:
        text = ""
        if self._parts is not None and self._depth == self._wanted_depth:
            text = "".join(self._parts).strip() if self._chars <= MAX_TEXT_CHARS else ""
            self._parts = None
            self._parser.CharacterDataHandler = None
        assert self._elements is not None, "an element ends that began"
        self._elements.end(name, text, self._depth)
        self._depth -= 1

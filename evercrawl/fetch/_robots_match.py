"""The matching half of robots.txt: finds the longest rule that matches a path, in linear time."""

import re
from bisect import bisect_right
from collections.abc import Iterable

__all__ = ["Rules", "normal_path", "normal_pattern"]

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_TRIPLET = "%[0-9A-Fa-f]{2}"
_ODD = r'\x00-\x20"<>\\^`{|}\x7f'  # ASCII that a URI may only hold percent-encoded, although browsers leave some of it
_IN_PATTERN = re.compile(f"{_TRIPLET}|[{_ODD}\x80-\xff]")
_IN_PATH = re.compile(f"{_TRIPLET}|[{_ODD}*$]")
_MOST_CHARS = 4 << 20  # characters examined for one verdict, some 10 ms; a file that needs more closes the site
_OPEN_RANK = 1  # "allow" by a rule of length 0, the default if nothing matches

# rank, text before the first `*`, the texts between stars, text after the last `*` when the pattern ends with `$`
_Wild = tuple[int, str, tuple[str, ...], str | None]


def _recode(found: re.Match[str]) -> str:
    text = found[0]
    if len(text) == 1:
        return f"%{ord(text):02X}"
    char = chr(int(text[1:], 16))
    return char if char in _UNRESERVED else text.upper()


def normal_path(path: str) -> str:
    """Return a URL's path and query in the form that `normal_pattern` gives to rules.

    Unreserved octets are decoded, other triplets get upper-case digits, and characters that a URI may not hold raw
    are encoded. So are `*` and `$`, which are ordinary characters in a path.

    Examples
    --------
    >>> normal_path("/%7ejoe/a%2fb|*")
    '/~joe/a%2Fb%7C%2A'
    """
    return _IN_PATH.sub(_recode, path)


def normal_pattern(value: str) -> str:
    """Return a rule's value, given as Latin-1 text of its bytes, percent-encoded; `*` and `$` keep their meaning.

    Examples
    --------
    >>> normal_pattern("/foo/bar/ツ*".encode().decode("latin-1"))
    '/foo/bar/%E3%83%84*'
    """
    return _IN_PATTERN.sub(_recode, value)


class Rules:
    """The rules of one agent, prepared for matching; immutable.

    A rule's rank is twice its length, plus one if it allows. The highest rank that matches decides, so the longest
    rule wins, and `allow` wins ties. Rules without wildcards are in one sorted list, each with a pointer to the
    longest other rule that is a prefix of it: any rule that is a prefix of a path is the last entry not after the
    path, or a prefix of that entry. Rules with wildcards are tried from the highest rank down; the parts of each are
    matched from left to right at their first position, without backtracking.

    Parameters
    ----------
    rules
        (allow, pattern) with the pattern from `normal_pattern`; empty patterns are ignored.

    Examples
    --------
    >>> rules = Rules([(False, "/"), (True, "/docs/"), (False, "/*.pdf$")])
    >>> [rules.allowed(path) for path in ("/", "/docs/a", "/docs/a.pdf", "/docs/a.pdf?x")]
    [False, True, False, True]
    """

    __slots__ = ("_coded", "_exact", "_open", "_parents", "_prefixes", "_ranks", "_wild")

    def __init__(self, rules: Iterable[tuple[bool, str]]) -> None:
        ranked: dict[str, int] = {}
        for allow, pattern in rules:
            if pattern:
                ranked[pattern] = max(ranked.get(pattern, 0), 2 * len(pattern) + allow)
        self._open = all(rank & 1 for rank in ranked.values())
        prefixes: dict[str, int] = {}
        self._exact: dict[str, int] = {}
        wild: list[_Wild] = []
        for pattern, rank in ranked.items():
            anchored = pattern.endswith("$")
            first, *rest = (pattern[:-1] if anchored else pattern).replace("$", "%24").split("*")
            if not anchored and not any(rest):  # "/a*" means the same as "/a", but is longer
                prefixes[first] = max(prefixes.get(first, 0), rank)
            elif not rest:
                self._exact[first] = rank
            else:
                tail = rest.pop() if anchored else None
                wild.append((rank, first, tuple(filter(None, rest)), tail))
        self._prefixes = sorted(prefixes)
        self._ranks = [prefixes[prefix] for prefix in self._prefixes]
        self._parents = _parents(self._prefixes)
        for here, parent in enumerate(self._parents):  # "/a**" may outrank "/ab": carry the highest rank down
            if parent >= 0:
                self._ranks[here] = max(self._ranks[here], self._ranks[parent])
        self._wild = sorted(wild, key=lambda rule: -rule[0])
        # Only a rule that contains an encoded octet can distinguish two encodings of a path.
        self._coded = any("%" in pattern or "$" in pattern[:-1] for pattern in ranked)

    def allowed(self, path: str) -> bool:
        """Return whether `path` (with its query, from a normalised URL) may be fetched."""
        if self._open:
            return True
        if self._coded or "%" in path:
            path = normal_path(path)
        best = self._exact.get(path, _OPEN_RANK)
        here = bisect_right(self._prefixes, path) - 1
        while here >= 0:
            if path.startswith(self._prefixes[here]):
                best = max(best, self._ranks[here])
                break
            here = self._parents[here]
        most = _MOST_CHARS // (len(path) + 1)
        for tried, (rank, head, middle, tail) in enumerate(self._wild):
            if rank <= best:
                break
            if tried == most:
                return path == "/robots.txt"
            if path.startswith(head):
                at = len(head)
                for part in middle:
                    at = path.find(part, at)
                    if at < 0:
                        break
                    at += len(part)
                else:
                    if tail is None or (path.endswith(tail) and at + len(tail) <= len(path)):
                        best = rank
                        break
        return best & 1 == 1 or path == "/robots.txt"  # the file itself is always allowed


def _parents(prefixes: list[str]) -> list[int]:
    """Return for each entry of a sorted list the index of the longest other entry that is a prefix of it, or -1."""
    parents: list[int] = []
    for here, prefix in enumerate(prefixes):
        parent = here - 1
        while parent >= 0 and not prefix.startswith(prefixes[parent]):
            parent = parents[parent]
        parents.append(parent)
    return parents

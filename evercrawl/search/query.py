"""Parser of search queries; every input is a valid query."""

import re
from typing import Final

import msgspec

from evercrawl.search.schema import words_of

MOST_WORDS: Final = 32
"""Words of a query that are looked for; whoever pastes a page gets an answer all the same."""

MOST_CHARS: Final = 2_000

_PART = re.compile(r'(-?)(?:(site|host|lang|language):("?)([^\s"]+)"?|"([^"]*)"?|([^\s"]+))', re.IGNORECASE)
_LANGUAGES: Final = ("lang", "language")


class Query(msgspec.Struct, frozen=True):
    """A query.

    Attributes
    ----------
    words
        Distinct words, normalised as in the index: the more of them a page has the better. Those of phrases are
        included.
    typed
        The same in input order, with repetitions.
    phrases
        Phrases, all of which a page must contain.
    without
        Words and phrases, none of which a page may contain.
    sites, without_sites
        Hosts or registrable domains; a page must be on one of the former, and on none of the latter.
    languages, without_languages
        BCP 47 tags; a primary subtag alone includes all of its regions.
    """

    words: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    without: tuple[tuple[str, ...], ...] = ()
    sites: tuple[str, ...] = ()
    without_sites: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    without_languages: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return whether anything is searched for: a site alone suffices, exclusions alone do not."""
        return bool(self.words or self.sites or self.languages)


def parse(text: str) -> Query:
    """Return the query that a text means.

    `words "a phrase" -without -"a phrase" site:example.org lang:en`, in any order. Anything else counts as words.

    Examples
    --------
    >>> query = parse('Hash "open addressing" -python site:example.org lang:de')
    >>> query.words, query.phrases, query.without, query.sites, query.languages
    (('hash', 'open', 'addressing'), (('open', 'addressing'),), (('python',),), ('example.org',), ('de',))
    >>> parse('"unfinished site: ((').words
    ('unfinished', 'site')
    """
    lists: dict[str, list[str]] = {"sites": [], "without_sites": [], "languages": [], "without_languages": []}
    words: list[str] = []
    phrases: list[tuple[str, ...]] = []
    without: list[tuple[str, ...]] = []
    for minus, name, _, value, phrase, plain in _PART.findall(text[:MOST_CHARS]):
        if name:
            kind = "languages" if name.lower() in _LANGUAGES else "sites"
            lists[f"without_{kind}" if minus else kind].append(_name(value, kind))
            continue
        found = tuple(words_of(phrase or plain)[:MOST_WORDS])
        if minus:
            without += [found] if found else []
            continue
        words += found
        if phrase and len(found) > 1:
            phrases.append(found)
    return Query(
        words=tuple(dict.fromkeys(words))[:MOST_WORDS],
        typed=tuple(words[:MOST_WORDS]),
        phrases=tuple(dict.fromkeys(phrases)),
        without=tuple(dict.fromkeys(without))[:MOST_WORDS],
        **{kind: tuple(dict.fromkeys(values)) for kind, values in lists.items()},
    )


def _name(value: str, kind: str) -> str:
    """Return a host or a tag as in the index; for a URL its host."""
    if kind == "languages":
        return value.lower().replace("_", "-")
    return re.sub(r"^https?://|[/:].*$", "", value.lower()).removeprefix(".")

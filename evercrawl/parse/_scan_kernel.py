"""Single-pass scanner of a page's bytes: visible text, links, and the facts in its head.

No tree is built, only counters are kept, so time and memory are linear in the size of the page, however deeply it
nests.
"""

from typing import Any

import numpy as np

from evercrawl.kernels.addresses import ints32_at, ints_at, pointer_at
from evercrawl.kernels.build import compiled, entry, i64, pointer, view
from evercrawl.parse import _tags_kernel as tags
from evercrawl.parse._bytes_kernel import Bytes, Spans, has_token, spelt, upto
from evercrawl.parse._links_kernel import lead_to, one_of, put_link, put_span, put_value
from evercrawl.parse._raw_kernel import declaration_end, raw_end, script_end
from evercrawl.parse._text_kernel import put_text
from evercrawl.types import Spans as Words

MAX_URL_BYTES = 8192
MAX_FACTS = 100
TITLE, LANG, BASE, CANONICAL, ROBOTS, REFRESH, FEED, UNPAID, WITHHELD = b"TLBCMRFUW"
_NOFOLLOW, _CANONICAL, _REFRESH = spelt(b"nofollow"), spelt(b"canonical"), spelt(b"refresh")
_UGC, _SPONSORED, _ALTERNATE = spelt(b"ugc"), spelt(b"sponsored"), spelt(b"alternate")
_RSS, _ATOM = spelt(b"application/rss+xml"), spelt(b"application/atom+xml")
_ROBOTS, _PRODUCT = spelt(b"robots"), spelt(b"evercrawl")


@compiled
def _put_fact(fact: int, src: Bytes, i: int, end: int, out: Bytes, o: int, in_attribute: bool) -> int:
    """Append a fact from the head: a letter, a value, and a NUL."""
    out[o] = fact
    o = put_value(src, i, end, out, o + 1, in_attribute)
    out[o] = 0
    return o + 1


@compiled
def _put_head(kind: int, src: Bytes, values: Spans, out: Bytes, o: int, in_head: bool) -> int:
    """Append the fact in a base, link, meta or html element, if it is a relevant one.

    A canonical URL counts in the head only: the body may contain markup by visitors.
    """
    fact, k = 0, tags.HREF
    if kind == tags.BASE:
        fact = BASE
    elif kind == tags.HTML:
        fact, k = LANG, tags.LANG
    elif kind == tags.LINK:
        if _has(src, values, tags.REL, _CANONICAL):
            fact = CANONICAL if in_head else 0
        elif _has(src, values, tags.REL, _ALTERNATE) and (
            _has(src, values, tags.TYPE, _RSS) or _has(src, values, tags.TYPE, _ATOM)
        ):
            fact = FEED
    elif kind == tags.META:
        k = tags.CONTENT
        if _has(src, values, tags.NAME, _ROBOTS) or _has(src, values, tags.NAME, _PRODUCT):
            fact = ROBOTS
        elif _has(src, values, tags.EQUIV, _REFRESH):
            fact = REFRESH
    if fact and values[k, 0] >= 0:
        return _put_fact(fact, src, values[k, 0], values[k, 1], out, o, True)
    return o


@compiled
def _mark(src: Bytes, values: Spans) -> int:
    """Return the kind of a link that the page does not vouch for: 0 for an ordinary one."""
    if values[tags.REL, 0] < 0:
        return 0
    if _has(src, values, tags.REL, _NOFOLLOW):
        return WITHHELD
    return UNPAID if _has(src, values, tags.REL, _UGC) or _has(src, values, tags.REL, _SPONSORED) else 0


@compiled
def _has(src: Bytes, values: Spans, k: int, word: Bytes) -> bool:
    return has_token(src, values[k, 0], values[k, 1], word)


@compiled
def _opens_text(src: Bytes, i: int, n: int) -> bool:
    """Return whether the `<` at `i` opens no markup, and so is text."""
    c = src[i + 1] if i + 1 < n else 0
    return not (97 <= (c | 32) <= 122 or c == 33 or c == 63 or (c == 47 and i + 2 < n))


@compiled
def _is_tag(src: Bytes, i: int, n: int) -> bool:
    c = src[i + 1] if i + 1 < n else 0
    if c == 47:
        c = src[i + 2] if i + 2 < n else 0
    return 97 <= (c | 32) <= 122


_U8, _I32, _bytes_at = pointer(np.uint8), pointer(np.int32), pointer_at(np.uint8)


@entry(i64, _U8, i64, i64, i64, pointer(np.int64), i64, i64, i64, i64)
def scan(
    src: Any, n: int, max_links: int, xml: int, memory: Any, text_size: int, fact_size: int, max_words: int, rows: int
) -> int:
    """Write text, links and facts of a page in UTF-8, and the spans of the links' words in the text.

    A link that may be followed ends with a newline; a fact is a letter, a value and a NUL. A link that gets no share
    of the page's cash, or must not be followed, is also a fact. For the words of a link, three numbers are written:
    start and end in the text, and the index of the link.

    Repeated links count once, and at most `max_links` are written; the same limit applies to facts about links. The
    words of at most `max_words` links are written.

    At the addresses `memory` are buffers for text, links, facts and words; 3 * `rows` zeros and 16 numbers as
    scratch; and five numbers for results: the bytes, or triples, of each, and the number of links not written.
    """
    at = view(memory, 7)
    text, links = view(_bytes_at(at[0]), text_size), view(_bytes_at(at[1]), fact_size)
    facts, words = view(_bytes_at(at[2]), fact_size), view(ints32_at(at[3]), (max_words, 3))
    lately, values = view(ints32_at(at[4]), (rows, 3)), view(ints_at(at[5]), (tags.VALUES, 2))
    sizes = view(ints_at(at[6]), 5)
    return _scan(view(src, n), max_links, xml != 0, text, links, facts, words, lately, values, sizes)


@entry(i64, _I32, i64, _I32, i64, i64)
def lead(words: Any, n: int, targets: Any, n_links: int, own: int) -> int:
    """Replace the link in each triple by its target; drop triples without a target and those to `own`.

    Return the number of triples left.
    """
    return lead_to(view(words, (n, 3)), view(targets, n_links), own)


@compiled
def _scan(
    src: Bytes, max_links: int, xml: bool,
    text: Bytes, links: Bytes, facts: Bytes, words: Words, lately: Words, values: Spans, sizes: Spans,
) -> int:  # fmt: skip
    n = len(src)
    at_text = at_links = at_facts = n_marks = n_facts = i = 0
    template = noscript = foreign = 0
    gap = titled = False
    in_head = True
    opened, begin = -1, 0  # the open link, and the start of its words
    n_hrefs = n_words = n_cut = 0
    while i < n:
        hidden = template + noscript > 0
        if src[i] != 60:
            if hidden:
                i = upto(src, i, n, 60)
            else:
                i, at_text, gap = put_text(src, i, n, True, text, at_text, gap)
            continue
        if not _is_tag(src, i, n):
            if not _opens_text(src, i, n):
                i = declaration_end(src, i, n, xml or foreign > 0)
                continue
            if not hidden:
                _, at_text, gap = put_text(src, i, i + 1, False, text, at_text, gap)
            i += 1
            continue
        closing = src[i + 1] == 47
        start = i + 1 + closing
        kind, name_end = tags.tag_name(src, start, n)
        wanted = kind >= tags.ANCHOR and not closing and template == 0
        if not wanted and name_end < n and src[name_end] == 62:
            i = name_end + 1
        else:
            i = tags.attributes(src, name_end, n, values, wanted)
            if i < 0:
                break
        gap = gap or tags.BREAKS[kind]
        if in_head and not hidden and not closing:
            in_head = tags.IN_HEAD[kind] or tags.opens_head(src, start, name_end)
        alone = (xml or foreign > 0) and src[i - 2] == 47
        if kind == tags.ANCHOR and opened >= 0 and template == 0:
            n_words = put_span(text, begin, at_text, opened, words, n_words)
            opened = -1
        if wanted and kind > tags.FRAME:
            if n_facts < MAX_FACTS:
                was = at_facts
                at_facts = _put_head(kind, src, values, facts, at_facts, in_head and at_text == 0)
                n_facts += at_facts > was
        elif wanted:
            k = tags.SRC if kind == tags.FRAME else tags.HREF
            size = values[k, 1] - values[k, 0] if values[k, 0] >= 0 else -1
            if 0 <= size <= MAX_URL_BYTES:
                mark = _mark(src, values)
                full = mark != 0 and n_marks >= max_links
                if full:
                    n_cut += mark != WITHHELD
                elif mark:
                    facts[at_facts] = mark
                    at_facts = put_link(src, values[k, 0], values[k, 1], facts, at_facts + 1, 0)
                    n_marks += 1
                if mark != WITHHELD and not full:
                    end = put_link(src, values[k, 0], values[k, 1], links, at_links, 10)
                    link, new = one_of(links, at_links, end, n_hrefs, max_links, lately)
                    if new and n_hrefs < max_links:
                        at_links = end
                        n_hrefs += 1
                    elif new:
                        n_cut += 1
                    if kind == tags.ANCHOR and not mark and not alone and link < n_hrefs and n_words < len(words):
                        opened, begin = link, at_text
        if kind == tags.INLINE or kind == tags.BREAK or kind >= tags.ANCHOR or alone:
            if kind == tags.FRAME and not closing and not alone and src[start] | 32 == 105:
                i = raw_end(src, i, n, src[start:name_end])
        elif closing:
            if kind == tags.TEMPLATE:
                template = max(template - 1, 0)
            elif kind == tags.NOSCRIPT:
                noscript = 0
            elif kind == tags.FOREIGN:
                foreign = max(foreign - 1, 0)
        elif kind == tags.TEMPLATE:
            template += 1
        elif kind == tags.NOSCRIPT:
            noscript = 1
        elif kind == tags.FOREIGN:
            foreign += src[i - 2] != 47
        elif kind == tags.SCRIPT:
            i = script_end(src, i, n)
        elif kind == tags.PLAIN or foreign == 0 or kind == tags.RAW:
            end = n if kind == tags.PLAIN else raw_end(src, i, n, src[start:name_end])
            if kind == tags.TITLE and not titled and template == 0:
                at_facts = _put_fact(TITLE, src, i, end, facts, at_facts, False)
                titled = True
            elif (kind == tags.TEXTAREA or kind == tags.PLAIN) and not hidden:
                _, at_text, gap = put_text(src, i, end, False, text, at_text, gap)
            i = end
    if opened >= 0:
        n_words = put_span(text, begin, at_text, opened, words, n_words)
    sizes[0], sizes[1], sizes[2], sizes[3], sizes[4] = at_text, at_links, at_facts, n_words, n_cut
    return 0

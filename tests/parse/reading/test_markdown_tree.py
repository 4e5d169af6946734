"""What a page says stays words in Markdown, whatever it is put into: its readers get no markup of the page."""

import random
import re

import pytest
from markdown_it import MarkdownIt

from evercrawl.parse.documents.base import Block, DocumentText
from evercrawl.parse.listings.feed import Feed, FeedEntry
from evercrawl.parse.reading.rendering import ContentForm, rendered

URL = "http://a.example/"
WEB = re.compile(r"(?:https?://|mailto:|tel:)", re.IGNORECASE)
HARMLESS = re.compile(r"</?(?:a|br|code|del|em|li|strong|sub|sup|ul|ol|caption|table|tbody|thead|tr|td|th)/?>")
PIECES = (
    "[", "](", "[a](javascript:1)", ")", "&lt;", "&gt;", "`", "``", "```", "\n", "\\", "!", '"', "'", " ", "\t",
    '<a href="mailto:a@b', '<a href="tel:1', '<a href="http://b.example/x', '<a href="javascript:1">', '">', "</a>",
    '<img src="http://b.example/i" alt="', "<b>", "</b>", "<em>", "</em>", "<code>", "</code>", "<pre>", "</pre>",
    "<p>", "</p>", "<ul><li>", "</ul>", "<table><tr><td>", "<table><tr><td>", "</table>", '<td onclick="1">',
    "|", "~~~",
    "#", "&amp;", "&#58;", "&#10;", "&#13;", "&lt;script&gt;", "&lt;!--", "&lt;?", "&lt;javascript:a&gt;", "[r]: ",
    "javascript:x", "word", "<br>", "<del>", "<sup>", "<dl><dt>", "<dd>", "<blockquote>", "<h2>", "</h2>", "1. ", "- ",
    "&nbsp;", "&#x200b;", "*", "_", 'title="', "data:text/html,x", '<abbr title="', "<kbd>", "<math>", "<noembed>",
    "<details><summary>", "<q>", "</q>", "<ruby><rt>", "<figure><figcaption>", '<div class="language-x">',
    '<pre><code class="language-`">', "<textarea>", "<xmp>", "<listing>", "<plaintext>", "<noscript>", "<template>",
    '<span lang="', '<iframe src="javascript:1">', '<svg onload="1">', '<p title="</noscript>',
)  # fmt: skip


def markup(said: str) -> list[str]:
    """Return the links to other places than the web, and the HTML, that a reader of this Markdown gets."""
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    reader.validateLink = lambda _: True
    tokens = reader.parse(said)
    found = list[str]()
    for token in [*tokens, *(inner for block in tokens for inner in block.children or ())]:
        to = token.attrGet("href") or token.attrGet("src")
        if to is not None and not WEB.match(str(to)):
            found.append(str(to))
        if token.type in ("html_block", "html_inline"):
            found += re.findall(r"<[^>]*>?", HARMLESS.sub("", token.content))
    return found


def test_whatever_a_page_is_put_together_from_its_words_stay_words():
    draw = random.Random(0)
    for _ in range(1_500):
        page = "<body><p>start " + "".join(draw.choices(PIECES, k=draw.randrange(3, 30)))
        said = rendered(page.encode(), URL, "text/html; charset=utf-8", ContentForm.MARKDOWN, whole=True)
        assert markup(said) == [], (page, said)


@pytest.mark.parametrize(
    "page",
    [
        "<table><tr><td>a<table><tr><td onclick='x()'><iframe src='javascript:x()'></iframe></table></table>",
        "<table><tr><td>a<table><tr><td>[b](javascript:x())</table></table>",
        "<table><tr><td onclick='x()'>a<td>b<tr><td>c</table>",
        "<table><tr><td colspan=2 onclick='x()'>a<tr><td>b<td><pre>c\n\n[d](javascript:x())</pre></table>",
        "<q><pre>&lt;script&gt;x()&lt;/script&gt;</pre></q>",
        "&lt;&#x200b;script&gt;x()&lt;/script&gt;",
        "<code>`&#x200b;`</code> [b](javascript:x()) <code>``</code>",
        "<code>a<kbd>`</kbd>` [b](javascript:x())</code>",
        "<pre><code class='language-`'>a</code></pre><pre><code>[b](javascript:x())</code></pre>",
        "<a href='tel:1<img/src=x&#47;onerror=x()>'>a</a>",
    ],
)  # fmt: skip
def test_what_readers_took_for_markup(page):
    said = rendered(f"<body>{page}".encode(), URL, "text/html; charset=utf-8", ContentForm.MARKDOWN, whole=True)
    assert [one for one in markup(said) if not one.startswith(("<td colspan", "<pre", "</pre"))] == []
    assert said


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("<table><tr><td>a<td>b<tr><td>c</table>", "| a | b |\n| --- | --- |\n| c |  |"),
        ("<code>a<a href=/b>b</a></code>", "`ab`"),
        ("<pre><code class='language-c x'>a<kbd>b</kbd></code></pre>", "```c\nab\n```"),
        ("<em>a<pre>b</pre></em>", "a\n\n```\nb\n```"),
        ("<ul><li><input type=checkbox checked> a</ul>", "- [x] a"),
        ("<p>a <math><mi>x</mi><mo>=</mo><mn>1</mn></math>", "a x=1"),
    ],
)
def test_what_it_says_it_says_still(page, said):
    assert rendered(f"<body>{page}".encode(), URL, "", ContentForm.MARKDOWN, whole=True) == said


def test_words_of_feeds_and_documents_are_words():
    said = "a](javascript:x()) [b](javascript:x()) <script>x()</script> `c` \\[d](javascript:x())"
    feed = Feed([FeedEntry("http://b.example/)[c](javascript:x()", dated=said)], titles=[said], title=said)
    document = DocumentText([Block(said, 1), Block(said)])
    for told in (feed.markdown, document.markdown):
        assert markup(told) == []
        assert told.count("script") > 0
    assert "[" in document.text


def test_html_leads_nowhere_but_by_links_and_pictures_and_has_no_text_that_is_not_encoded():
    page = b"<video src='data:text/html,a'></video><xmp><script>x()</script></xmp><blockquote cite='javascript:x()'>b"
    assert rendered(page, URL, "", ContentForm.HTML, whole=True) == (
        "<body><video></video>&lt;script&gt;x()&lt;/script&gt;<blockquote>b</blockquote></body>"
    )

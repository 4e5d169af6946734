"""Main content instead of navigation, as Markdown and HTML."""

import time

import pytest
import turbohtml

from evercrawl.parse.reading.main_content import MOST_DEPTH, main_content
from evercrawl.parse.reading.rendering import ContentForm, markdown, rendered

URL = "http://example.org/dir/page"
WORDS = "A crawler visits a page again when a visit is worth what it costs, and not before that. " * 4
PAGE = f"""
<html><head><title>T</title></head><body>
<div class="sidebar"><ul><li><a href="/one">Menu one</a></li><li><a href="/two">Menu two</a></li></ul></div>
<header><a href="/">Home of all</a></header>
<div class="content"><h1>Guide<a class="headerlink" href="#guide">\u00b6</a></h1><p>{WORDS}
See <a href="#next">below</a> and <a href="../x?y=1#Frag (a)">there</a>.</p>
<div class="highlight-python3 notranslate"><div class="highlight"><pre><span class="k">def</span> f():
    return 1

# end
</pre></div></div>
<pre><code class="language-rust">fn main() {{
  x
}}</code></pre>
<pre class="brush: js">a
 b</pre>
<table><thead><tr><th>Name</th><th>Or</th></tr></thead><tr><td>one</td><td>a|b</td></tr></table>
<h2 id="next">Next</h2><p>{WORDS}</p></div>
<footer>Imprint and cookies</footer></body></html>
"""


def test_headings_code_tables_and_links_stay_and_navigation_goes():
    said = markdown(PAGE.encode(), URL)
    assert said.startswith("# Guide\n\n")
    assert "\n\n## Next\n\n" in said
    assert "```python3\ndef f():\n    return 1\n\n# end\n```" in said
    assert "```rust\nfn main() {\n  x\n}\n```" in said
    assert "```js\na\n b\n```" in said
    assert "| Name | Or |\n| --- | --- |\n| one | a\\|b |" in said
    assert f"[below]({URL}#next)" in said
    assert "[there](http://example.org/x?y=1#Frag%20%28a%29)" in said
    assert not [gone for gone in ("Menu", "Home of all", "Imprint", "\u00b6") if gone in said]


def test_html_keeps_nothing_that_acts():
    page = PAGE.replace("<p>", '<p onclick="x()" style="color:red"><svg onload=x></svg><iframe src=y></iframe>')
    said = rendered(page.encode(), URL, "", ContentForm.HTML)
    assert f'<a href="{URL}#next">below</a>' in said
    assert not [gone for gone in ("onclick", "style", "<svg", "iframe", "Menu") if gone in said]


def test_all_of_an_index_is_kept_where_the_page_says_that_it_is_its_main_part():
    entries = "".join(f"<li><a href='/{number}'>entry {number}</a></li>" for number in range(200))
    page = f"<body><nav><a href=/>Home</a></nav><main><h1>Index</h1><ul>{entries}</ul></main><footer>Imprint</footer>"
    said = markdown(page.encode(), URL)
    assert "[entry 199](http://example.org/199)" in said
    assert "Home" not in said
    assert "Imprint" not in said


def test_a_page_without_main_content_is_kept_whole():
    page = "".join(f"<a href='/{number}'>entry number {number}</a> " for number in range(100))
    assert markdown(page.encode(), URL).count("](") == 100


@pytest.mark.parametrize("unseen", ["\u200b", "\u202e", "\u2066", "\ufeff", "\u00ad", "\U000e0041", "\x1b", "\x9b"])
def test_characters_that_nobody_sees_are_left_out(unseen):
    assert markdown(f"<p>pass{unseen}word".encode(), URL, "text/html; charset=utf-8") == "password"


def test_what_joins_letters_stays():
    for text in ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\U0001f469\u200d\U0001f4bb"):
        assert markdown(f"<p>{text}".encode(), URL, "text/html; charset=utf-8") == text


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 20_000 + "x",
        "<b><i><a href=y>" * 5_000 + "<p>x" * 2_000,
        "<table><tr><td>" * 2_000 + "x",
        "<blockquote>" * 10_000 + "x",
    ],
    ids=["divs", "formatting", "tables", "quotes"],
)
def test_deep_pages_are_kept_whole_without_being_asked_about(page):
    began = time.process_time()
    assert "x" in markdown(page.encode(), URL)
    assert time.process_time() - began < 10  # asking alone would take 25 s for the first
    assert main_content(turbohtml.parse("<p>" + "<b>" * (2 * MOST_DEPTH) + "x")) is not None

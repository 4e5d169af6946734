"""Character references in links, by the table of names in the HTML standard, which Python's library has."""

import html
from html.entities import html5

import pytest

from evercrawl.parse.scan import scan

pytestmark = pytest.mark.golden
AFTER = ("", "=", "a", "Z", "9", ";", "-", "&", "%", "\N{LATIN SMALL LETTER E WITH ACUTE}")
NUMBERS = [*range(0x120), 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF, 0x110000, 2**32 + 65, 2**64 + 65]
ODD = {"NewLine;", "Tab;", "num;"}  # a URL has no line feed or tab, and what follows a # is cut


def links(hrefs):
    """Return the links of a page, each in a folder of its own, so that no two are the same."""
    page = "".join(f'<a href="/{at}/{href}">x</a>' for at, href in enumerate(hrefs))
    return [href.split("/", 2)[2] for href in scan(page.encode(), len(hrefs)).hrefs]


def meant(name, after):
    """Without its semicolon a name counts in an attribute only where neither = nor a letter or digit follows."""
    longest = max((other for other in html5 if (name + after).startswith(other)), key=len)
    rest = (name + after)[len(longest) :]
    if not longest.endswith(";") and (rest[:1] == "=" or (rest[:1].isascii() and rest[:1].isalnum())):
        return f"&{name}{after}"
    return html5[longest] + rest


@pytest.mark.parametrize("after", AFTER)
def test_names(after):
    names = sorted(set(html5) - ODD)
    assert len(names) == 2228
    assert links([f"?&{name}{after}" for name in names]) == ["?" + meant(name, after) for name in names]


@pytest.mark.parametrize("form", ["&#{};", "&#000{}", "&#x{:x};", "&#X{:X}-"])
def test_numbers(form):
    """Python's `html.unescape` leaves out some characters that the standard keeps; only those that it keeps count."""
    numbers = [number for number in NUMBERS if html.unescape(f"&#{number};") and number not in (9, 10, 13, 35)]
    assert len(numbers) > 200
    hrefs = [f"?{form.format(number)}-" for number in numbers]
    assert links(hrefs) == [html.unescape(href) for href in hrefs]

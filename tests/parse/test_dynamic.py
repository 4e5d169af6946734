"""Pages that a program makes as they are asked for, told by their address alone; the rest keep all their weight."""

import pytest

from evercrawl.parse.dynamic import dynamic

MADE = """
/?p=12
/search?q=ants&lang=en
/cgi-bin/list.pl?from=20
/shop;jsessionid=0A1B2C?item=4
/shop;jsessionid=0A1B2C
/forum/viewtopic.php?t=99
/2003/05
/2003/05/
/archive/2003-05-17/
/blog/1999/12/31
/calendar/2041/3/
/club/Kalender/woche/2026-W07
/agenda/2003_05.html
/news/page/2
/news/page-17/
/news/page3.html
/liste/seite-4
/ants/Page_2
"""

WRITTEN = """
/
/index.html
/search
/search?
/2003/
/2003/05/ants-in-may
/2003/05/17/ants.html
/2003/05x
/1803/05
/2003/13
/calendar
/calendar/how-to-make-one
/about-the-calendar/2003/history
/page
/page/about
/pages/2nd-world-war
/homepage2
/frontpage/2/story
/rfc/page/7/errata
/chapter-3
/ants;colony=red
/r%C3%A9sum%C3%A9
"""


@pytest.mark.parametrize("path", MADE.split())
def test_what_a_program_makes_is_told_by_its_address(path):
    assert dynamic(f"https://www.a.example{path}")


@pytest.mark.parametrize("path", WRITTEN.split())
def test_what_may_be_written_is_left_alone(path):
    assert not dynamic(f"https://www.a.example:8080{path}")


@pytest.mark.parametrize("url", ["http://page.example/", "http://calendar.example/about", "http://2003.05.example/"])
def test_the_host_says_nothing(url):
    assert not dynamic(url)


def test_a_long_address_is_no_trouble():
    assert not dynamic("http://a.example/" + "calendar/" * 20_000)
    assert not dynamic("http://a.example" + "/2003" * 20_000)
    assert not dynamic("http://a.example/" + ";sid" * 20_000 + "/page" * 20_000)

"""The pages for browsers, and what they load."""

import re
from importlib.resources import files

import pytest

from evercrawl.serve.pages.shell import PAGES


@pytest.mark.parametrize("path", sorted(PAGES.values()))
def test_every_page_and_all_that_it_loads_is_there(client, path):
    page = client.get(path)
    assert page.status_code == 200
    assert "<script>" not in page.text, "no inline code"
    loaded = re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text)
    assert len(loaded) >= 3
    queue, seen = list(loaded), set()
    while queue:
        name = queue.pop()
        if name in seen:
            continue
        seen.add(name)
        answer = client.get(name)
        assert answer.status_code == 200, name
        assert "immutable" in answer.headers["cache-control"]
        if name.endswith(".js"):
            assert answer.headers["content-type"].startswith("text/javascript")
            folder = name.rpartition("/")[0]
            queue += [f"{folder}/{each}" for each in re.findall(r'from "\./([\w./-]+)"', answer.text)]


def test_static_files_are_packed_for_who_takes_it(client):
    name = re.findall(r'href="(/static/[^"]+css)"', client.get("/").text)[0]
    assert client.get(name).headers["content-encoding"] == "gzip"
    assert "content-encoding" not in client.get(name, headers={"accept-encoding": "identity"}).headers
    assert client.get("/static/0000/css/base.css").status_code == 404


def test_text_of_pages_is_text(client, crawl):
    """Titles come from strangers."""
    from evercrawl.serve.pages.search import marked

    assert str(marked("<img onerror=x>", [(1, 4)])) == "&lt;<mark>img</mark> onerror=x&gt;"
    assert "&lt;script&gt;" in client.get("/", params={"q": "<script>alert(1)</script>"}).text


def test_the_types_of_what_may_be_asked_are_current():
    """`make docs` draws them."""
    from evercrawl.serve.api.declared import declarations

    kept = files("evercrawl.serve") / "static" / "api.d.ts"
    assert kept.read_text(encoding="utf-8") == declarations(), "run make docs"


def test_each_key_that_help_names_leads_to_its_page(client):
    from evercrawl.serve.pages.shell import KEYS

    page = client.get("/dashboard").text
    for key, name in KEYS.items():
        assert f'href="{PAGES[name]}" data-key="{key}"' in page


def test_scripts_reckon_with_instants_in_seconds():
    """A name that ends in `_at` is a text in answers, so that a difference with it would be shown as NaN."""
    reckoned = re.compile(r"[-<>*] *(?:\w+\.)*\w+_at\b|\b\w+_at [-<>*]|\w+_at \* 1000")
    scripts = sorted((files("evercrawl.serve") / "static" / "js").iterdir(), key=lambda each: each.name)
    assert len(scripts) > 10
    assert {script.name: found for script in scripts if (found := reckoned.findall(script.read_text("utf-8")))} == {}

"""Whatever is asked gets an answer or a sentence, and none of it is a fault: requests drawn from the description."""

import shutil
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evercrawl.serve.api.resources import RESOURCES, description
from evercrawl.serve.pages.shell import PAGES

EDGES = ("", "0", "-1", "1e309", "nan", "%00", "\x00", "\u202e", "9" * 30, "https://a.example/", "[", "(a+)+$", "../..")
PATHS = sorted(set(RESOURCES) - {"events"})
QUICK = sorted(set(PATHS) - {"plan"})
OFTEN = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    derandomize=True,
)


def values(schema: dict[str, Any]) -> st.SearchStrategy[str]:
    """Return values as a parameter has them, and others."""
    if schema["type"] == "integer":
        least, most = schema["minimum"], schema["maximum"]
        fitting = st.one_of(st.integers(least, most), st.sampled_from([least - 1, least, most, most + 1])).map(str)
    elif schema["type"] == "number":
        fitting = st.floats().map(str)
    else:
        fitting = st.text(max_size=80)
    return st.one_of(fitting, st.sampled_from(EDGES))


def is_told(answer: Any) -> None:
    """See that an answer is one, or a sentence."""
    assert answer.status_code < 500 or answer.status_code == 503, (answer.url, answer.text[:300])
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["detail"]


@pytest.mark.parametrize("path", QUICK)
def test_any_question_gets_an_answer_or_a_sentence(client, path):
    known = {name: values(schema) for name, schema in RESOURCES[path].parameters.items()}
    some = st.lists(st.sampled_from(sorted(known)), unique=True) if known else st.just([])

    @OFTEN
    @given(st.data())
    def ask(data: st.DataObject) -> None:
        asked = {name: data.draw(known[name]) for name in data.draw(some)}
        is_told(client.get(f"/api/v1/{path}", params=asked))

    ask()


@pytest.mark.parametrize("path", ["orders", "retrievals", "clicks"])
def test_any_body_gets_an_answer_or_a_sentence(client, path):
    leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20), st.sampled_from(EDGES))
    names = st.sampled_from(
        ["do", "urls", "pattern", "factor", "lasts_s", "name", "values", "lift", "wait_s", "ticket", "retrieval"]
    )
    bodies = st.one_of(
        st.dictionaries(names, st.one_of(leaves, st.lists(leaves, max_size=3)), max_size=5), leaves, st.lists(leaves)
    )
    assert "post" in description()["paths"][f"/api/v1/{path}"]

    @OFTEN
    @given(bodies)
    def ask(body: Any) -> None:
        if isinstance(body, dict):
            body = body | {"wait_s": 0.0}
        is_told(client.post(f"/api/v1/{path}", json=body, headers={"authorization": f"Bearer {'t' * 40}"}))

    ask()


@pytest.mark.parametrize("gone", [True, False], ids=["deleted", "another's"])
def test_a_directory_that_goes_away_under_the_server_gets_a_sentence(client, crawl, tmp_path, gone):
    """What was taken in is still told; what has to be read says what is wrong."""
    shutil.move(crawl.directory, tmp_path / "elsewhere")
    if not gone:
        crawl.directory.mkdir()
        (crawl.directory / "crawl.json").write_text("{}")
    for path in PATHS:
        needed = {"search": "?q=tea", "why": "?url=https://a.example/", "inlinks": "?url=https://a.example/"}
        is_told(client.get(f"/api/v1/{path}{needed.get(path, '')}"))
    for path in PAGES.values():
        assert client.get(path).status_code < 500
    assert client.get("/health/live").status_code == 200
    shutil.rmtree(crawl.directory, ignore_errors=True)
    shutil.move(tmp_path / "elsewhere", crawl.directory)

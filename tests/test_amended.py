"""A crawl's own file of settings, changed in a few places."""

from dataclasses import replace

import pytest

from evercrawl.config import FILE_NAME, amend, load


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[pace]\ndelay_s = 2\n\n[strategy]\n importance = 'push'  # mine\n",
         "[pace]\ndelay_s = 2\n\n[strategy]\nimportance = \"aopic\"\n"),
        ("[strategy] # s\npolicy = 'greedy'\n", "[strategy] # s\nimportance = \"aopic\"\npolicy = 'greedy'\n"),
        ("[pace]\ndelay_s = 2\n", "[pace]\ndelay_s = 2\n\n[strategy]\nimportance = \"aopic\"\n"),
    ],
)  # fmt: skip
def test_a_setting_is_changed_and_the_rest_of_the_file_is_left_alone(tmp_path, before, after):
    (tmp_path / FILE_NAME).write_text(before)
    was = load(tmp_path / FILE_NAME)
    assert amend(tmp_path, {"importance": "aopic"})
    assert (tmp_path / FILE_NAME).read_text() == after
    assert load(tmp_path / FILE_NAME) == replace(was, importance="aopic")
    assert not amend(tmp_path, {"importance": "aopic"})


def test_a_setting_that_spans_lines_is_changed_too(tmp_path):
    (tmp_path / FILE_NAME).write_text("[strategy]\ntrusted = [\n 'a.example',\n]\n")
    assert amend(tmp_path, {"trusted": ("b.example",), "window": "variable"})
    found = load(tmp_path / FILE_NAME)
    assert (found.trusted, found.window) == (("b.example",), "variable")

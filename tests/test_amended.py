"""A crawl's own file of settings, changed in a few places."""

from dataclasses import replace

import pytest

from evercrawl.config import FILE_NAME, amend, load

LISTED = "[strategy]\ntrusted = [\n  'a.example',  # ours\n  'b.example',\n]  # the end\n"
FOCUS = "[[focus]]  # first\nurl = '/a/'\n\n[[focus]]\nwords = ['storm']  # weather\n"
CASES = {
    "in its line": (
        "[pace]\ndelay_s = 2\n\n[strategy]\n importance = 'push'  # mine\n",
        "[pace]\ndelay_s = 2\n\n[strategy]\n importance = \"aopic\"  # mine\n",
    ),
    "a new line": (
        "[strategy] # s\npolicy = 'greedy'\n# the end\n",
        "[strategy] # s\npolicy = 'greedy'\n# the end\nimportance = \"aopic\"\n",
    ),
    "a new table": ("[pace]\ndelay_s = 2\n", "[pace]\ndelay_s = 2\n\n[strategy]\nimportance = \"aopic\"\n"),
    "no final newline": ("[strategy]\npolicy = 'greedy'", "[strategy]\npolicy = 'greedy'\nimportance = \"aopic\"\n"),
    "an inline table": (
        "strategy = {importance = 'push', policy = 'greedy'}  # short\n",
        "strategy = {importance = \"aopic\", policy = 'greedy'}  # short\n",
    ),
    "a dotted key": ("strategy.importance = 'push'\n", "strategy.importance = \"aopic\"\n"),
    "line ends of Windows": (
        "# mine\r\n[strategy]\r\npolicy = 'greedy'\r\n",
        "# mine\r\n[strategy]\r\npolicy = 'greedy'\r\nimportance = \"aopic\"\r\n",
    ),
    "entries of [[focus]]": (
        f"[strategy]\nimportance = 'push'\n\n{FOCUS}",
        f'[strategy]\nimportance = "aopic"\n\n{FOCUS}',
    ),
    "an empty file": ("", "[strategy]\nimportance = \"aopic\"\n"),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after"), CASES.values(), ids=CASES)
def test_a_setting_is_changed_and_the_rest_of_the_file_is_left_alone(tmp_path, before, after):
    file = tmp_path / FILE_NAME
    file.write_bytes(before.encode())
    was = load(file)
    assert amend(tmp_path, {"importance": "aopic"})
    assert file.read_bytes().decode() == after
    assert load(file) == replace(was, importance="aopic")
    assert not amend(tmp_path, {"importance": "aopic"})


@pytest.mark.parametrize(
    ("trusted", "after"),
    [
        (("a.example", "c.example"), "[\n  'a.example',  # ours\n  \"c.example\",\n]"),
        (("b.example", "a.example"), '["b.example", "a.example"]'),
        ((), None),
    ],
)
def test_entries_of_a_list_that_stay_keep_their_comments(tmp_path, trusted, after):
    (tmp_path / FILE_NAME).write_text(LISTED)
    assert amend(tmp_path, {"trusted": trusted, "window": "variable"})
    found, text = load(tmp_path / FILE_NAME), (tmp_path / FILE_NAME).read_text()
    assert (found.trusted, found.window) == (trusted, "variable")
    assert "]  # the end\n" in text
    assert after is None or f"trusted = {after}" in text


def test_a_setting_in_no_table_stays_where_it_is(tmp_path):
    (tmp_path / FILE_NAME).write_text("scope = 'any'  # here\n[pace]\n")
    assert amend(tmp_path, {"scope": "domains"})
    assert (tmp_path / FILE_NAME).read_text() == 'scope = "domains"  # here\n[pace]\n'

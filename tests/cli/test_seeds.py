"""Where a crawl starts from."""

import io

import pytest

from evercrawl.cli.seeds import read_seeds
from evercrawl.errors import ConfigError


def test_arguments_files_and_standard_input_come_in_order_and_once(tmp_path):
    file = tmp_path / "seeds.txt"
    file.write_text("# two sites\nhttp://b.example/\n\n  HTTP://A.example/x#part\n")
    stdin = io.StringIO("http://c.example\nhttp://b.example/\n")
    found = read_seeds(["http://a.example/x", f"@{file}", "-"], stdin)
    assert found == ["http://a.example/x", "http://b.example/", "http://c.example/"]


@pytest.mark.parametrize(
    "text", ["ftp://a.b/", "mailto:a@b.c", "http://", "http://a b/", "seeds.txt/", "", "javascript:1"]
)
def test_what_is_no_web_url_is_named(text):
    with pytest.raises(ConfigError) as caught:
        read_seeds(["http://ok.example/", text], io.StringIO())
    assert repr(text) in str(caught.value)


def test_a_bad_line_is_named_by_file_and_number(tmp_path):
    file = tmp_path / "seeds.txt"
    file.write_text("http://a.example/\n# no\nexample.org/x\n")
    with pytest.raises(ConfigError, match=r"seeds.txt line 3: 'example.org/x' .* write https://example.org/x"):
        read_seeds([f"@{file}"], io.StringIO())


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"@.*none.txt: .*one URL per line"):
        read_seeds([f"@{tmp_path}/none.txt"], io.StringIO())

"""Where a crawl starts from."""

import io

import pytest

from evercrawl.cli.seeds import read_seeds, read_url
from evercrawl.errors import ConfigError


def given(arguments, stdin="", *, strict=False):
    return read_seeds(arguments, io.StringIO(stdin), strict=strict)


def test_arguments_files_and_standard_input_come_in_order_and_once(tmp_path):
    file = tmp_path / "seeds.txt"
    file.write_text("# two sites\nhttp://b.example/\n\n  HTTP://A.example/x#part\n")
    found = given(["http://a.example/x", f"@{file}", "-"], "http://c.example\nhttp://b.example/\n")
    assert found.urls == ["http://a.example/x", "http://b.example/", "http://c.example/"]
    assert found.notes() == []


@pytest.mark.parametrize(
    "text",
    [
        "ftp://a.b/",
        "mailto:a@b.com",
        "http://",
        "http://a b/",
        "seeds.txt",
        "sites.csv/",
        "",
        "javascript:1",
        "localhos",
    ],
)
def test_what_is_no_web_url_is_named(text):
    with pytest.raises(ConfigError) as caught:
        given(["http://ok.example/", text])
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("example.org", "https://example.org/"),
        ("Docs.Example.co.uk/a?b#c", "https://docs.example.co.uk/a?b"),
        ("example.org:8443/x", "https://example.org:8443/x"),
        ("b\N{LATIN SMALL LETTER U WITH DIAERESIS}cher.de", "https://xn--bcher-kva.de/"),
        ("localhost:8000", "http://localhost:8000/"),
        ("127.0.0.1", "http://127.0.0.1/"),
        ("[::1]:8080/x", "http://[::1]:8080/x"),
    ],
)
def test_a_host_without_a_scheme_is_completed_and_that_is_said(text, url):
    found = given([text])
    assert found.urls == [url]
    assert found.notes() == [f"{text} is read as {url}"]
    assert read_url(text) == url


def test_bad_lines_are_left_out_counted_and_shown_and_strict_refuses_them(tmp_path):
    file = tmp_path / "seeds.txt"
    file.write_text("http://a.example/\n# no\nmailto:me@example.org\nexample.org/x\nnot a url\n\n::\n?\n")
    found = given([f"@{file}"])
    assert found.urls == ["http://a.example/", "https://example.org/x"]
    (_, said) = found.notes()
    assert said.startswith("4 lines are not URLs and were left out (--strict refuses them): ")
    assert (
        f"{file} line 3: 'mailto:me@example.org'; {file} line 5: 'not a url'; {file} line 7: '::'; and 1 more" in said
    )
    with pytest.raises(ConfigError, match=r"seeds.txt line 3: 'mailto:me@example.org'"):
        given([f"@{file}"], strict=True)


def test_a_file_without_any_url_is_refused(tmp_path):
    file = tmp_path / "letter.txt"
    file.write_text("Dear reader,\n\nthis is no list.\n")
    with pytest.raises(ConfigError, match=r"no line of .*letter.txt is; the first is .* line 1: 'Dear reader,'"):
        given([str(file)])


def test_a_file_may_be_named_without_at_and_that_is_said(tmp_path):
    file = tmp_path / "seeds"
    file.write_text("http://a.example/\n")
    found = given([str(file)])
    assert (found.urls, found.notes()) == (["http://a.example/"], [f"the seeds are the lines of the file {file}"])


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks_are_taken(tmp_path, encoding):
    file = tmp_path / "seeds.txt"
    file.write_text("http://a.example/\r\nhttp://b.example/\r\n", encoding=encoding)
    assert given([f"@{file}"]).urls == ["http://a.example/", "http://b.example/"]
    assert given(["-"], "\ufeffhttp://a.example/\n").urls == ["http://a.example/"]


def test_many_completed_seeds_are_said_once():
    found = given(["-"], "".join(f"site{i}.example.org\n" for i in range(50)))
    assert found.notes() == [
        "50 seeds without a scheme were completed, such as site0.example.org to https://site0.example.org/"
    ]


def test_a_file_that_is_not_there_or_no_text_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"none.txt: .*one URL per line"):
        given([f"@{tmp_path}/none.txt"])
    (tmp_path / "bytes").write_bytes(b"\xff\xff\x00http")
    with pytest.raises(ConfigError, match=r"bytes: .*one URL per line"):
        given([str(tmp_path / "bytes")])

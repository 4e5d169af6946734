"""What `import evercrawl` offers is what its page lists, and it is there at once."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import evercrawl

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "LIBRARY.md"
STUB = Path(evercrawl.__file__).with_suffix(".pyi")


def test_the_public_names_are_those_of_the_page():
    listed = re.findall(r"^\| `evercrawl\.(\w+)` \|", PAGE.read_text(), re.MULTILINE)
    assert listed == [name for name in sorted(evercrawl.__all__, key=str.lower) if name != "__version__"]
    assert dir(evercrawl) == sorted(evercrawl.__all__)


def test_the_methods_of_a_crawl_are_those_of_the_page():
    listed = set(re.findall(r"^\| `crawl\.(\w+)\(", PAGE.read_text(), re.MULTILINE))
    methods = {name for name in vars(evercrawl.Crawl) if not name.startswith("_")}
    assert listed == methods - {"open"}


def test_every_public_name_is_there_and_has_a_type():
    for name in evercrawl.__all__:
        assert getattr(evercrawl, name) is not None
    assert set(re.findall(r'"(\w+)"', STUB.read_text().partition("__all__")[2])) == set(evercrawl.__all__)


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match=r"LIBRARY\.md"):
        _ = evercrawl.nothing  # type: ignore[attr-defined]


def test_importing_loads_nothing_until_a_name_is_used():
    code = "import sys, evercrawl; print(sorted(n for n in sys.modules if n.startswith(('evercrawl.', 'numpy'))))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_example_of_the_page_runs(made, monkeypatch, capsys):
    made.seed("http://example.org/")
    made.visit("http://example.org/", made.page("Home", "/a"))
    made.stop()
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert code
    monkeypatch.chdir(made.directory.parent)
    Path("example").symlink_to(made.directory)
    exec(code[1], {})
    assert "http://example.org/" in capsys.readouterr().out

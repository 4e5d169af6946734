"""The frame around the verbs: exit codes, errors as sentences, and a quick start."""

import argparse
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from evercrawl import __version__
from evercrawl.cli import main as cli
from evercrawl.cli import verbs


@pytest.mark.parametrize("verb", [[], ["crawl"], ["simulate"]])
def test_help_imports_no_other_package(verb):
    """Each that it imported would have to be waited for: help takes a tenth of a second, numpy alone another."""
    script = (
        "import sys\nbefore = set(sys.modules)\nfrom evercrawl.cli.main import main\n"
        f"try: main({[*verb, '--help']})\nexcept SystemExit: pass\n"
        "tops = {name.partition('.')[0] for name in set(sys.modules) - before} - sys.stdlib_module_names\n"
        "print(*tops, *{'asyncio', 'sqlite3', 'ssl'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "evercrawl"


def test_every_verb_file_is_found_and_listed_with_the_others_of_its_task():
    files = [path for path in Path(verbs.__path__[0]).glob("*/*.py") if "\ndef add(" in path.read_text("utf-8")]
    assert sorted(f"{path.parent.name}.{path.stem}" for path in files) == sorted(cli.modules())
    text = cli.parser().format_help()
    places = [text.index(f"\n{task}:\n") for task, _ in verbs.TASKS.values()]
    assert places == sorted(places)
    listed = re.findall(r"^  ([a-z]+) ", text[places[0] :], re.MULTILINE)
    assert listed[:4] == ["crawl", "demo", "import", "status"]
    assert len(listed) == len(set(listed))
    assert set(listed) == set(all_verbs()) - cli.LAB_VERBS


def all_verbs() -> list[str]:
    found = argparse.ArgumentParser().add_subparsers()
    for name in cli.modules():
        importlib.import_module(f"{verbs.__name__}.{name}").add(found)
    return list(found.choices)


def test_version(capsys):
    assert cli.main(["version"]) == 0
    assert capsys.readouterr().out.startswith(f"evercrawl {__version__}\n")
    assert cli.main(["version", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["evercrawl"] == __version__


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["crawl", "seeds.txt"], "'seeds.txt' is neither a file nor an http or https URL"),
        (["crawl", "http://a.b/", "--delay", "soon"], "--delay must be a duration such as"),
        (["crawl", "http://a.b/", "--policy", "dearest"], "no policy is called 'dearest'; choose one of: "),
        (["crawl", "http://a.b/", "--importance", "mine"], "no importance is called 'mine'; choose one of: "),
        (["crawl", "http://a.b/", "--pages", "0"], "--pages must be a whole number, 1 or more, not '0'"),
        (["crawl", "http://a.b/", "--seconds", "x"], "--seconds must be a duration"),
        (["crawl", "http://a.b/", "--config", "none.toml"], "cannot read none.toml"),
        (["crawl", "--dir", __file__], "is a file; name a directory"),
        (["crawl", "--dir", "empty"], "there is no crawl in"),
    ],
)
def test_wrong_use_is_told_in_a_sentence(argv, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(argv) == 2
    error = capsys.readouterr().err
    assert error.startswith("evercrawl: ")
    assert words in error
    assert error.count("\n") == 1


def test_errors_are_json_where_json_was_asked_for(capsys, tmp_path):
    assert cli.main(["crawl", "--json", "--dir", str(tmp_path), "ftp://a.b/"]) == 2
    assert json.loads(capsys.readouterr().out)["exit_code"] == 2


def test_an_unknown_flag_is_refused(capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["crawl", "--dalay", "1"])
    assert caught.value.code == 2
    assert "--dalay" in capsys.readouterr().err


def test_a_reader_that_leaves_is_no_error():
    script = "from evercrawl.cli.main import main; import sys; sys.exit(main(['version']))"
    done = subprocess.run(
        ["bash", "-c", 'set -o pipefail; "$0" -c "$1" | true', sys.executable, script], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_argument_errors_are_json_too(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["status", "--jsn", "--json"])
    assert ended.value.code == 2
    told = json.loads(capsys.readouterr().out)
    assert (told["event"], told["exit_code"]) == ("error", 2)
    assert "--jsn" in told["message"]


def test_elsewhere_than_on_linux_one_sentence_points_to_the_container(monkeypatch, capsys):
    monkeypatch.setattr(sys, "platform", "win32")
    assert cli.main(["status"]) == 1
    assert capsys.readouterr().err.splitlines()[0].startswith("evercrawl: evercrawl runs on Linux; ")


@pytest.mark.parametrize(
    ("redirection", "code", "said"),
    [(">/dev/full", 4, "evercrawl: cannot write to standard output: No space left on device\n"), (">&-", 0, "")],
)
def test_a_full_or_closed_output_gets_one_sentence_at_most(redirection, code, said):
    command = f"{sys.executable} -m evercrawl version {redirection}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, said)


def test_the_laboratorys_verbs_work_after_lab_and_alone(capsys):
    assert cli.main(["lab", "policies", "--json"]) == 0
    after = capsys.readouterr().out
    assert cli.main(["policies", "--json"]) == 0
    assert capsys.readouterr().out == after
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    listed = capsys.readouterr().out
    assert not [verb for verb in cli.LAB_VERBS if f"  {verb} " in listed]


def test_a_verb_that_is_none_gets_the_nearest_and_none_at_all_gets_an_example(capsys):
    for words, said in ((["statsu"], "'statsu' is not a verb; did you mean status?"), ([], "name a verb, such as")):
        with pytest.raises(SystemExit) as ended:
            cli.main(words)
        assert ended.value.code == 2
        assert said in capsys.readouterr().err


def test_a_folder_with_links_that_is_no_crawl_is_called_no_crawl(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("/etc/passwd")
    for verb in ("status", "top", "changes"):
        assert cli.main([verb]) == 2
        assert "there is no crawl in this folder, nor in one below it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "usage", "said"),
    [
        (["top", "--risign"], "usage: evercrawl top", "unrecognized arguments: --risign; did you mean --rising?"),
        (["status", "--frobnicate"], "usage: evercrawl status", "unrecognized arguments: --frobnicate\n"),
        (["crawl", "--dirr", "x"], "evercrawl crawl: error: ", "--dirr; did you mean --dir?\n`evercrawl crawl --help`"),
    ],
)
def test_an_unknown_option_is_answered_by_the_usage_of_its_verb(words, usage, said, capsys):
    """The usage of `crawl` fills a screen, and would hide the error."""
    with pytest.raises(SystemExit, match="2"):
        cli.main(words)
    out = capsys.readouterr().err
    assert out.startswith(usage)
    assert said in out

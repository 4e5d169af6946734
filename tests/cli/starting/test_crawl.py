"""The verb that crawls, on real sockets."""

import json
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from datetime import datetime

import pytest

from evercrawl.cli import main as cli

FAST = ["--delay", "0.001", "--allow-net", "127.0.0.0/8", "--json"]


def events(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def pages(site) -> Counter:
    return Counter(served.origin + served.path for served in site.log if served.path != "/robots.txt")


def test_until_idle_asks_once_for_every_page_that_may_be_asked_for(site, tmp_path, capsys):
    assert cli.main(["crawl", *site.seeds, "--dir", str(tmp_path), "--until-idle", *FAST]) == 0
    end = events(capsys.readouterr().out)[-1]
    expected = {url for url, outcome in site.web.urls().items() if outcome != "refused"}
    assert pages(site) == Counter(expected)
    assert (end["event"], end["reason"]) == ("end", "idle")


def test_the_settings_of_the_start_are_kept_and_a_later_flag_holds_for_its_run(site, tmp_path, capsys):
    assert cli.main(["crawl", site.seeds[0], "--dir", str(tmp_path), "--pages", "3", "--max-depth", "2", *FAST]) == 0
    assert cli.main(["crawl", "--dir", str(tmp_path), "--pages", "2", "--max-depth", "1", "--json"]) == 0
    kept = tomllib.loads((tmp_path / "crawl.toml").read_text())
    assert kept["scope"]["max_depth"] == 2
    assert kept["network"]["allow_net"] == ["127.0.0.0/8"]
    ends = [event for event in events(capsys.readouterr().out) if event["event"] == "end"]
    assert [(end["reason"], end["visits"]) for end in ends] == [("pages", 3), ("pages", 2)]
    assert set(pages(site).values()) == {1}  # the second run went on where the first had ended


def test_a_flag_that_names_another_policy_leaves_the_parameters_of_the_first_where_they_are(site, tmp_path, capsys):
    begin = ["crawl", site.seeds[0], "--dir", str(tmp_path), "--seconds", "0", *FAST]
    assert cli.main([*begin, "--policy", "chile", "--policy-option", "a=2"]) == 0
    go_on = ["crawl", "--dir", str(tmp_path), "--seconds", "0", "--json"]
    capsys.readouterr()
    assert cli.main([*go_on, "--policy", "tianwang"]) == 0
    assert events(capsys.readouterr().out)[0]["message"] == (
        "the policy is tianwang, for one run; crawl.toml has chile (a=2), whose parameters are passed over"
    )
    assert cli.main(["status", "--dir", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["policy"] == "tianwang"
    assert cli.main(go_on) == 0
    assert events(capsys.readouterr().out)[0]["message"] == "the policy is chile (a=2)"


@pytest.mark.parametrize(
    ("options", "said"), [('["a=77"]', "chile: a must be from 0 to 10"), ('["zz=1"]', "'zz' is no parameter of chile")]
)
def test_a_parameter_in_crawl_toml_that_is_wrong_is_told_with_its_place(tmp_path, capsys, options, said):
    file = tmp_path / "crawl.toml"
    file.write_text(f'[strategy]\npolicy = "chile"\npolicy_options = {options}\n')
    assert cli.main(["crawl", "http://127.0.0.1:9/", "--dir", str(tmp_path), "--seconds", "0"]) == 2
    assert f"{file} line 3: policy_options: {said}" in capsys.readouterr().err
    argv = ["crawl", "http://127.0.0.1:9/", "--dir", str(tmp_path), "--seconds", "0", "--policy-option", "zz=1"]
    assert cli.main(argv) == 2
    assert str(file) not in capsys.readouterr().err


def test_seconds_end_a_run(site, tmp_path, capsys):
    before = time.monotonic()
    assert cli.main(["crawl", *site.seeds, "--dir", str(tmp_path), "--seconds", "0.3", *FAST]) == 0
    assert time.monotonic() - before < 8.0
    assert events(capsys.readouterr().out)[-1]["reason"] == "seconds"


def test_inside_addresses_are_refused_unless_allowed(site, tmp_path, capsys):
    assert cli.main(["crawl", *site.seeds, "--dir", str(tmp_path), "--seconds", "1", "--json"]) == 1
    assert site.log == []
    assert events(capsys.readouterr().out)[-1]["fetched"] == 0


def test_a_crawl_that_reaches_nothing_ends_by_itself_says_what_it_tried_and_fails(tmp_path, capsys):
    begin = ["crawl", "http://127.0.0.1:9/", "--dir", str(tmp_path), "--contact", "me@example.org", "--json"]
    assert cli.main([*begin, "--policy", "uniform"]) == 1
    *before, end = events(capsys.readouterr().out)
    tried = [event["message"] for event in before if event.get("message", "").startswith("tried")]
    assert tried == ["tried http://127.0.0.1:9/: refused_address: port 9 is not one that web servers use"]
    assert (end["reason"], end["visits"]) == ("nothing was reached", 1)
    advice = [event["message"] for event in before if "was refused" in event.get("message", "")]
    assert len(advice) == 1
    assert "its port" in advice[0]
    assert "--allow-net" not in advice[0], "a network is not what kept it from the port"
    quiet = before[-1]
    assert quiet["next_url"] == "http://127.0.0.1:9/", "what falls due next is said"
    assert datetime.fromisoformat(quiet["next_at"]).timestamp() > quiet["at_s"]
    assert not any("--contact" in event.get("message", "") for event in before)


def test_site_owners_are_spoken_of_once(site, tmp_path, capsys):
    assert cli.main(["crawl", site.seeds[0], "--dir", str(tmp_path), "--pages", "1", *FAST]) == 0
    assert cli.main(["crawl", site.seeds[0], "--dir", str(tmp_path), "--pages", "1", "--json"]) == 0
    said = [event for event in events(capsys.readouterr().out) if "--contact" in event.get("message", "")]
    assert len(said) == 1


def test_every_line_says_what_it_is_and_when_in_iso_8601(site, tmp_path, capsys):
    assert cli.main(["crawl", site.seeds[0], "--dir", str(tmp_path), "--pages", "2", *FAST]) == 0
    for event in events(capsys.readouterr().out):
        assert event["event"] in {"message", "progress", "end"}
        if "at" in event:
            at = datetime.fromisoformat(event["at"])
            assert abs(at.timestamp() - event["at_s"]) < 0.001


def test_sigterm_ends_it_cleanly(site, tmp_path):
    script = "import sys; from evercrawl.cli.main import main; sys.exit(main())"
    argv = ["crawl", *site.seeds, "--dir", str(tmp_path), "--delay", "0.2", "--allow-net", "127.0.0.0/8", "--json"]
    with subprocess.Popen([sys.executable, "-c", script, *argv], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        while not site.log and child.poll() is None:
            time.sleep(0.02)
        child.send_signal(signal.SIGTERM)
        text, _ = child.communicate(timeout=10)
    assert child.returncode == 0
    assert events(text)[-1]["reason"] == "stopped"


def test_a_reader_that_leaves_ends_it_in_order_and_as_a_failure(site, tmp_path, capsys):
    command = [sys.executable, "-m", "evercrawl", "crawl", *site.seeds, "--dir", str(tmp_path), *FAST]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.readline()
        child.stdout.close()
        assert child.wait(timeout=20) == 1
        assert child.stderr.read().startswith("evercrawl: the run ended: output closed;")
    assert cli.main(["status", "--dir", str(tmp_path), "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert status["snapshot_at"]  # only a run that was ended in order writes one
    assert status["repairs"] == []


def test_quiet_is_quiet(site, tmp_path, capsys):
    argv = ["crawl", site.seeds[0], "--dir", str(tmp_path), "--pages", "2", "--quiet", *FAST[:-1]]
    assert cli.main(argv) == 0
    assert capsys.readouterr().out == ""


def test_a_quiet_crawl_that_reaches_nothing_says_what_it_tried(tmp_path, capsys):
    assert cli.main(["crawl", "http://127.0.0.1:9/", "--dir", str(tmp_path), "--quiet", "--policy", "uniform"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        "evercrawl: tried http://127.0.0.1:9/: refused_address: port 9 is not one that web servers use"
    ]


def test_a_folder_in_which_nobody_may_write_gets_a_sentence(capsys):
    assert cli.main(["crawl", "http://127.0.0.1:9/", "--dir", "/sys/kernel/crawl"]) == 3
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith("evercrawl: cannot make /sys/kernel/crawl: ")
    assert "--dir" in sentence

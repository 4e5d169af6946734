"""Settings: what is read, what is refused and in which words, what is written and read back."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.config import SETTINGS, Config, Focus, SiteRules, Target, amend, load, save, source_of, to_toml
from evercrawl.config.hours import Hours
from evercrawl.errors import ConfigError


def refused(**flags: object) -> str:
    with pytest.raises(ConfigError) as caught:
        load(flags=flags)
    return str(caught.value)


def test_later_sources_win(tmp_path):
    first, second = tmp_path / "crawl.toml", tmp_path / "mine.toml"
    first.write_text("[pace]\ndelay_s = 2\nconnections = 7\n[scope]\nmax_depth = 4\n")
    second.write_text('[pace]\ndelay_s = "3s"\nrate_per_s = 5\n')
    config = load(
        first, second, environ={"EVERCRAWL_RATE_PER_S": "6", "EVERCRAWL_DNS": "::1"}, flags={"dns": "1.2.3.4"}
    )
    assert (config.connections, config.delay_s, config.rate_per_s, config.dns) == (7, 3.0, 6.0, "1.2.3.4:53")
    assert config.max_depth == 4
    assert config.policy == "price"


def test_a_flag_not_given_says_nothing(tmp_path):
    file = tmp_path / "crawl.toml"
    file.write_text("[network]\nverify_tls = false\n")
    assert load(file, flags={"verify_tls": None}).verify_tls is False


@pytest.mark.parametrize(
    ("written", "variables", "flags", "expected"),
    [
        (
            'policy = "chile"\npolicy_options = ["a=2", "rpuc.types=3"]',
            "",
            {"policy": "rpuc"},
            "chile.a=2 rpuc.types=3",
        ),
        ('policy = "chile"\npolicy_options = ["a=2"]', "", {"policy": "chile"}, "a=2"),
        ('policy = "price-gamma"\npolicy_options = ["a=2"]', "", {"policy": "price_gamma"}, "a=2"),
        ('policy_options = ["a=2"]', "", {"policy": "rpuc"}, "price.a=2"),
        (
            'policy = "chile"\npolicy_options = ["a=2"]',
            "",
            {"policy": "rpuc", "policy_options": ["types=3"]},
            "types=3",
        ),
        ('policy = "chile"\npolicy_options = ["a=2"]', "", {"policy_options": ["a=3"]}, "a=3"),
        ('policy = "chile"\npolicy_options = ["a=2"]', "types=3", {"policy": "rpuc"}, "types=3"),
    ],
)
def test_parameters_are_those_of_the_policy_that_their_source_names(tmp_path, written, variables, flags, expected):
    file = tmp_path / "crawl.toml"
    file.write_text(f"[strategy]\n{written}\n")
    environ = {"EVERCRAWL_POLICY_OPTIONS": variables} if variables else {}
    assert load(file, environ=environ, flags=flags).policy_options == tuple(expected.split())


def test_where_a_setting_comes_from_is_told(tmp_path):
    first, second = tmp_path / "crawl.toml", tmp_path / "mine.toml"
    first.write_text('[strategy]\npolicy = "chile"\npolicy_options = ["a=2"]\n')
    second.write_text('[strategy]\npolicy = "rpuc"\n')
    environ = {"EVERCRAWL_DELAY_S": "3"}
    found = {
        name: source_of(name, first, second, environ=environ, flags={"max_depth": "2", "policy": None})
        for name in ("policy", "policy_options", "delay_s", "max_depth", "dns")
    }
    assert found == {
        "policy": f"{second} line 2: policy", "policy_options": f"{first} line 3: policy_options",
        "delay_s": "the environment variable EVERCRAWL_DELAY_S", "max_depth": "--max-depth", "dns": "",
    }  # fmt: skip


def test_lists_in_the_environment_are_parted_by_white_space():
    config = load(
        environ={"EVERCRAWL_ALLOW_NET": "127.0.0.0/8  fd00::1", "EVERCRAWL_EXCLUDE": r"\?s= \.zip$", "HOME": "/"}
    )
    assert config.allow_net == ("127.0.0.0/8", "fd00::1/128")
    assert config.exclude == (r"\?s=", r"\.zip$")


def test_the_written_file_tells_every_setting_and_reads_back(tmp_path):
    config = Config(
        delay_s=0.1, rate_per_s=1e7 / 3, include=(r"\d'", r"^https?://a\.b/", "é"), segment_bytes=1500, http2=False
    )
    text = save(config, tmp_path).read_text(encoding="utf-8")
    assert [name for table in tomllib.loads(text).values() for name in table] == list(SETTINGS)
    assert all(setting.help in text for setting in SETTINGS.values())
    assert load(tmp_path / "crawl.toml") == config


@given(
    st.lists(st.text(max_size=20).filter(lambda s: s == s.strip()), max_size=3),
    st.floats(0, 1e300),
    st.integers(1, 2**60),
)
def test_any_value_survives_writing(patterns, number, size):
    import re

    config = Config(include=tuple(re.escape(p) for p in patterns), rate_per_s=number, body_max_bytes=size)
    values = {k: v for table in tomllib.loads(to_toml(config)).values() for k, v in table.items()}
    assert Config(**values) == config


@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [
        ("body_max_bytes", "10MiB", 10 << 20),
        ("body_max_bytes", "1.5 kB", 1500),
        ("exchange_deadline_s", "2m", 120.0),
        ("refresh_after_s", "1d", 86400.0),
        ("refresh_after_s", "1w", 604800.0),
        ("disk_wait_s", "250ms", 0.25),
        ("policy", "breadth-first", "breadth_first"),
        ("policy", "my-pack.mod:Mine", "my-pack.mod:Mine"),
        ("http2", "no", False),
        ("discovery", "75%", 0.75),
        ("workers", "AUTO", "auto"),
        ("internal", 0.25, "0.25"),
        ("internal", "Auto", "auto"),
        ("window", "two-windows", "two_windows"),
        ("trusted", ["Example.org", "b.example"], ("example.org", "b.example")),
        ("workers", 2, "2"),
        ("workers", "0", "0"),
        ("dns", "[::1]:5353", "[::1]:5353"),
        ("dns", "", ""),
        ("proxy", "socks5h://127.0.0.1:1080", "socks5h://127.0.0.1:1080"),
        ("contact", "me@example.org", "me@example.org"),
        ("allow_net", ["10.1.2.3/8"], ("10.0.0.0/8",)),
    ],
)
def test_values_are_read_as_people_write_them(name, raw, value):
    assert getattr(load(flags={name: raw}), name) == value


@pytest.mark.parametrize(
    ("name", "raw", "words"),
    [
        ("delay_s", "soon", "--delay must be a duration such as 1.5, 30s, 10m, 1h or 1d, not 'soon'"),
        ("delay_s", -1, "--delay must be a duration"),
        ("delay_s", float("nan"), "--delay must be a duration"),
        ("delay_s", "3 parsecs", "'parsecs' is not a known unit"),
        ("delay_s", True, "not True"),
        ("connections", 0, "--connections must be a whole number, 1 or more, not 0"),
        ("connections", 1.5, "whole number"),
        ("connections", [], "whole number"),
        ("workers", -1, "--workers must be a whole number or auto, not -1"),
        ("workers", "many", "--workers must be a whole number or auto"),
        ("scope", "host", "--scope must be one of hosts, domains, any, not 'host'"),
        ("include", ["("], "not '(': '(' does not compile"),
        ("include", ["a", "("], "not 'a', '(': '(' does not compile"),
        ("allow_net", ["300.0.0.0/8"], "a list of networks such as 127.0.0.0/8"),
        ("allow_net", 7, "a list of networks"),
        ("dns", "localhost", "such as 127.0.0.1:53"),
        ("dns", "127.0.0.1:0", "such as 127.0.0.1:53"),
        ("proxy", "ftp://x", "a proxy such as"),
        ("contact", "call me", "a web page or mail address"),
        ("contact", "https://a.b/\r\nX: y", "a web page or mail address"),
        ("agent", "bot2/1.0", "letters, - and _"),
        ("agent", "bot/1.0\nX: y", "letters, - and _"),
        ("resolve", "/no/such/file", "no such file"),
        ("verify_tls", "perhaps", "true or false"),
        ("policy", "../x", "the name of a strategy"),
        ("internal", 1.5, "--internal must be a number from 0 to 1 or auto, not 1.5"),
        ("internal", "half", "a number from 0 to 1 or auto"),
        ("trusted", ["http://a.example/"], "a list of names such as example.org"),
        ("discovery", 1.5, "--discovery must be a share from 0 to 1, or a percentage such as 75%, not 1.5"),
        ("discovery", "-1%", "a share from 0 to 1"),
    ],
)
def test_what_is_refused_says_what_to_write(name, raw, words):
    assert words in refused(**{name: raw})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[pace]\n\ndelay_s = 'x'\n", "line 3: delay_s must be a duration"),
        (
            "[pace\n",
            "is not TOML: Expected ']' at the end of a table declaration (at line 1, column 6); correct that line",
        ),
        ("[pace]\ndelays = 1\n", "line 2: delays is not a setting; did you mean delay_s?"),
        ("[pace]\nrate = 1\n", "did you mean rate_per_s?"),
        ("[scope]\ndelay_s = 1\n", "line 2: delay_s is in the wrong table; move it to [pace]"),
        ("delay_s = 1\n", "line 1: delay_s is in the wrong table; move it to [pace]"),
        ("[pace]\nqqqqqqq = 1\n", "docs/guide/SETTINGS.md lists them all"),
        ("[pace\n", "is not TOML"),
    ],
)
def test_a_bad_file_is_told_by_line(tmp_path, text, words):
    file = tmp_path / "crawl.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(file)
    assert str(caught.value).startswith((str(file), f"cannot read {file}"))
    assert words in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"cannot read .*none\.toml"):
        load(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"# \xe9\n")
    with pytest.raises(ConfigError, match="UTF-8"):
        load(tmp_path / "latin.toml")


def test_a_misspelt_variable_is_told():
    with pytest.raises(ConfigError, match="EVERCRAWL_DELAYS is not a setting; did you mean delay_s"):
        load(environ={"EVERCRAWL_DELAYS": "1"})


@pytest.mark.parametrize("name", ["EVERCRAWL_KERNELS", "EVERCRAWL_PARTS_DIR", "EVERCRAWL_TRUSTED"])
def test_variables_that_are_of_the_machine_are_no_settings(name):
    assert load(environ={name: "x"}) == Config()


def test_the_agent_names_itself_and_a_person():
    assert Config().product_token == "evercrawl"
    assert Config().user_agent.startswith("evercrawl/")
    config = Config(agent="Tidy-Bot/2.0 (+https://a.b/bot)")
    assert (config.product_token, config.user_agent) == ("Tidy-Bot", "Tidy-Bot/2.0 (+https://a.b/bot)")
    assert Config(contact="https://a.b/bot").user_agent.endswith(" (+https://a.b/bot)")


def test_names_and_flags_are_told_apart():
    assert len({setting.flag for setting in SETTINGS.values()}) == len(SETTINGS)
    assert not any(setting.help.endswith(".") for setting in SETTINGS.values())


FOCUS = (
    Focus(url=r"/(news|press)/\d", words=("storm", 'high "water"'), weight=8),
    Focus(content_type="text/*", weight=0.25),
)


def test_focus_survives_writing_and_a_later_file_replaces_it(tmp_path):
    save(Config(focus=FOCUS, delay_s=3), tmp_path)
    assert load(tmp_path / "crawl.toml") == Config(focus=FOCUS, delay_s=3)
    other = tmp_path / "other.toml"
    other.write_text("[[focus]]\nurl = '/sport/'\n")
    assert load(tmp_path / "crawl.toml", other).focus == (Focus(url="/sport/", weight=4.0),)
    other.write_text("focus = []\n")
    assert load(tmp_path / "crawl.toml", other).focus == ()


def test_sections_of_sites_survive_writing_and_a_change_beside_them(tmp_path):
    sites = (
        SiteRules("a.example", delay_s=5, hours="22-6:30", max_depth=0, exclude=[r"/\d+$"]),
        SiteRules("b.example", rate_per_s=0.5, include=["x"]),
    )
    save(Config(sites=sites[::-1]), tmp_path)
    assert load(tmp_path / "crawl.toml") == Config(sites=sites)
    assert amend(tmp_path, {"delay_s": 2.0})
    assert load(tmp_path / "crawl.toml") == Config(sites=sites, delay_s=2)
    assert Config(sites=sites).sites[0].hours == "22:00-06:30"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("delay = '3s'\n", 'line 4: site."e.example": delay is not a key of a site section; did you mean delay_s?'),
        ("hours = '9'\n", 'line 4: site."e.example": hours must be hours of the day in UTC, such as 22:00-06:00'),
        ("hours = '9-25'\n", "hours must be hours of the day"),
        ("exclude = ['a']\nmax_depth = -1\n", 'line 5: site."e.example": max_depth must be a whole number'),
        ("include = ['(']\n", "'(' does not compile"),
        ("[site.x.example]\ndelay_s = 1\n", 'site."x": put the name between quotes'),
        ("[site.'a b']\n", 'line 4: site."a b": the name must be the name of a host, such as example.org'),
    ],
)
def test_a_wrong_section_of_a_site_is_told_by_its_line(tmp_path, text, words):
    file = tmp_path / "crawl.toml"
    file.write_text(f'[pace]\ndelay_s = 1\n[site."e.example"]\n{text}')
    with pytest.raises(ConfigError) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_targets_survive_writing_and_a_change_beside_them(tmp_path):
    targets = (Target(r"""/a\d"'x""", "90%"), Target("/news/", 0.95, "1h"))
    save(Config(targets=targets), tmp_path)
    assert load(tmp_path / "crawl.toml") == Config(targets=targets)
    assert amend(tmp_path, {"delay_s": 2.0})
    assert load(tmp_path / "crawl.toml") == Config(targets=targets, delay_s=2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('["/n/"]\nfresh = 0.9\nwithn = 3\n', 'line 3: target."/n/": withn is not a key of a target section; did you'),
        ('["/n/"]\nfresh = 1\n', 'line 2: target."/n/": fresh must be a share above 0 and up to 0.999'),
        ('["/n/"]\nwithin = 3\n', 'line 1: target."/n/": fresh is missing'),
        ('["("]\nfresh = 0.9\n', "'(' does not compile"),
        ("[news.paper]\nfresh = 0.9\n", 'target."news": put the pattern between quotes'),
    ],
)
def test_a_wrong_target_is_told_by_its_line(tmp_path, text, words):
    file = tmp_path / "crawl.toml"
    file.write_text(text.replace("[", "[target.", 1))
    with pytest.raises(ConfigError) as caught:
        load(file)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("hours", "now", "opens_at"),
    [
        ("22:00-06:00", 21.5, 22.0),
        ("22:00-06:00", 22.0, 22.0),
        ("22:00-06:00", 29.9, 29.9),
        ("22:00-06:00", 30.0, 46.0),
        ("9-17", 17.0, 33.0),
        ("0-24", 5.0, 5.0),
    ],
)
def test_hours_open_and_close_each_day(hours, now, opens_at):
    for day in (0, 19_675):
        at = day * 86400.0
        assert Hours.read(hours).opens_at(at + now * 3600.0) == pytest.approx(at + opens_at * 3600.0, abs=0.01)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[focus]]\nurl = '/a/'\n[[focus]]\nurl = '('\n", "focus, entry 2: url must be a regular expression"),
        ("[[focus]]\nurl = '('\n", "'(' does not compile"),
        ("[[focus]]\nwieght = 2\n", "focus, entry 1: wieght is not a key of [[focus]]; did you mean weight?"),
        ("[[focus]]\nwords = [7]\n", "focus, entry 1: words must be a list of words or phrases"),
        ("[[focus]]\nwords = ['...']\n", "words must be a list of words or phrases"),
        ("[[focus]]\ncontent_type = 'pdf'\n", "content_type must be a type such as application/pdf"),
        ("[[focus]]\nurl = 'a'\nweight = 0\n", "weight must be a number from 0.001 to 1000, not 0"),
        ("[[focus]]\nurl = 'a'\nweight = true\n", "weight must be a number"),
        ("[[focus]]\nweight = 2\n", "focus, entry 1: selects no pages; add a url, a content_type or words"),
        ("[focus]\nurl = 'a'\n", "each under a line [[focus]]"),
        ("focus = ['a']\n", "focus, entry 1 must be a table"),
        ("[[focus]]\nurl = 'a'\n" * 17, "17 entries are too many"),
    ],
)
def test_a_wrong_focus_is_told_by_its_entry(tmp_path, text, words):
    file = tmp_path / "crawl.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}: focus")
    assert words in str(caught.value)

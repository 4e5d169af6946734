"""Single keys of sections: by their names, in the settings and in the file."""

import pytest

from evercrawl.config import FILE_NAME, Config, SiteRules, load
from evercrawl.config.section_keys import section_key, with_value
from evercrawl.config.written import amend_by
from evercrawl.errors import ConfigError

WRITTEN = """\
[pace]
delay_s = 2

# slow at night
[site."Example.org"]
delay_s = "10s"  # they asked for it
exclude = [
    "/private/",  # their wish
]

[target."/news/"]
fresh = 0.95
"""


def other(directory, name, *values: str, unset=False):
    where = section_key(name)
    assert where is not None
    amend_by(directory, lambda config: with_value(config, where, values, unset=unset))


def test_keys_change_in_the_file_and_all_else_stays(tmp_path):
    file = tmp_path / FILE_NAME
    file.write_text(WRITTEN)
    other(tmp_path, "site.example.org.hours", "22-6")
    other(tmp_path, "site.example.org.exclude", "/private/", "/tmp/")
    other(tmp_path, 'target."/news/".within', "1h")
    other(tmp_path, "site.b.example.headers", "X-A: b")
    text = file.read_text()
    for line in (
        "# slow at night",
        'delay_s = "10s"  # they asked for it',
        '"/private/",  # their wish',
        "within = 3600",
    ):
        assert line in text
    config = load(file)
    assert [rules.name for rules in config.sites] == ["b.example", "example.org"]
    assert config.sites[1] == SiteRules(
        "example.org", delay_s=10.0, hours="22:00-06:00", exclude=("/private/", "/tmp/")
    )
    assert config.sites[0].headers == ("X-A: b",)
    assert config.targets[0].within == 3600.0
    before = file.read_bytes()
    other(tmp_path, "site.example.org.hours", "22-6")
    assert file.read_bytes() == before


def test_a_key_or_a_section_is_unset_and_doing_so_twice_has_no_effect(tmp_path):
    file = tmp_path / FILE_NAME
    file.write_text(WRITTEN)
    for _ in range(2):
        other(tmp_path, "site.example.org.delay_s", unset=True)
        other(tmp_path, "target./news/", unset=True)
    assert load(file) == Config(delay_s=2.0, sites=(SiteRules("example.org", exclude=("/private/",)),))
    other(tmp_path, "site.example.org.exclude", unset=True)
    assert load(file) == Config(delay_s=2.0)


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("site.example.org", ["1"], "names no key"),
        ("site.example.org.delay_s", ["1", "2"], "takes one value"),
        ("site.example.org.max_depth", ["many"], "max_depth must be"),
        ('target."/news/".within', ["1h"], "fresh is missing"),
        ('target."(".fresh', ["1"], "regular expression"),
    ],
)
def test_what_does_not_hold_together_is_refused(name, values, why):
    where = section_key(name)
    assert where is not None
    with pytest.raises(ConfigError, match=why):
        with_value(Config(), where, values, unset=False)


def test_a_quoted_name_may_have_any_key_and_no_other():
    with pytest.raises(ConfigError, match="delay is not a key of a site section; choose among delay_s"):
        section_key('site."example.org".delay')
    assert section_key('target."/a.fresh".fresh') == ("target", "/a.fresh", "fresh")
    assert section_key("site.www.example.org") == ("site", "www.example.org", "")

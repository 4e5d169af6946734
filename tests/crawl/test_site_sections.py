"""The scope of single sites."""

from evercrawl.config import Config, SiteRules
from evercrawl.config.site_rules import Sites
from evercrawl.model.rules.scope import Scope


def test_a_site_has_a_scope_of_its_own():
    sites = (SiteRules("wide.example", scope="any"), SiteRules("narrow.example", scope="hosts"))
    scope = Scope(Config(scope="domains", sites=sites), lambda _: 0)
    scope.add_root("www.narrow.example")
    scope.add_root("www.usual.example")
    held = ["x.wide.example", "www.narrow.example", "img.usual.example"]
    assert [scope.holds(host) for host in held] == [True] * 3
    assert not scope.holds("img.narrow.example")
    assert not scope.holds("elsewhere.example")
    rule = "[site.\"narrow.example\"] scope = 'hosts'"
    assert rule in scope.rules()
    assert scope.keeps_out("http://img.narrow.example/", 1, seed=False) == rule
    assert scope.keeps_out("http://elsewhere.example/", 1, seed=False) == "scope = 'domains'"
    assert not scope.keeps_out("http://x.wide.example/", 1, seed=False)
    scope.change(Config(scope="any", sites=sites))
    assert not scope.holds("img.narrow.example")
    assert scope.holds("elsewhere.example")
    assert not scope.open


def test_the_dot_of_the_root_changes_no_section():
    """A host that a directory knows by its name with the dot has the section of the name without."""
    sites = Sites((SiteRules("b.example", delay_s=5.0),))
    assert sites.of("www.b.example.") == sites.of("b.example") == sites.of("b.example.")
    assert sites.of("b.example.org.") is None


def test_a_seed_with_the_dot_of_the_root_is_a_root_of_the_scope_by_both_names():
    scope = Scope(Config(scope="hosts"), lambda _: 0)
    scope.add_root("b.example.")
    assert scope.holds("b.example")
    assert scope.holds("b.example.")
    assert not scope.holds("a.b.example")

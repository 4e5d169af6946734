"""The scope of single sites."""

from evercrawl.config import Config, SiteRules
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

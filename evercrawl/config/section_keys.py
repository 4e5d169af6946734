"""Keys in the sections of crawl.toml, by names such as `site."example.org".delay_s`, and changes to them."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from evercrawl.config import site_rules, targets
from evercrawl.config.settings import Config
from evercrawl.errors import ConfigError

_NAME: Final = re.compile(r"""(site|target)\.(?:"([^"]+)"|'([^']+)'|(.+?))(?:\.([a-z_]+))?""", re.DOTALL)
_KEYS: Final = {"site": site_rules.KINDS, "target": targets.KINDS}
FIELD: Final = {"site": "sites", "target": "targets"}
"""Kind of section -> the setting that holds all sections of the kind."""
FORM: Final = 'site."HOST".KEY or target."PATTERN".KEY'


class SectionKey(NamedTuple):
    """A key of a section, or a whole section if `key` is "".

    Attributes
    ----------
    kind, name, key
        "site" or "target"; the host or pattern of the section; the key.
    """

    kind: str
    name: str
    key: str

    @property
    def many(self) -> bool:
        """Return whether its value is a list."""
        return self.kind == "site" and isinstance(getattr(site_rules.SiteRules("example.org"), self.key, ""), tuple)

    def __str__(self) -> str:
        """Return the key as users write it."""
        return f'{self.kind}."{self.name}"{f".{self.key}" if self.key else ""}'


def section_key(name: str) -> SectionKey | None:
    """Return the section and key that a name refers to; None for any other name.

    If the part after the last dot is not a key, it belongs to the name of the section.

    Raises
    ------
    ConfigError
        The section has no such key.

    Examples
    --------
    >>> str(section_key("site.example.org.delay_s")), str(section_key("target.'/news/'"))
    ('site."example.org".delay_s', 'target."/news/"')
    >>> section_key("delay_s")
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    kind, double, single, bare, key = found.groups()
    quoted = double or single
    keys = _KEYS[kind]
    if key and key not in keys:
        if quoted:
            raise ConfigError(f"{key} is not a key of a {kind} section; choose among {', '.join(keys)}")
        bare, key = f"{bare}.{key}", ""
    section = quoted or bare
    known = site_rules.read({section: {}}) if kind == "site" else ()
    return SectionKey(kind, known[0].name if known else section, key or "")


def with_value(config: Config, where: SectionKey, given: Sequence[str], *, unset: bool) -> dict[str, Any]:
    """Return all sections of a kind after changing one key: the setting that holds them -> the sections.

    Parameters
    ----------
    config
        The present settings.
    where
        The key; with `unset` also a whole section.
    given
        The new value; all entries of a list.
    unset
        Whether to remove the key or the section, which need not exist.

    Raises
    ------
    ConfigError
        The value is of the wrong kind, or keys of the section contradict each other.

    Examples
    --------
    >>> key = section_key('site."example.org".delay_s')
    >>> [each.given() for each in with_value(Config(), key, ["5s"], unset=False)["sites"]]
    [{'delay_s': 5.0}]
    """
    field = FIELD[where.kind]
    sections: dict[str, dict[str, object]] = {_name(each): each.given() for each in getattr(config, field)}
    values = sections.get(where.name, {})
    if unset:
        kept = {key: value for key, value in values.items() if where.key and key != where.key}
        sections = {name: old for name, old in sections.items() if name != where.name} | (
            {where.name: kept} if kept else {}
        )
    elif not where.key:
        raise ConfigError(f"{where} names no key; name one of {', '.join(_KEYS[where.kind])}")
    elif not where.many and len(given) != 1:
        raise ConfigError(f"{where} takes one value")
    else:
        sections[where.name] = values | {where.key: list(given) if where.many else given[0]}
    read: Callable[[Mapping[str, object]], object] = site_rules.read if where.kind == "site" else targets.read
    return {field: read(sections)}


def check_set(config: Config, where: SectionKey) -> None:
    """Check that the key or section is set.

    Raises
    ------
    ConfigError
        It is not set.
    """
    for each in getattr(config, FIELD[where.kind]):
        if _name(each) == where.name and (not where.key or where.key in each.given()):
            return
    raise ConfigError(f"{where} is not set")


def value_in(config: Config, where: SectionKey) -> str:
    """Return the value of a key as text; "" if it is not set."""
    for each in getattr(config, FIELD[where.kind]):
        if _name(each) == where.name:
            value = each.given().get(where.key, "")
            return ", ".join(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else str(value)
    return ""


def _name(section: site_rules.SiteRules | targets.Target) -> str:
    return section.name if isinstance(section, site_rules.SiteRules) else section.pattern

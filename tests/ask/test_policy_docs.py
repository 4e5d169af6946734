"""What is told of a policy's parameters and tables: all there is, in words, and in the pages that are made of it."""

import inspect
import re
from pathlib import Path

import pages
import pytest

from evercrawl.ask.policies.docs import Option, described
from evercrawl.errors import ConfigError
from evercrawl.model.policy.policies import kind_of, names
from evercrawl.schedule import Policy
from evercrawl.schedule.abilities import Tabulates

DOCS = Path(__file__).parents[2] / "docs" / "guide"
EVERY = pytest.mark.parametrize("name", names())
WORDS = [
    pytest.param(name, option, id=f"{name}-{option.name}")
    for name in names()
    for option in described(name, kind_of(name)).options
    if isinstance(option.default, str)
]


class Base(Tabulates, Policy):
    """Something that others share.

    Parameters
    ----------
    share, part
        How much.
    """

    def __init__(self, share: float = 0.5, part: float = 0.25) -> None: ...

    def tables(self, context):
        """Return the plan.

        Returns
        -------
        plan
            All pages,
            in order.

            slot : page
                Which.
            low, high : a day
                Bounds.
        """
        return {}


class Derived(Base):
    """Visit what is next;
    then the other.

    Parameters
    ----------
    kind
        odd or even.

        Not both.
    share
        See `Base`.

    Examples
    --------
    kind
        This is none.
    """

    def __init__(self, kind: str = "odd", share: float = 0.5, untold: int = 7) -> None: ...

    def tables(self, context):
        """Return two.

        Returns
        -------
        plan
            See `Base`.
        more
            Another.

            site : site
                Whose.
        """
        return {}

    def value(self, pages, context):
        raise NotImplementedError


def test_docstrings_are_read_as_they_are_written():
    found = described("its-name", Derived)
    assert found.name == "its_name"
    assert found.promise == "Visit what is next; then the other."
    assert found.options == [
        Option("kind", "odd", "odd or even. Not both."), Option("share", 0.5, "How much."), Option("untold", 7, "")
    ]  # fmt: skip
    plan, more = found.tables
    assert (plan.name, plan.meaning) == ("plan", "All pages, in order.")
    assert [tuple(column) for column in plan.columns] == [
        ("url", "page", "Which."), ("low", "a day", "Bounds."), ("high", "a day", "Bounds.")
    ]  # fmt: skip
    assert [tuple(column) for column in more.columns] == [("site", "site", "Whose.")]


def test_the_page_is_as_the_docstrings_have_it():
    written = (DOCS / "POLICY_OPTIONS.md").read_text("utf-8")
    assert written == pages.policy_options(), "run `make docs`"


@EVERY
def test_every_parameter_table_and_column_is_told(name):
    found = described(name, kind_of(name))
    told = {each.name: each.meaning for each in found.options}
    assert list(told) == list(inspect.signature(kind_of(name)).parameters)
    assert all(told.values()), told
    for table in found.tables:
        assert table.meaning, table.name
        assert table.columns, table.name
        assert all(column.unit and column.meaning for column in table.columns), table


@EVERY
def test_nobody_is_sent_to_the_code(name):
    found = described(name, kind_of(name))
    assert not [each for each in found.options if re.search(r"[Ss]ee `", each.meaning)]


@pytest.mark.parametrize(("name", "option"), WORDS)
def test_every_choice_is_told(name, option):
    try:
        kind_of(name)(**{option.name: "none-of-these"})
    except ConfigError as error:
        choices = re.search(r"must be one of (.*), not ", str(error))
        if choices is not None:
            assert not [each for each in choices[1].split(", ") if not re.search(rf"\b{each}\b", option.meaning)]


def test_both_pages_about_policies_and_the_readme_lead_there():
    for page in ("POLICIES.md", "CLI.md", "../../README.md"):
        assert "POLICY_OPTIONS.md)" in (DOCS / page).read_text("utf-8"), page

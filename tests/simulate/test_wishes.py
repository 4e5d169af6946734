"""Worlds draw every setting that a person has, or say why not."""

from dataclasses import fields
from random import Random

import pytest

from evercrawl.config import Config
from evercrawl.model.policy import policies
from evercrawl.simulate.worlds.wishes import NOT_DRAWN, options
from evercrawl.simulate.worlds.world import drawn

ALWAYS = {"scope"}  # any: a made-up web is all there is


def test_each_setting_is_drawn_or_it_is_said_why_not():
    default = Config()
    configs = [life.config for seed in range(60) for life in drawn(seed).lives]
    moved = {
        field.name
        for field in fields(Config)
        if any(getattr(config, field.name) != getattr(default, field.name) for config in configs)
    }
    assert moved - ALWAYS == {field.name for field in fields(Config)} - set(NOT_DRAWN) - ALWAYS


@pytest.mark.parametrize("policy", policies.names())
def test_what_is_drawn_for_a_policy_it_accepts(policy):
    drawn_options = [options(Random(seed), policy) for seed in range(20)]
    for given in drawn_options:
        policies.policy_of(policy, given)
    numbers = [value for value in policies.parameters(policies.kind_of(policy)).values() if not isinstance(value, str)]
    assert any(drawn_options) == bool(numbers)

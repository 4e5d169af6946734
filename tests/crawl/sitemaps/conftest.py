"""A web whose sites have sitemaps."""

import pytest

from tests.helpers.sitemap_world import World


@pytest.fixture
def world():
    return World()

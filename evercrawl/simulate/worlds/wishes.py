"""What people ask of a crawl beyond its pace, drawn for each life of a world.

It has a random stream of its own, so that another setting drawn here moves no other part of a world.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from evercrawl.config import Config, Focus, values
from evercrawl.errors import ConfigError
from evercrawl.model.policy import policies
from evercrawl.model.worth.weights import WEIGHTS

NOT_DRAWN: Final = {
    "include": "a made-up web has no paths to tell apart by a pattern",
    "exclude": "as `include`",
    "render": "a browser needs real sockets and real time; tests of its own hold it to its limits",
    "render_pages": "as `render`",
    "render_time_s": "as `render`",
    "render_requests": "as `render`",
    "render_memory_bytes": "as `render`",
    "browser": "as `render`",
    "tdmrep": "no made-up site has the file; a live crawl tests it",
    "requisites": "pages of made-up worlds need nothing else to be shown; tests of its own hold it to its limits",
    "requisites_from": "as `requisites`",
    "requisites_share": "as `requisites`",
    "sites": "as `include`: rules of one site are held to by tests of their own",
    "targets": "as `include`: tests of their own hold that they are met",
    "max_depth": "the law that no page starves asks for every page",
    "agent": "a made-up web answers every agent alike",
    "contact": "as `agent`",
    "sign_key": "as `agent`",
    "sign_agent": "as `agent`",
    "allow_net": "no address of a made-up web is inside a network",
    "refuse_net": "the addresses of a made-up web are drawn later than its settings",
    "dns": "names are made up",
    "memory_max_bytes": "how much memory a process takes is no part of a world",
    "resolve": "names are made up",
    "happy_eyeballs_s": "the hosts of made-up worlds have addresses of one version; a crawl of two tests it",
    "proxy": "there is no network",
    "verify_tls": "there are no certificates",
    "http2": "there is no network",
    "http3": "there is no network",
    "keep_days": "done between two runs of a crawl",
    "keep_bytes": "as `keep_days`",
    "keep_versions": "as `keep_days`",
    "durable": "a crawl of one partition has no keeper; worlds of several have",
    "keeper_dir": "as `durable`",
    "lost_after_s": "as `durable`; there are no machines",
    "rebalance": "there are no machines",
    "archive_to": "a process beside the crawl copies its archive",
    "webhook_url": "a process beside the crawl delivers changes",
    "webhook_secret": "as `webhook_url`",
    "webhook_private": "as `webhook_url`",
    "webhook_pages": "as `webhook_url`",
    "feeds": "a process beside the crawl writes them",
}
"""Settings that no world draws, and why."""
_FACTORS: Final = (0.5, 2.0)
_OFTEN: Final = 0.3
"""Part of the lives before which a person changes what they wish; part of the wishes that name another policy."""


def wish(seed: int, configs: Sequence[Config]) -> list[Config]:
    """Return the settings of all lives with policy options, weights, focus, discovery, suspects, probes and workers.

    Most lives of a world go by the wishes of the first; a person changes them now and then.
    """
    draw = random.Random(f"settings {seed}")
    wishes, wished = _drawn(draw, configs[0]), list[Config]()
    for config in configs:
        wishes = _drawn(draw, config) if draw.random() < _OFTEN else wishes
        wished.append(replace(config, **wishes | {"virtual_page": _virtual_page(wishes, config)}))
    return wished


def _drawn(draw: random.Random, config: Config) -> dict[str, Any]:
    policy = draw.choice(policies.names()) if draw.random() < _OFTEN else config.policy
    return {
        "policy": policy,
        "policy_options": options(draw, policy),
        "weight": draw.choice(["importance", "importance", *WEIGHTS]),
        "discovery": draw.choice([0.5, 0.5, 0.1, 0.9]),
        "focus": _focus(draw),
        "suspects": draw.choice(["report", "cap"]),
        "probe_share": draw.choice([0.01, 0.0, 0.2]),
        "max_search_results": draw.choice([50, 3]),
        "spare_mirrors": draw.random() < 0.7,
        "workers": draw.choice(["0", "2"]),
        "lookups": draw.choice([64, 64, 3, 1]),
        "robots_bytes": draw.choice([256 << 20, 1 << 20]),
        "window": _sized(draw, config.window),
        "tax": draw.choice(["auto", "auto", "0.05", "0.3"]),
        "convention": draw.choice(["auto", "tax", "link"]),
        "virtual_page": draw.choice(["sites", "pages"]),
        "virtual_spends": draw.choice(["auto", "at-once", "in-turn"]),
    }


def _virtual_page(wishes: dict[str, Any], config: Config) -> str:
    """Return what the virtual page gives to; only where cash goes round can that be pages."""
    if config.importance != "aopic":
        return "sites"
    focused = wishes["virtual_page"] == "pages" and wishes["virtual_spends"] == "in-turn"
    return "focused" if focused else str(wishes["virtual_page"])


def _sized(draw: random.Random, window: str) -> str:
    """Return a window with a size, or with its usual one."""
    if window in (values.AUTO, "unbounded"):
        return window
    sizes = ["", "", ":4", ":8v"] if window == "variable" else ["", "", ":4", ":8v", ":2h"]
    return window + draw.choice(sizes)


def options(draw: random.Random, policy: str) -> tuple[str, ...]:
    """Return values for some parameters of a policy, each of which it accepts.

    Numbers are half or twice what they are by default; words stay.

    Examples
    --------
    >>> options(random.Random(3), "xyleme") in {(), ("cycle=0.1",), ("cycle=0.4",)}
    True
    """
    given = list[str]()
    for name, default in policies.parameters(policies.kind_of(policy)).items():
        if draw.random() < 0.5 or isinstance(default, str):
            continue
        value = default * draw.choice(_FACTORS)
        option = f"{name}={round(value) if isinstance(default, int) else value:g}"
        if _accepts(policy, [*given, option]):
            given.append(option)
    return tuple(given)


def _accepts(policy: str, given: Sequence[str]) -> bool:
    try:
        policies.policy_of(policy, given)
    except ConfigError:
        return False
    return True


def _focus(draw: random.Random) -> tuple[Focus, ...]:
    """Return no entry, or one or two of any kind."""
    kinds = (Focus(url="/a"), Focus(url="1"), Focus(content_type="text/*"), Focus(words=("page",)))
    count = draw.choice([0, 0, 1, 2])
    return tuple(replace(draw.choice(kinds), weight=draw.choice([0.2, 4.0, 50.0])) for _ in range(count))

"""Why a URL is not a page of a crawl, and what would make it one."""

from evercrawl.ask.why.waiting import robots_rule
from evercrawl.fetch.guard import Guard
from evercrawl.model.rules.barred import Barred
from evercrawl.model.rules.budgets import Budgets
from evercrawl.model.stored.answers import instant
from evercrawl.model.view import View
from evercrawl.parse.urls import hostname

_BOUNDS = {
    "scope": 'scope = "{scope}": no seed is on {host}{wider}',
    "include": "include: it matches none of the patterns",
    "max_depth": "max_depth",
    "max_pages_per_host": "max_pages_per_host = {max_pages_per_host}: {host} already has that many known pages",
}

_FULL = {
    "max_backlog_per_host": "{setting} = {most}: that many URLs of {host} are already waiting",
    "max_pages_per_link": "{setting} = {most}: no seed is on {host}, and links of other sites allow no more pages",
}


def kept_out(view: View, slot: int) -> str:
    """Return a sentence about the rule that excludes a known page whatever its value; "" if no rule does."""
    url, state = view.state.urls.get(slot), view.state
    rule = Barred(state, view.scope).rule(slot, url)
    if not rule:
        return ""
    since = state.steered.bounds.get(rule)
    when = f" since {instant(since)}" if since is not None else ""
    return f"{rule} in crawl.toml excludes it{when}; its copy and history stay, and return when the rule is lifted"


def outside(view: View, url: str) -> tuple[str, tuple[str, ...]]:
    """Return the state of an unknown URL, such as "out of scope" or "forgotten", and sentences about it."""
    config, host = view.config, hostname(url)
    why_not = Guard(config.allow_net, config.refuse_net).judge_url(url)
    if why_not:
        return "refused", (f"{why_not}, so it is never requested",)
    if view.state.forgotten.has_url(view.state.hasher, url, host):
        return "forgotten", ("it was forgotten by `evercrawl forget`, so it is never requested again",)
    setting = view.scope.excluded_by(url, 0)
    if setting == "exclude":
        return "out of scope", (f"crawl.toml excludes it by {view.scope.excludes(url)}",)
    if setting:
        wider = ", nor on another host of its domain" if config.scope == "domains" else ""
        bound = _BOUNDS[setting].format(
            scope=config.scope, host=host, wider=wider, max_pages_per_host=config.max_pages_per_host
        )
        return "out of scope", (f"crawl.toml excludes it by {bound}",)
    full = Budgets(view.state, config).over(host)
    if full:
        return "out of scope", (
            f"{_FULL[full].format(host=host, setting=full, most=getattr(config, full))}; it is added when a page that "
            "links to it is read again and the limit allows it",
        )
    rule = robots_rule(view, url)
    if rule:
        return "refused", (f"robots.txt disallows it ({rule}), wherever it is linked",)
    deep = f" at most {config.max_depth} links from a seed" if config.max_depth else ""
    again = f"evercrawl crawl {url} --dir {view.partition.directory}"
    return "unknown", (
        "no page that was read so far links to it, and no sitemap or feed lists it",
        f"a link to it on a page that is read{deep}, or in a sitemap, would add it; or name it as a seed: {again}",
    )

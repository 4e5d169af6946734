"""The set of URLs that a crawl of a simulated web must find."""

import re

from evercrawl.parse.urls import origin, path_query
from evercrawl.simulate.worlds.made_web import MadeWeb


def reached(web: MadeWeb, seed: str) -> set[str]:
    """Return the URLs reachable by links and redirects from a seed, including those robots.txt disallows."""
    found, todo = {seed}, [seed]
    while todo:
        url = todo.pop()
        home, path = origin(url), path_query(url)
        if path.startswith("/private/"):
            continue
        answer = web.answer(home, path, {}, 0.0)
        targets = [*re.findall(r'href="([^"]+)"', answer.body.decode()), answer.headers.get("Location", "")]
        for target in targets:
            whole = target if "://" in target else f"{home}{target}"
            if target and whole not in found:
                found.add(whole)
                todo.append(whole)
    return found

"""A site whose search page links to further searches without end."""

import pytest

from evercrawl.progress import Limits
from evercrawl.schedule.policies.price.price import Price
from evercrawl.simulate.worlds.made_web import Answer

SITE = "http://shop.example"
PAGES = 60
FAST = {"delay_s": 0, "connections_per_ip": 64, "connections_per_host": 4, "rate_per_s": 10.0, "refresh_after_s": 20.0}


class Shop:
    """Sixty pages, each with the search form and a question that others asked; a result links to twenty more."""

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        if path == "/robots.txt":
            return Answer(404)
        form = '<form action="/search" method="get"><input type="text" name="q"></form>'
        if path.startswith("/search?q="):
            asked = path.removeprefix("/search?q=")
            links = [f"/search?q={asked[-12:]}-{i}" for i in range(20)]
            return self.page(f"Results for {asked}", form, f"/p{len(asked) % PAGES}", *links)
        number = 0 if path == "/" else int(path.removeprefix("/p"))
        links = [f"/p{i}" for i in (2 * number + 1, 2 * number + 2) if i < PAGES]
        return self.page(f"Page {number}", form, f"/search?q=often-{number}", "/", *links)

    @staticmethod
    def page(title: str, form: str, *links: str) -> Answer:
        words = " ".join(f"{title} {i * i}" for i in range(60))
        anchors = " ".join(f'<a href="{link}">{link}</a>' for link in links)
        body = f"<title>{title}</title>{form}<p>{words}</p>{anchors}"
        return Answer(200, {"Content-Type": "text/html"}, body.encode())


@pytest.mark.parametrize("most", [50, 7, 0])
def test_results_of_a_search_are_capped_and_every_page_is_read(run, most):
    limits = Limits(pages=400, seconds=3600)
    ran = run(Shop(), [f"{SITE}/"], limits, policy=Price(), polite=False, max_search_results=most, **FAST)
    asked = {one.url for one in ran.network.log if one.status == 200}
    found = [url for url in asked if "/search?" in url]
    pages = {f"{SITE}/"} | {f"{SITE}/p{number}" for number in range(1, PAGES)}
    if most:
        assert len(found) == most
        assert asked - set(found) == pages
        assert ran.progress[-1].errors["max_search_results"] > 50
    else:
        assert len(found) > 100

"""Hosts whose sitemaps are slow, so that those of other hosts are requested late or never."""

import pytest

from evercrawl.parse.urls import hostname
from evercrawl.progress import Limits

GOOD = "http://good.example"


@pytest.mark.parametrize(
    ("name", "address", "within_s"),
    [
        ("http://evil{}.example", "8.8.{}.7", 45.0),
        ("http://{}.evil.example", "8.8.{}.7", 10.0),
        ("http://evil{}.example", "8.9.1.{}", 10.0),
    ],
)
def test_slow_sitemaps_keep_those_of_no_other_host_waiting(run, name, address, within_s):
    world, evil = run.World(), [name.format(i) for i in range(40)]
    for home in (*evil, GOOD):
        maps = [f"{home}/{i}.xml" for i in range(1 if home == GOOD else 20)]
        world.pages[f"{home}/robots.txt"] = run.robots_txt("".join(f"Sitemap: {url}\n" for url in maps))
        world.pages[f"{home}/"] = world.html(text=home)
    world.pages |= {f"{GOOD}/p{i}": world.html(text=f"{i}") for i in range(20)}
    listed = "".join(f"<url><loc>{GOOD}/p{i}</loc></url>" for i in range(20))
    world.pages[f"{GOOD}/0.xml"] = run.Answer(200, {}, f"<urlset>{listed}</urlset>".encode())
    names = {hostname(f"{home}/"): [address.format(i + 1)] for i, home in enumerate(evil)}
    names["good.example"] = ["8.7.1.7"]

    def lasts_s(request) -> float:
        return 29.5 if "evil" in request.url and request.url.endswith(".xml") else 0.1

    seeds = [f"{home}/" for home in (*evil, GOOD)]
    ran = run(world, seeds, Limits(seconds=60.0), names=names, latency_s=lasts_s, delay_s=0.5, probe_share=0.0)
    began = ran.network.log[0].at
    assert ran.asked(f"{GOOD}/0.xml")[0].at < began + within_s
    assert sum(url.startswith(f"{GOOD}/p") for url in ran.pages) == 20


def test_a_slow_sitemap_is_read_although_others_wait(run):
    """A request that was ended to make room for others is repeated in a lane of its own, and is no failure."""
    world, slow = run.World(), [f"http://slow{i}.example" for i in range(8)]
    for home in slow:
        world.pages[f"{home}/robots.txt"] = run.robots_txt(f"Sitemap: {home}/s.xml\n")
        world.pages[f"{home}/"] = world.html(text=home)
        listed = f"<urlset><url><loc>{home}/p</loc></url></urlset>"
        world.pages[f"{home}/s.xml"] = run.Answer(200, {}, listed.encode())
        world.pages[f"{home}/p"] = world.html(text=f"{home} p")
    names = {hostname(f"{home}/"): [f"8.8.{i}.7"] for i, home in enumerate(slow)}
    ran = run(
        world, [f"{home}/" for home in slow], Limits(seconds=600.0), names=names, delay_s=0.5, probe_share=0.0,
        latency_s=lambda request: 8.0 if request.url.endswith(".xml") else 0.1,
    )  # fmt: skip
    assert len(ran.network.log) > len({asked.url for asked in ran.network.log})  # some were ended
    assert sum(url.endswith("/p") for url in ran.pages) == len(slow)
    assert not [name for name in ran.progress[-1].errors if "silent" in name]


def test_no_slow_sitemap_is_ended_for_one_that_cannot_be_requested(run):
    """Of a network with one under way no other is requested, so the others have nothing from the end of theirs."""
    world, slow = run.World(), [f"http://slow{i}.example" for i in range(6)]
    for home in (*slow, GOOD):
        world.pages[f"{home}/robots.txt"] = run.robots_txt(f"Sitemap: {home}/s.xml\n")
        world.pages[f"{home}/"] = world.html(text=home)
        world.pages[f"{home}/s.xml"] = run.Answer(200, {}, b"<urlset/>")
    names = {hostname(f"{home}/"): [f"8.8.{i}.7"] for i, home in enumerate(slow)}
    names["good.example"] = ["8.8.5.9"]  # in the network of the last
    ran = run(
        world, [f"{home}/" for home in (*slow, GOOD)], Limits(seconds=120.0), names=names, delay_s=0.5, probe_share=0.0,
        latency_s=lambda request: 20.0 if "slow" in request.url and request.url.endswith(".xml") else 0.1,
    )  # fmt: skip
    assert len(ran.asked(f"{GOOD}/s.xml")) == 1
    assert [len(ran.asked(f"{home}/s.xml")) for home in slow] == [1] * 6, "none was ended and repeated"

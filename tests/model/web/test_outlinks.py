"""Links as events keep them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.model.web.outlinks import Outlinks, leading_away, outlinks
from evercrawl.store.journal.codec import decode_slots
from evercrawl.types import NO_SLOT

PAGE = "http://www.one.example/page"
HOMES = ("http://www.one.example", "http://other.one.example", "http://two.example", "https://www.one.example")


@given(
    st.lists(st.tuples(st.sampled_from(HOMES), st.booleans()), max_size=40),
    st.permutations(range(40)),
    st.integers(0, 5),
)
def test_what_is_kept_says_where_each_link_leads(drawn, slots, withheld):
    urls = [f"{home}/{i}" for i, (home, _) in enumerate(drawn)]
    known = [slots[i] if is_known else NO_SLOT for i, (_, is_known) in enumerate(drawn)]
    links = outlinks(PAGE, 7, urls, np.array(known, np.uint32), withheld)
    assert links == outlinks(PAGE, 7, urls, np.array(known, np.uint32), withheld, leading_away(PAGE, urls))
    pairs = zip(known, urls, strict=True)
    wanted = sorted((slot, "one.example" not in url) for slot, url in pairs if slot not in (7, NO_SLOT))
    bits = np.unpackbits(np.frombuffer(links.external, np.uint8), bitorder="little").tolist()
    found = decode_slots(links.targets).tolist()
    bits += [0] * (len(found) - len(bits))
    assert [(slot, bool(bit)) for slot, bit in zip(found, bits, strict=False)] == wanted
    assert links.out == sum(slot != 7 for slot in known) + withheld
    assert bool(links.external) == any(away for _, away in wanted)


def test_a_page_without_links_to_known_pages_still_divides_by_them():
    assert outlinks(PAGE, 7, [], np.zeros(0, np.uint32)) == Outlinks()
    assert outlinks(PAGE, 7, ["http://x.example/"], np.array([NO_SLOT], np.uint32), 3) == Outlinks(out=4)
    assert outlinks(PAGE, 7, [PAGE], np.array([7], np.uint32)) == Outlinks()


def test_from_a_page_that_is_made_on_demand_no_link_counts_as_leaving_its_site():
    urls = ["http://two.example/", "http://www.one.example/a", "http://three.example/"]
    slots = np.array([5, 6, 8], np.uint32)
    written = outlinks(PAGE, 7, urls, slots)
    for url in (f"{PAGE}?sort=up", "http://www.one.example/2003/05/", "http://www.one.example/ants/page/2"):
        assert outlinks(url, 7, urls, slots) == written._replace(external=b"")
    assert written.external == bytes([0b101])

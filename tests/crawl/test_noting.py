"""The price that is written down."""

import math

from hand_made import HandMade

from evercrawl.crawl.noting import EVERY_S, PriceNotes
from evercrawl.schedule.policies.price.price import Price


def test_a_price_is_written_down_where_it_moves_and_now_and_then(made: HandMade):
    policy = Price()
    notes = PriceNotes(made.partition, policy)

    def at(now: float, price: float) -> bool:
        policy.price = price
        return notes.turn(now)

    assert not at(0.0, math.nan), "nothing is known yet"
    assert at(1.0, 2.0)
    assert made.state.notes["price"] == 2.0
    assert not at(1.5, 4.0), "once a second at most"
    assert at(2.0, 4.0)
    assert not at(3.5, 4.01)
    assert at(2.0 + EVERY_S, 4.01)
    assert not at(100.0, 4.01), "it has not moved"

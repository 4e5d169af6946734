"""One life of a crawl in a simulated world: opened, observed and closed like a real session."""

import asyncio
import random
from collections.abc import Callable
from contextlib import AsyncExitStack, closing
from dataclasses import replace
from typing import Final

from evercrawl.arrays.hasher import Hasher
from evercrawl.config.values import AUTO
from evercrawl.crawl import switching
from evercrawl.crawl.assemble import assemble, only_named
from evercrawl.crawl.learn.virtual_turns import VirtualTurns
from evercrawl.crawl.loop import Crawl
from evercrawl.crawl.memory import Memory
from evercrawl.crawl.ports import Outside
from evercrawl.crawl.timekeeping import go_on
from evercrawl.fetch.guard import Guard
from evercrawl.model.policy.schemes import wanted
from evercrawl.parse.sites import found_site, site_rules
from evercrawl.progress import Limits
from evercrawl.search.index import FOLDER, Index
from evercrawl.simulate.checkers.base import Running
from evercrawl.simulate.surroundings.network import MadeNetwork
from evercrawl.simulate.surroundings.orders import MadeOrders
from evercrawl.simulate.surroundings.surroundings import WorldSurroundings
from evercrawl.simulate.watched import SlowOffload, SlowParsers, WatchedNetwork, WatchedPartition
from evercrawl.simulate.witness import Witness
from evercrawl.simulate.worlds.world import DIRECTORY, LifeEnd

ONE_S: Final = 60.0
"""How long a page that is to be fetched anew is waited for."""


async def live(around: WorldSurroundings, witness: Witness, number: int, look: Callable[[], None]) -> bool:
    """Open the directory, crawl, and close it; return whether the end was clean.

    Parameters
    ----------
    around, witness
        The surroundings, and the observer.
    number
        Number of the life.
    look
        Called when the plan says to verify the crawl while it runs.
    """
    witness.attend(around.machine)
    around.threaten(number)
    life = around.world.lives[number]
    for after_s in life.looks:
        asyncio.get_running_loop().call_later(after_s, look)
    orders = MadeOrders(around.disk, tuple(around.web.seeds)) if any(one.orders for one in around.world.lives) else None
    if orders is not None:
        for after_s, kind in life.orders:
            asyncio.get_running_loop().call_later(after_s, _order, orders, kind, witness)
    async with AsyncExitStack() as stack:
        crawl = await _opened(around, witness, number, stack, orders)
        clean = await _crawl(crawl, around, number)
        witness.at()
        witness.ended(clean=clean)
        return clean


def _order(orders: MadeOrders, kind: str, witness: Witness) -> None:
    """Give an order."""
    if name := orders.give(kind, witness.at()):
        witness.log.add(witness.at(), "order", name, kind)


async def _opened(
    around: WorldSurroundings, witness: Witness, number: int, stack: AsyncExitStack, orders: MadeOrders | None
) -> Crawl:
    """Assemble a crawl; everything to close is registered on the stack."""
    life, folder = around.world.lives[number], around.folder
    config, draw = life.config, random.Random(f"{around.world.seed} life {number}")
    if life.end is LifeEnd.ONE:  # as in a session
        config = only_named(config)
    clock, guard = around.machine.clock(), Guard()
    offload = SlowOffload(lambda: draw.choice([0.0, 0.001, 0.02, 0.3]))
    partition = WatchedPartition(
        witness.remembered, DIRECTORY, draw.randbytes, now=clock.now(), disk=around.disk, site=found_site,
        site_rules=site_rules(), segment_bytes=config.segment_bytes, scheme=wanted(config),
    )  # fmt: skip
    stack.enter_context(closing(partition))
    behind = go_on(clock, partition.state)
    for sentence in [*partition.repairs, *([behind] if behind else [])]:
        witness.befell("repair", sentence)
    goal = switching.goal_of(partition, config, clock.now())
    if switching.due(partition, goal):
        witness.befell("another scheme", switching.in_words(goal))
        turns = VirtualTurns(partition, config.discovery, config.focus)
        await switching.switch(partition, goal, clock, offload, turns=turns)
    index = stack.enter_context(closing(Index(folder / FOLDER))) if config.index else None
    memory = Memory.beside(partition, config, folder, index)
    stack.enter_context(closing(memory))
    names = around.names()
    inner = MadeNetwork(around.weather, clock, judge=guard.judge, true=around.machine.true, vacant=names.vacant)
    network = WatchedNetwork(inner, witness.asked, witness.answered, witness.turned)
    stack.push_async_callback(network.close)

    def slow(text: bool, hasher: Hasher) -> SlowParsers:
        return SlowParsers(
            config.product_token, hasher, text=text, lasts_s=lambda: draw.uniform(0.0, life.slow_s), wake=network.wake
        )

    elsewhere = life.slow_s > 0 or config.workers not in (AUTO, "0")
    given = orders if life.end is not LifeEnd.ONE else None
    readers = slow if elsewhere else None
    outside = Outside(network, names.servers, clock, offload, guard, readers=readers, orders=given)
    crawl = assemble(config, memory, outside, witness.progress)
    last = number == len(around.world.lives) - 1
    witness.began(Running(number, last, witness.at(), config, partition, crawl, clock, index, names))
    return crawl


async def _crawl(crawl: Crawl, around: WorldSurroundings, number: int) -> bool:
    life = around.world.lives[number]
    limits = Limits(pages=life.pages or None, seconds=life.lasts_s if life.end in (LifeEnd.TIME, LifeEnd.ONE) else None)
    if life.end in (LifeEnd.STOP, LifeEnd.PAGES):
        asyncio.get_running_loop().call_later(max(life.lasts_s, 0.1), crawl.stop)
    state = crawl.partition.state
    if life.end is LifeEnd.ONE and state.records.count:
        page = state.urls.get(int(state.records.rows["slot"][number % state.records.count]))
        await crawl.run((), replace(limits, seconds=ONE_S, until_idle=True), only=[page])
        return True
    await crawl.run(around.web.seeds if life.named or not state.known.count else (), limits)
    return True

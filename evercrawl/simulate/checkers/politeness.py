"""Politeness: rests, connections and wishes to be left alone are kept, through all lives."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

from evercrawl.crawl.backoff import retry_after_s
from evercrawl.parse.urls import hostname
from evercrawl.simulate.checkers.base import Checker, Running
from evercrawl.simulate.worlds.world import World
from evercrawl.store.journal.events import Event, Visit
from evercrawl.types import Exchange, Request

SLACK_S: Final = 1e-4  # what adding up instants of 1.7e9 s may lose


@dataclass(slots=True)
class _Door:
    """What is asked through: a host, or an address."""

    begun_at: float = float("-inf")
    ended_at: float = float("-inf")
    under_way: int = 0
    last: str = ""


@dataclass(slots=True)
class _Wish:
    """Somebody wants to be left alone until then; `stored` says which event, if any, remembers it.

    What is remembered is what the crawl's clock said, which the next life may find set to another time.
    """

    until: float
    said_at: float
    by_clock: float
    stored: int | None = None


class Politeness(Checker):
    """One host is never asked too often, nor by too many connections, nor before it wants to be; nor one address."""

    law: ClassVar[str] = "politeness"

    def __init__(self, world: World, blame: Callable[[str], None]) -> None:
        super().__init__(world, blame)
        self._hosts: defaultdict[str, _Door] = defaultdict(_Door)
        self._addresses: defaultdict[str, _Door] = defaultdict(_Door)
        self._wishes: defaultdict[str, list[_Wish]] = defaultdict(list)
        self._open: dict[int, tuple[str, str]] = {}  # request, by identity -> host, address

    def began(self, life: Running) -> None:
        """Forget what died with the last life: connections, and wishes that no event remembers."""
        super().began(life)
        held = {number for _, number, event in life.partition.journal.replay() if isinstance(event, Visit)}
        ahead_s = life.now() - life.began_at
        for wishes in self._wishes.values():
            wishes[:] = [wish for wish in wishes if wish.stored in held]
            for wish in wishes:
                wish.until = wish.by_clock - ahead_s

    def asked(self, request: Request, address: str, at: float) -> None:
        """See that host and address have rested and are not asked by too many at once."""
        assert self._life is not None
        config, name, url = self._life.config, hostname(request.url), request.url
        host, machine = self._hosts[name], self._addresses[address]
        if host.last:
            since, of = (host.ended_at, "end") if config.connections_per_host == 1 else (host.begun_at, "start")
            gap_s = at - since
            self.expect(
                gap_s >= config.delay_s - SLACK_S,
                f"{url} was asked for {gap_s:.3f} s after the {of} of {host.last}; the host is to rest for "
                f"{config.delay_s} s",
            )
        if address and machine.last:
            gap_s, least_s = at - machine.begun_at, config.delay_s / config.connections_per_ip
            self.expect(
                gap_s >= least_s - SLACK_S,
                f"{url} was asked for at {address} {gap_s:.3f} s after the start of {machine.last}; the address is "
                f"to rest for {least_s} s",
            )
        for door, most, what in (
            (host, config.connections_per_host, name),
            (machine, config.connections_per_ip, address),
        ):
            door.under_way += 1
            self.expect(door.under_way <= most or not what, f"{door.under_way} connections to {what}, with {url}")
            door.begun_at, door.last = at, url
        for wish in self._wishes[name]:
            self.expect(
                at >= wish.until - SLACK_S or wish.said_at == at,
                f"{url} was asked for {wish.until - at:.3f} s before the host wanted to be asked again, as it said "
                f"{at - wish.said_at:.3f} s ago",
            )
        self._open[id(request)] = (name, address)

    def answered(self, exchange: Exchange, at: float) -> None:
        """Take note of the end of an exchange, and of what it asks for."""
        if id(exchange.request) not in self._open:
            return  # it was never begun: no address may be reached
        name, address = self._open.pop(id(exchange.request))
        for door in (self._hosts[name], self._addresses[address]):
            door.ended_at = at
            door.under_way -= 1
        assert self._life is not None
        now = self._life.now()
        wish_s = retry_after_s(exchange, now)
        if wish_s:
            self._wishes[name].append(_Wish(at + wish_s, at, now + wish_s))

    def remembered(self, event: Event, number: int, at: float) -> None:
        """Take note that a wish will outlive the process once the event is stored."""
        if isinstance(event, Visit) and event.retry_at:
            assert self._life is not None
            name = self._life.partition.state.hosts[event.host]
            for wish in self._wishes[name]:
                if wish.stored is None:
                    wish.stored = number

    def ended(self, at: float, *, clean: bool) -> None:
        """End all connections."""
        for door in (*self._hosts.values(), *self._addresses.values()):
            if door.under_way:
                door.under_way, door.ended_at = 0, at
        self._open.clear()

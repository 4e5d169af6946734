"""Liveness, readiness, and metrics for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from evercrawl.serve.context import ServerParts, on_replica
from evercrawl.serve.problems import problem
from evercrawl.types import Outcome

_TYPE = "text/plain; version=0.0.4; charset=utf-8"


async def live(request: Request) -> Response:
    """Return that the server is alive."""
    return PlainTextResponse("ok\n")


async def ready(request: Request) -> Response:
    """Return whether the crawl can be followed."""
    parts: ServerParts = request.app.state.context
    return problem(503, parts.replica.trouble) if parts.replica.trouble else PlainTextResponse("ok\n")


@on_replica
def metrics(parts: ServerParts, request: Request) -> Response:
    """Return the metrics in Prometheus' format; no label contains a URL or host."""
    registry = CollectorRegistry()
    registry.register(_Figures(parts))
    return Response(generate_latest(registry), 200, {}, _TYPE)


class _Figures:
    """Collects the metrics of the replica and the server."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts

    def collect(self) -> list[CounterMetricFamily | GaugeMetricFamily]:
        """Return the metric families."""
        replica = self._parts.replica
        with replica.reading() as view:
            state = view.state
            gauges = {
                "evercrawl_known_urls": ("URLs ever seen", state.known.count),
                "evercrawl_known_hosts": ("host names met", len(state.hosts)),
                "evercrawl_running": ("whether a crawl runs in the directory", int(replica.running)),
                "evercrawl_journal_events": ("events taken in", replica.sequence),
                "evercrawl_price": ("worth of one unit of the budget", view.price),
                "evercrawl_following": ("whether the directory can be followed", int(not replica.trouble)),
            }
            counters = {
                "evercrawl_visits": ("visits ever made", state.visits),
                "evercrawl_changes": ("visits that found a change", state.changes),
                "evercrawl_received_bytes": ("bytes of bodies as on the wire", state.wire_bytes),
            }
            if (recorder := self._parts.recorder) is not None:
                counters["evercrawl_usage_recorded"] = ("retrievals and clicks recorded", recorder.recorded)
                counters["evercrawl_usage_failed"] = ("retrievals and clicks that could not be", recorder.failed)
            pages = GaugeMetricFamily("evercrawl_pages", "pages by the class of their last visit", labels=["class"])
            for outcome in Outcome:
                pages.add_metric([outcome.label], state.outcomes[outcome])
        found: list[CounterMetricFamily | GaugeMetricFamily] = [pages]
        found += [GaugeMetricFamily(name, about, value=value) for name, (about, value) in gauges.items()]
        found += [CounterMetricFamily(name, about, value=value) for name, (about, value) in counters.items()]
        requests = CounterMetricFamily("evercrawl_http_requests", "requests answered", labels=["path", "status"])
        for (path, status), count in sorted(self._parts.counts.items()):
            requests.add_metric([path, str(status)], count)
        return [*found, requests]

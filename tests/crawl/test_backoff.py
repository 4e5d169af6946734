"""How long a host is left alone after an answer."""

import pytest

from evercrawl.crawl.backoff import apply_backoff, in_trouble, retry_after_s
from evercrawl.schedule.frontier.hosts import Host
from evercrawl.types import Exchange, Request

URL = "http://example.org/dir/page"


@pytest.fixture
def host():
    return Host(0, "example.org")


def answer(status=200, headers=None, **more: object):
    return Exchange(Request(URL), 10.0, status=status, headers=headers or {}, **more)


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("value", "wait_s"),
    [
        ("120", 120.0), (" 7 ", 7.0), ("0", 0.0), ("999999999999", 86_400.0), ("", 0.0), ("soon", 0.0), ("-5", 0.0),
        ("1.5", 0.0), ("١٢", 0.0), ("Sun, 09 Sep 2001 01:48:40 GMT", 120.0), ("Sunday, 09-Sep-01 01:48:40 GMT", 120.0),
        ("Sun, 09 Sep 2001 01:00:00 GMT", 0.0), ("Sun, 09 Sep 2035 01:48:40 GMT", 86_400.0),
        ("Sun, 99 Sep 2001 01:48:40 GMT", 0.0), ("Sun, 09 Sep 99999 01:48:40 GMT", 0.0),
    ],
)  # fmt: skip
def test_retry_after(status, value, wait_s):
    exchange = Exchange(Request(URL), 0.0, status=status, headers={"retry-after": value})
    assert retry_after_s(exchange, 1_000_000_000.0) == wait_s


@pytest.mark.parametrize("now", [0.0, 1_000_000_000.0, 2_000_000_000.0])
def test_a_date_to_come_back_at_is_by_the_clock_of_who_says_it(now):
    headers = {"date": "Sun, 09 Sep 2001 01:46:40 GMT", "retry-after": "Sun, 09 Sep 2001 01:48:40 GMT"}
    assert retry_after_s(Exchange(Request(URL), now, status=503, headers=headers), now) == 120.0


@pytest.mark.parametrize("status", [200, 301, 404, 500, 502])
def test_retry_after_counts_with_429_and_503_alone(status):
    assert retry_after_s(Exchange(Request(URL), 0.0, status=status, headers={"retry-after": "9"}), 0.0) == 0.0


@pytest.mark.parametrize("status", [0, 408, 425, 429, 500, 502, 503, 504])
def test_trouble_makes_the_host_rest_twice_as_long_each_time(host, status):
    ends = []
    for _ in range(14):
        assert in_trouble(answer(status))
        apply_backoff(host, answer(status), 1000.0)
        ends.append(host.away_until - 1000.0)
    assert ends == [min(2.0**n, 3600.0) for n in range(14)]
    apply_backoff(host, answer(), 9000.0)
    assert (host.failures, host.reason) == (0, "resting")


@pytest.mark.parametrize("status", [200, 204, 301, 400, 401, 403, 404, 410, 501])
def test_a_page_s_own_fault_is_no_trouble_of_its_host(host, status):
    apply_backoff(host, answer(status, {"location": "/"}), 1000.0)
    assert not in_trouble(answer(status, {"location": "/"}))
    assert host.away_until == 0.0


def test_what_we_refuse_says_nothing_of_the_host(host):
    host.failed(0.0)
    apply_backoff(host, answer(0, error="refused_address"), 1000.0)
    assert host.failures == 1


def test_retry_after_and_then_trouble_back_off_further(host):
    apply_backoff(host, answer(503, {"retry-after": "100"}), 1000.0)
    assert (host.away_until, host.failures) == (1100.0, 1)
    apply_backoff(host, answer(500), 1100.0)
    assert host.away_until == 1102.0

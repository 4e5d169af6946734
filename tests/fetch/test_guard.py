import ipaddress
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.errors import ConfigError
from evercrawl.fetch._special import METADATA, SPECIAL_4, SPECIAL_6
from evercrawl.fetch.guard import Guard, is_own

REFUSED = {
    "0.0.0.0": "unspecified",
    "0.1.2.3": "this network",
    "10.1.2.3": "private",
    "100.64.0.1": "CGNAT",
    "100.127.255.255": "CGNAT",
    "127.0.0.1": "loopback",
    "127.255.255.254": "loopback",
    "169.254.1.1": "link-local",
    "169.254.169.254": "metadata",
    "168.63.129.16": "metadata",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.0.0.8": "protocol assignment",
    "192.0.2.1": "documentation",
    "192.88.99.1": "relay",
    "192.168.1.1": "private",
    "198.18.0.1": "benchmarking",
    "198.19.255.255": "benchmarking",
    "198.51.100.1": "documentation",
    "203.0.113.1": "documentation",
    "224.0.1.1": "multicast",
    "240.0.0.1": "reserved",
    "255.255.255.255": "broadcast",
    "::": "unspecified",
    "::1": "loopback",
    "::1%lo": "loopback",
    "::8.8.8.8": "reserved",
    "::127.0.0.1": "loopback",
    "::ffff:127.0.0.1": "loopback",
    "::FFFF:7F00:1": "loopback",
    "::ffff:0:127.0.0.1": "loopback",
    "::ffff:0:8.8.8.8": "reserved",
    "::ffff:169.254.169.254": "metadata",
    "64:ff9b::127.0.0.1": "loopback",
    "64:ff9b::a9fe:a9fe": "metadata",
    "64:ff9b:1::8.8.8.8": "local NAT64",
    "100::1": "discard",
    "2001:0:4136:e378:8000:63bf:f5ff:fffe": "private",  # client 10.0.0.1
    "2001:0:a00:1:8000:63bf:f7f7:f7f7": "private",  # server 10.0.0.1
    "2001:2::1": "benchmarking",
    "2001:20::1": "protocol assignment",
    "2001:db8::1": "documentation",
    "2001:470:1:2:0:5efe:127.0.0.1": "loopback",
    "2001:470:1:2:200:5efe:10.0.0.1": "private",
    "2002:7f00:1::1": "loopback",
    "2002:a9fe:a9fe::": "metadata",
    "3fff::1": "documentation",
    "4000::1": "reserved",
    "5f00::1": "reserved",
    "fc00::1": "unique-local",
    "fd00:ec2::254": "metadata",
    "fe80::1": "link-local",
    "fe80::1%eth0": "link-local",
    "fec0::1": "site-local",
    "ff02::1": "multicast",
    "ff0e::1": "multicast",
}

OPEN = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.1",
    "192.167.255.255",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
    "2001:0:4136:e378:8000:63bf:f7f7:f7f7",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2606:4700::1111",
    "2a00:1450:4001:81b::200e",
]

NO_ADDRESS = [
    "",
    "localhost",
    "2130706433",
    "0x7f.1",
    "127.1",
    "127.0.0.01",
    " 127.0.0.1",
    "[::1]",
    "1.1.1.1/32",
    "x" * 999,
]


@pytest.mark.parametrize(("address", "reason"), REFUSED.items())
def test_refused(address, reason):
    sentence = Guard().judge(address)
    assert sentence.startswith(f"{address} is ")
    assert reason in sentence


@pytest.mark.parametrize("address", OPEN)
def test_open(address):
    assert Guard().judge(address) == ""


@pytest.mark.parametrize("text", NO_ADDRESS)
def test_what_is_no_address_is_refused(text):
    sentence = Guard(["0.0.0.0/0", "::/0"]).judge(text)
    assert sentence.endswith("is not an IP address")
    assert len(sentence) < 120


def test_both_ends_of_every_special_network_are_refused():
    for network, _ in (*SPECIAL_4, *SPECIAL_6):
        assert Guard().judge(str(network[0]))
        assert Guard().judge(str(network[-1]))
    assert all("metadata" in Guard().judge(address) for address in METADATA)


@given(st.ip_addresses())
def test_nothing_is_open_that_python_calls_private(address):
    judged = Guard().judge(str(address))
    inner = getattr(address, "sixtofour", None)
    inside = inner is None or not inner.is_global  # whether 6to4 itself is, Python versions disagree
    if not address.is_global and inside and address not in ipaddress.ip_network("2001::/32"):
        assert judged


@given(st.ip_addresses(v=4))
def test_the_mapped_form_is_judged_as_the_address(address):
    assert bool(Guard().judge(f"::ffff:{address}")) == bool(Guard().judge(str(address)))


def test_an_allowed_network_opens_the_mapped_form_and_no_other():
    guard = Guard(["127.0.0.0/8"])
    assert guard.judge("127.0.0.1") == ""
    assert guard.judge("::ffff:127.0.0.1") == ""
    for address in ("::1", "::127.0.0.1", "64:ff9b::127.0.0.1", "2002:7f00:1::", "10.0.0.1"):
        assert guard.judge(address)


@pytest.mark.parametrize(
    ("allow", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "::1"),
        ("fd00::/8", "fd00:ec2::254"),
        ("fe80::/10", "fe80::1%eth0"),
        ("::ffff:10.0.0.0/104", "10.9.9.9"),
        ("169.254.169.254/32", "169.254.169.254"),
    ],
)
def test_allowed(allow, address):
    assert Guard().judge(address)
    assert Guard([allow]).judge(address) == ""


@pytest.mark.parametrize("text", ["", "here", "10.0.0.0/33", "10.0.0/8", "example.com", "10.0.0.0/8/8"])
def test_a_bad_network_says_what_to_write(text):
    with pytest.raises(ConfigError, match=r"such as 10\.0\.0\.0/8"):
        Guard([text])


def test_an_address_inside_a_larger_network_is_asked_about():
    with pytest.raises(ConfigError, match=r"write 10\.0\.0\.0/8"):
        Guard(["10.0.0.1/8"])


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/",
        "https://a.example",
        "http://a.example:8080/x:25",
        "http://a.example?x=b:25/",
        "https://[2606:4700::1111]/",
        "http://[2606:4700::22]:8443/",
        "http://user:25@a.example/",
    ],
)
def test_url_open(url):
    assert Guard().judge_url(url) == ""


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://a.example/", "'ftp' is not http or https"),
        ("file:///etc/passwd", "'file' is not http or https"),
        ("javascript:alert(1)", "'javascript' is not http or https"),
        ("http://a.example:25/", "port 25 is"),
        ("https://a.example:6667", "port 6667 is"),
        ("http://[::1]:22/", "port 22 is"),
        ("http://a.example:0/", "port 0 is"),
        ("http://a.example:99999/", "'99999' is not a port"),
        ("http://u:p@a.example:10080?x", "port 10080 is"),
    ],
)
def test_url_refused(url, reason):
    assert Guard().judge_url(url).startswith(reason)


def test_a_machines_own_addresses_are_refused_unless_allowed():
    own = {"203.0.114.7", "2a00::7"}.__contains__
    assert Guard(own=own).judge("203.0.114.7") == "203.0.114.7 is an address of this machine"
    assert Guard(own=own).judge("2a00::7") == "2a00::7 is an address of this machine"
    assert "this machine" in Guard(own=own).judge("::ffff:203.0.114.7")
    assert Guard(own=own).judge("203.0.114.8") == ""
    assert Guard(["203.0.114.0/24", "2a00::/16"], own=own).judge("203.0.114.7") == ""


@pytest.mark.parametrize(
    "form", ["::ffff:{}", "64:ff9b::{}", "2002:cb00:7207::1", "2002:cb00:7207:1:2:3:4:5",
             "2001:0:cb00:7207:0:0:f7f7:f7f7", "2001:0:808:808:0:0:34ff:8df8"]
)  # fmt: skip
def test_whatever_leads_to_a_refused_address_or_to_this_machine_is_refused(form):
    text = form.format("203.0.114.7")
    assert "this machine" in Guard(own={"203.0.114.7"}.__contains__).judge(text)
    assert "refuse_net" in Guard(["::/0"], ["203.0.114.0/24"]).judge(text)
    assert Guard(refuse=["203.0.115.0/24"], own={"203.0.115.7"}.__contains__).judge(text) == ""


def test_addresses_of_interfaces_are_known_for_what_they_are():
    assert is_own("127.0.0.1")
    assert is_own("::1") or not socket.has_ipv6
    for address in ("192.0.2.1", "8.8.8.8", "2001:4860:4860::8888", "no address"):
        assert not is_own(address)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way_out:
        way_out.connect(("127.0.0.1", 9))
        assert is_own(way_out.getsockname()[0])


def test_where_sockets_bind_to_any_address_none_is_taken_for_this_machines(monkeypatch):
    monkeypatch.setattr("evercrawl.fetch.guard.can_bind", lambda _: True)
    assert not is_own("8.8.8.8")


def test_networks_that_a_person_refuses_are_refused_whatever_is_allowed():
    guard = Guard(["10.0.0.0/8"], ["10.1.0.0/16", "198.51.0.0/16", "2a00:1::/32"])
    assert guard.judge("10.2.0.1") == ""
    assert guard.judge("10.1.0.1") == "10.1.0.1 is in 10.1.0.0/16, which refuse_net names"
    assert "refuse_net" in guard.judge("198.51.3.4")
    assert "refuse_net" in guard.judge("::ffff:198.51.3.4")
    assert "refuse_net" in guard.judge("2a00:1::9")
    with pytest.raises(ConfigError, match="is not a network"):
        Guard(refuse=["everywhere"])

"""What a visit comes to: every outcome, by what the answer shows and what is known beside it."""

import ast
import re
from pathlib import Path

import pytest

import evercrawl
from evercrawl.model.stored.classify import Knowledge, classify, may_be_copy
from evercrawl.model.stored.reading import Before, Reading, no_page
from evercrawl.store.journal.events import CHANGED, HAS_LINKS, KEEP, NOINDEX, PARTIAL, TLS_BAD, UNCHANGED, Visit
from evercrawl.types import NO_SLOT, Exchange, Outcome, Request
from tests.helpers.hashing import HASHER
from tests.helpers.readings import read

SLOT = 7
URL = "http://example.org/dir/page"
HTML = {"content-type": "text/html; charset=utf-8"}
PAGE = b"<title>A title</title><p>words</p><a href=x>x</a>"
MOVED = {"status": 301, "body": b"", "headers": {"location": "/there"}}
NOT_MODIFIED = {"status": 304, "body": b""}
CUT = {"truncated": True, "detail": "hung up"}
COPY, CHANCE = Knowledge(original=3), Knowledge(original=3, by_chance=True)
NOTHING = Knowledge()


def seen(status=200, body=PAGE, headers=HTML, before=None, **more: object) -> Reading:
    exchange = Exchange(Request(URL), 10.0, status=status, body=body, wire=body, headers=headers, **more)
    return read(exchange, None, SLOT, before or Before())


def verdict(reading, knowledge=NOTHING):
    return classify(reading, knowledge)


def was(outcome, body=PAGE, **more: object) -> Before:
    digest, rest = HASHER.digest(body)
    return Before(visits=1, digest=digest, digest_rest=rest, outcome=outcome, event=256, visited_at=1.0, **more)


@pytest.mark.parametrize(
    ("exchange", "outcome", "error"),
    [
        ({}, Outcome.OK, ""),
        ({"status": 203}, Outcome.OK, ""),
        ({"body": b""}, Outcome.OK, ""),
        ({"truncated": True, "detail": "the far end hung up"}, Outcome.TRUNCATED, "truncated: the far end hung up"),
        ({"truncated": True, "error": "timeout", "detail": "late"}, Outcome.TRUNCATED, "timeout: late"),
        ({"status": 204, "body": b""}, Outcome.ERROR, "status: 204"),
        ({"status": 304, "body": b""}, Outcome.ERROR, "status: 304"),  # an answer to what we had not asked
        ({"status": 300}, Outcome.ERROR, "status: 300"),
        ({"status": 400}, Outcome.ERROR, "status: 400"),
        ({"status": 401}, Outcome.ERROR, "status: 401"),
        ({"status": 404}, Outcome.GONE, ""),
        ({"status": 410}, Outcome.GONE, ""),
        ({"status": 429}, Outcome.ERROR, "status: 429"),
        ({"status": 500}, Outcome.ERROR, "status: 500"),
        ({"status": 503}, Outcome.ERROR, "status: 503"),
        ({"status": 999}, Outcome.ERROR, "status: 999"),
        ({"status": 0, "error": "timeout", "detail": "no answer"}, Outcome.ERROR, "timeout: no answer"),
        ({"status": 0, "error": "reset"}, Outcome.ERROR, "reset"),
        ({"status": 0, "error": "dns", "detail": "no such name"}, Outcome.ERROR, "dns: no such name"),
        ({"status": 200, "error": "coding", "detail": "bad gzip"}, Outcome.ERROR, "coding: bad gzip"),
        ({"status": 0, "error": "refused_address", "detail": "inside"}, Outcome.REFUSED, "refused_address: inside"),
        ({"status": 302, "headers": {"location": "/there"}}, Outcome.REDIRECT, ""),
        ({"status": 302, "headers": {}}, Outcome.ERROR, "redirect: to '', which cannot be fetched"),
        ({"status": 301, "headers": {"location": "ftp://a/"}}, Outcome.ERROR,
         "redirect: to 'ftp://a/', which cannot be fetched"),
        ({"status": 301, "headers": {"location": "http://[bad"}}, Outcome.ERROR,
         "redirect: to 'http://[bad', which cannot be fetched"),
    ],
)  # fmt: skip
def test_answers(exchange, outcome, error):
    found = verdict(seen(**exchange))
    assert (found.outcome, found.error) == (outcome, error)


PARTLY = was(Outcome.OK, held=Visit(SLOT, 0, 1.0, Outcome.OK, 200, PARTIAL))


@pytest.mark.parametrize(
    ("answer", "before", "knowledge", "outcome", "flags"),
    [
        # The first visit
        ({}, Before(), NOTHING, Outcome.OK, HAS_LINKS),
        ({}, Before(), COPY, Outcome.DUPLICATE, HAS_LINKS),
        ({}, Before(), CHANCE, Outcome.OK, HAS_LINKS),
        ({}, Before(), Knowledge(original=SLOT), Outcome.OK, HAS_LINKS),
        ({}, Before(), Knowledge(partial=True), Outcome.OK, HAS_LINKS | PARTIAL),
        ({"headers": HTML | {"x-robots-tag": "noindex"}}, Before(), NOTHING, Outcome.OK, HAS_LINKS | NOINDEX),
        (CUT, Before(), COPY, Outcome.TRUNCATED, HAS_LINKS),
        (MOVED, Before(), NOTHING, Outcome.REDIRECT, HAS_LINKS),
        (MOVED, Before(), Knowledge(partial=True), Outcome.REDIRECT, HAS_LINKS | PARTIAL),
        (MOVED, Before(), Knowledge(most_hops=9), Outcome.ERROR, 0),
        ({"status": 404}, Before(), NOTHING, Outcome.GONE, 0),
        # Against the visit before
        ({}, was(Outcome.OK), NOTHING, Outcome.OK, UNCHANGED | KEEP),
        ({}, was(Outcome.OK), COPY, Outcome.OK, UNCHANGED | KEEP),  # an original stays one
        ({}, was(Outcome.DUPLICATE), COPY, Outcome.DUPLICATE, UNCHANGED | KEEP),
        ({}, was(Outcome.DUPLICATE), NOTHING, Outcome.OK, UNCHANGED | KEEP),  # its original is gone
        ({}, was(Outcome.GONE), COPY, Outcome.DUPLICATE, UNCHANGED | KEEP),
        ({}, was(Outcome.OK, b"old"), NOTHING, Outcome.OK, CHANGED | HAS_LINKS),
        ({}, was(Outcome.OK, b"old"), COPY, Outcome.DUPLICATE, CHANGED | HAS_LINKS),
        ({}, PARTLY, NOTHING, Outcome.OK, UNCHANGED | HAS_LINKS),
        ({}, PARTLY, Knowledge(partial=True), Outcome.OK, UNCHANGED | HAS_LINKS | PARTIAL),
        (CUT, was(Outcome.TRUNCATED), COPY, Outcome.TRUNCATED, UNCHANGED | KEEP),
        (CUT, was(Outcome.DUPLICATE), COPY, Outcome.DUPLICATE, UNCHANGED | KEEP),  # all of it came
        (CUT, was(Outcome.OK, b"old"), NOTHING, Outcome.TRUNCATED, CHANGED | HAS_LINKS),
        (NOT_MODIFIED, was(Outcome.OK), COPY, Outcome.OK, UNCHANGED | KEEP),
        (NOT_MODIFIED, was(Outcome.DUPLICATE), COPY, Outcome.DUPLICATE, UNCHANGED | KEEP),
        (NOT_MODIFIED, was(Outcome.DUPLICATE), NOTHING, Outcome.OK, UNCHANGED | KEEP),
        (NOT_MODIFIED, Before(), NOTHING, Outcome.ERROR, 0),
        (MOVED, was(Outcome.OK), NOTHING, Outcome.REDIRECT, HAS_LINKS),
        ({"status": 404}, was(Outcome.OK), NOTHING, Outcome.GONE, 0),
        ({"status": 500}, was(Outcome.OK), NOTHING, Outcome.ERROR, 0),
        ({"status": 0, "error": "reset"}, was(Outcome.OK), NOTHING, Outcome.ERROR, 0),
    ],
)
def test_what_is_known(answer, before, knowledge, outcome, flags):
    found = verdict(seen(before=before, **answer), knowledge)
    assert (found.outcome, found.flags) == (outcome, flags)


def test_who_said_it_first_counts_only_where_that_is_asked():
    """Nobody need find out who said the same before, where `may_be_copy` says no."""
    for before in (Before(), was(Outcome.OK), was(Outcome.DUPLICATE), was(Outcome.TRUNCATED), was(Outcome.OK, b"old")):
        for answer in ({}, CUT, NOT_MODIFIED, MOVED, {"status": 404}, {"status": 0, "error": "dns"}):
            one = seen(before=before, **answer)
            if not may_be_copy(one):
                assert verdict(one, COPY) == verdict(one, NOTHING)


def test_a_soft_404_is_gone_whatever_it_says():
    for answer in ({}, MOVED):
        found = verdict(no_page(seen(before=was(Outcome.OK), tls_ok=False, **answer), "soft 404: why"), COPY)
        assert (found.outcome, found.flags, found.error) == (Outcome.GONE, TLS_BAD, "soft 404: why")


def test_what_is_not_asked_for_is_refused():
    nothing = Exchange(Request(URL), 10.0)
    found = verdict(Reading(nothing, None, SLOT, was(Outcome.OK), refusal="robots: no"), COPY)
    assert (found.outcome, found.flags, found.error) == (Outcome.REFUSED, 0, "robots: no")


def test_a_chain_that_is_too_long_is_an_error():
    assert verdict(seen(**MOVED), Knowledge(most_hops=9)).error == "redirect: more than 9 in a row"


@pytest.mark.parametrize(("tls_ok", "flag"), [(None, 0), (True, 0), (False, TLS_BAD)])
def test_a_bad_certificate_is_noted_whatever_came(tls_ok, flag):
    for answer in ({}, MOVED, {"status": 404}, {"status": 0, "error": "reset"}):
        assert verdict(seen(tls_ok=tls_ok, **answer)).flags & TLS_BAD == flag


def test_all_outcomes_come_of_it():
    found = {verdict(seen(**answer)).outcome for answer in ({}, CUT, MOVED, {"status": 404}, {"status": 500})}
    found |= {verdict(seen(), COPY).outcome, verdict(seen(0, error="refused_address")).outcome}
    assert found == set(Outcome)


def test_nobody_knows_of_an_original_by_default():
    assert NOTHING.original == NO_SLOT


def test_nothing_else_gives_a_visit_its_outcome():
    """No file writes to an `outcome`, and none makes a verdict but the one whose task it is.

    Records, in the store, have the outcome of the last event.
    """
    root = Path(evercrawl.__file__).parent
    for file in set(root.rglob("*.py")) - set((root / "store").rglob("*.py")):
        text = file.read_text("utf-8")
        if not re.search(r"\.(outcome|flags)\b|Verdict", text):
            continue
        for node in ast.walk(ast.parse(text)):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            names = {part.attr for target in targets if target for part in ast.walk(target)
                     if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)}  # fmt: skip
            assert not names & {"outcome", "flags"}, f"{file}:{node.lineno} changes what a visit came to"
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Verdict":
                assert file.name == "classify.py", f"{file}:{node.lineno} makes a verdict"


def test_a_verdict_is_not_to_be_changed():
    found = verdict(seen())
    with pytest.raises(AttributeError):
        found.outcome = Outcome.GONE

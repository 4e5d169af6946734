"""Questions that take seconds, asked of a process of their own."""

import asyncio
import sys
import time

import pytest

from evercrawl.serve.heavy import HeavyQuestions
from evercrawl.serve.problems import RequestError


def planned(client, path="/api/v1/plan"):
    until = time.monotonic() + 60
    while (answer := client.get(path)).status_code == 202 and time.monotonic() < until:
        assert answer.json() == {"pending": True}
        time.sleep(0.05)
    return answer


def test_the_plan_is_that_of_the_command_line(client):
    found = planned(client).json()
    assert found["event"] == "plan"
    assert found["copies"] == 2
    budgets = [point["budget"] for point in found["points"]]
    assert budgets == sorted(budgets)
    assert planned(client, "/api/v1/plan?site=a.example").json()["site"] == "a.example"


def test_a_site_that_is_not_known_gets_the_sentence_of_the_command_line(client):
    for site in ("never.example", "--help"):
        answer = planned(client, f"/api/v1/plan?site={site}")
        assert answer.status_code == 400
        assert "evercrawl top --sites" in answer.json()["detail"]


@pytest.fixture
def verbs(tmp_path, monkeypatch):
    """Stand in for the interpreter with a script that counts how often it is run."""
    script = tmp_path / "python"
    script.write_text('#!/bin/sh\necho "$@" >> "$0.runs"\nsleep 0.2\necho "{\\"verb\\": \\"$3\\"}"\n')
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    return script.with_name("python.runs")


def test_a_question_is_asked_once_at_a_time_and_kept_while_nothing_happens(verbs, tmp_path):
    async def asked() -> None:
        heavy = HeavyQuestions(tmp_path)
        assert await asyncio.gather(*(heavy.ask(7, "plan") for _ in range(5))) == [{"verb": "plan"}] * 5
        assert await heavy.ask(7, "plan") == {"verb": "plan"}
        assert verbs.read_text().count("\n") == 1
        await heavy.close()

    asyncio.run(asked())


def test_only_a_few_questions_wait_and_the_end_stops_them(verbs, tmp_path):
    async def asked() -> None:
        heavy = HeavyQuestions(tmp_path)
        waiting = [asyncio.create_task(heavy.ask(7, "plan", f"--site={number}")) for number in range(4)]
        await asyncio.sleep(0)
        with pytest.raises(RequestError, match="ask again"):
            await heavy.ask(7, "plan", "--site=other")
        await heavy.close()
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in results)

    asyncio.run(asked())

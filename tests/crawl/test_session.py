"""One run put together from a configuration: what it makes, what it says, and who may not begin."""

import asyncio
import os
import random
import time

import msgspec
import pytest

from evercrawl.ask.export.policy_tables import policy_table
from evercrawl.ask.status import status
from evercrawl.config import FILE_NAME, Config, amend, load
from evercrawl.crawl import crawl
from evercrawl.errors import ConfigError, NoRoomError, StoreError
from evercrawl.model.policy.followed import FOLLOWED_FILE
from evercrawl.model.policy.schemes import LASTING
from evercrawl.model.view import View, settings
from evercrawl.progress import Limits, Progress, Summary
from evercrawl.store.birth import is_crawl
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import holder, lock_for_crawl
from evercrawl.store.partition import Partition
from evercrawl.store.scheme import Scheme

NOTHING = Limits(seconds=0.0)
SEED = "http://127.0.0.1:9/"


def once(directory, seeds=(SEED,), limits=NOTHING, stop=None, lock=None, **settings: object):
    said = []
    summary = asyncio.run(crawl(directory, Config(**settings), list(seeds), limits, said.append, stop, lock))
    return summary, said


def known(directory) -> list[str]:
    partition = Partition(directory, random.randbytes, now=0.0, writable=False)
    found = partition.state.urls.get_many(range(partition.state.known.count))
    partition.close()
    return found


def test_without_seeds_there_is_no_new_crawl(tmp_path):
    with pytest.raises(ConfigError, match="name a seed: evercrawl crawl URL --dir"):
        once(tmp_path / "new", ())
    assert not (tmp_path / "new").exists()


def test_a_crawl_that_was_killed_before_it_had_a_url_asks_for_seeds(tmp_path):
    Partition(tmp_path, random.randbytes, now=time.time()).close()
    with pytest.raises(ConfigError, match="knows no URL; name a seed"):
        once(tmp_path, ())
    assert once(tmp_path)[0].known == 1


def test_a_new_crawl_has_its_seeds_and_its_settings(tmp_path):
    summary, _ = once(tmp_path / "a" / "b", delay_s=7.0)
    assert (summary.reason, summary.visits, summary.known) == ("seconds", 0, 1)
    assert is_crawl(tmp_path / "a" / "b")
    assert load(tmp_path / "a" / "b" / FILE_NAME).delay_s == 7.0
    assert known(tmp_path / "a" / "b") == [SEED]
    assert holder(tmp_path / "a" / "b") is None


def test_going_on_keeps_the_settings_of_the_start_and_takes_new_seeds(tmp_path):
    once(tmp_path, delay_s=7.0)
    once(tmp_path, (), delay_s=9.0)
    summary, _ = once(tmp_path, [SEED, "http://127.0.0.2:9/"], delay_s=9.0)
    assert load(tmp_path / FILE_NAME).delay_s == 7.0
    assert summary.known == 2
    assert known(tmp_path) == [SEED, "http://127.0.0.2:9/"]


def test_a_crawl_does_not_go_on_without_the_rules_that_its_lost_settings_had(tmp_path):
    """Excluded pages would be requested again, and nobody would notice."""
    other = "http://127.0.0.2:9/"
    once(tmp_path, [SEED, other], Limits(seconds=0.3), exclude=("127.0.0.2",), delay_s=7.0)
    (tmp_path / FILE_NAME).unlink()
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"exclude = '127.0.0.2'"):
            once(tmp_path, ())
    assert not (tmp_path / FILE_NAME).exists()


def test_what_was_mended_is_said(tmp_path):
    once(tmp_path)
    with next(tmp_path.glob("journal-*")).open("ab") as file:
        file.write(b"torn")
    _, said = once(tmp_path, ())
    assert any("an interrupted write" in progress.message for progress in said)
    _, said = once(tmp_path, ())
    assert [progress.message for progress in said if progress.message] == ["the policy is price"]


def policy(directory) -> tuple[str, tuple[str, ...]]:
    """Return what whoever asks goes by."""
    config, _ = settings(directory)
    return config.policy, config.policy_options


def test_the_policy_of_a_run_is_said_and_known_to_who_asks_until_the_next(tmp_path):
    once(tmp_path, policy="chile", policy_options=["a=2"])
    _, said = once(tmp_path, (), policy="tianwang", policy_options=["chile.a=2", "cycle=1d"])
    assert said[0].message == (
        "the policy is tianwang (cycle=1d), for one run; crawl.toml has chile (a=2), whose parameters are passed over"
    )
    assert policy(tmp_path) == ("tianwang", ("chile.a=2", "cycle=1d"))
    found = status(tmp_path)
    assert (found.policy, found.policy_options) == policy(tmp_path)
    assert f"the policy is {found.follows}" == said[0].message
    partition = Partition(tmp_path, random.randbytes, now=0.0, writable=False)
    assert policy_table(partition, "RemainedURLs").kinds == {"url": "string", "due_at": "instant"}
    partition.close()
    assert load(tmp_path / FILE_NAME).policy == "chile"
    _, said = once(tmp_path, (), policy="chile", policy_options=["a=2"])
    assert said[0].message == "the policy is chile (a=2)"
    assert policy(tmp_path) == ("chile", ("a=2",))


def test_what_crawl_toml_names_anew_counts_once_no_run_follows_the_other(tmp_path):
    once(tmp_path, policy="chile", policy_options=["a=2"])
    once(tmp_path, (), policy="tianwang")
    amend(tmp_path, {"policy_options": ["a=3"]})
    assert policy(tmp_path) == ("tianwang", ()), "they are chile's"
    amend(tmp_path, {"policy": "rpuc", "policy_options": []})
    with lock_for_crawl(tmp_path):
        assert policy(tmp_path) == ("tianwang", ()), "a run follows it"
    assert policy(tmp_path) == ("rpuc", ())


def test_parameters_that_a_run_takes_from_crawl_toml_are_known_at_once(tmp_path):
    once(tmp_path, policy="chile")
    once(tmp_path, (), policy="chile", policy_options=["a=2"])
    assert policy(tmp_path) == ("chile", ("a=2",))
    amend(tmp_path, {"policy_options": ["a=3"]})
    assert policy(tmp_path) == ("chile", ("a=3",))


def test_a_policy_that_cannot_be_found_any_more_and_a_torn_note_leave_crawl_toml(tmp_path):
    once(tmp_path)
    once(tmp_path, (), policy="chile")
    file = tmp_path / FOLLOWED_FILE
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'"chile"', b'"elsewhere:Mine"'))
    assert policy(tmp_path)[0] == "price"
    file.write_bytes(whole[:9])
    assert policy(tmp_path)[0] == "price"
    file.write_bytes(whole)
    assert policy(tmp_path)[0] == "chile"


def test_where_there_is_no_room_the_policy_of_the_run_before_is_not_taken_for_this_ones(tmp_path, monkeypatch):
    once(tmp_path, policy="chile")
    once(tmp_path, (), policy="tianwang")
    whole = RealDisk.replace

    def full(self, name: str, chunks: object) -> None:
        if name == FOLLOWED_FILE:
            raise NoRoomError("it was made so")
        whole(self, name, chunks)

    monkeypatch.setattr(RealDisk, "replace", full)
    once(tmp_path, (), policy="chile")
    assert policy(tmp_path)[0] == "chile"


def test_who_only_asks_for_a_page_changes_no_policy(tmp_path):
    once(tmp_path, policy="chile")
    asyncio.run(crawl(tmp_path, Config(policy="tianwang"), [], NOTHING, only=[SEED]))
    assert policy(tmp_path)[0] == "chile"


def test_a_second_crawl_is_refused_and_the_first_not_disturbed(tmp_path):
    lock = lock_for_crawl(tmp_path)
    with pytest.raises(StoreError, match=f"process {os.getpid()}"):
        once(tmp_path)
    assert holder(tmp_path) is not None
    assert not is_crawl(tmp_path)
    once(tmp_path, lock=lock)  # the caller's lock is taken over, and let go at the end
    assert holder(tmp_path) is None


@pytest.mark.parametrize("broken", [{"policy": "no_such_policy"}, {"importance": "no_such_importance"}])
def test_a_strategy_that_does_not_exist_lets_the_directory_go(tmp_path, broken):
    with pytest.raises(ConfigError, match="choose one of"):
        once(tmp_path, **broken)
    assert holder(tmp_path) is None


def test_a_file_of_names_that_is_not_there_is_said(tmp_path):
    with pytest.raises(ConfigError, match=r"no\.names"):
        once(tmp_path / "crawl", resolve=str(tmp_path / "no.names"))
    assert holder(tmp_path / "crawl") is None


def test_stop_ends_it(tmp_path):
    async def go():  # noqa: ANN202
        stop = asyncio.Event()
        asyncio.get_running_loop().call_later(0.1, stop.set)
        return await crawl(tmp_path, Config(), [SEED], Limits(seconds=30), stop=stop)

    summary = asyncio.run(go())
    assert summary.reason == "stopped"
    assert summary.elapsed_s < 5


def test_the_last_word_is_the_sum_of_all(tmp_path):
    summary, said = once(tmp_path, limits=Limits(until_idle=True, seconds=20), allow_net=())
    assert summary.reason == "idle"
    last = said[-1]
    assert (last.known, last.queue, last.in_flight) == (1, 0, 0)
    assert last.outcomes == {"refused": 1}
    assert list(last.errors) == ["refused_port"]


def test_a_clock_that_was_set_back_is_said(tmp_path, monkeypatch):
    once(tmp_path)
    monkeypatch.setattr(time, "time", lambda before=time.time: before() - 10_800.0)
    summary, said = once(tmp_path)
    assert summary.elapsed_s < 3600, "of this run, and not from the clock's time to the crawl's"
    assert "this machine's clock is 3 hours behind this crawl's last visit" in said[1].message
    assert said[1].at > said[0].at - 1.0


def scheme(directory) -> Scheme:
    partition = Partition(directory, random.randbytes, now=0.0, writable=False)
    assert not partition.unswitched
    found = partition.scheme
    partition.close()
    return found


def test_a_stop_ends_a_switch_of_importance_at_once_and_the_next_start_goes_on(tmp_path, monkeypatch):
    once(tmp_path)
    monkeypatch.setattr("evercrawl.crawl.switching.BATCH", 1)

    async def go() -> Summary:
        stop = asyncio.Event()
        stop.set()
        return await crawl(tmp_path, Config(importance="aopic"), [], Limits(seconds=30), said.append, stop=stop)

    said: list[Progress] = []
    summary = asyncio.run(go())
    assert (summary.reason, summary.visits, summary.known) == ("stopped", 0, 1)
    assert "the next start continues there" in said[-1].message
    partition = Partition(tmp_path, random.randbytes, now=0.0, writable=False)
    assert partition.unswitched
    assert partition.birth.judged is not None
    partition.close()
    once(tmp_path, importance="aopic")
    assert scheme(tmp_path).name == "aopic"


def test_another_importance_is_a_lasting_change_and_is_said(tmp_path):
    once(tmp_path, delay_s=7.0)
    assert scheme(tmp_path) == Scheme("push", internal=1.0)
    file = tmp_path / FILE_NAME
    file.write_text(file.read_text() + "# by hand\n")
    _, said = once(tmp_path, (), importance="aopic", delay_s=9.0)
    assert said[1].message.startswith("from now on importance is learned by aopic (window two_windows")
    assert scheme(tmp_path) == Scheme("aopic", True, 1.0, "two_windows", 3)
    assert (load(file).importance, load(file).window, load(file).delay_s) == ("aopic", "auto", 7.0)
    assert file.read_text().endswith("# by hand\n")

    _, said = once(tmp_path, (), importance="aopic", window="unbounded", internal="0.5", trusted=("www.a.example",))
    assert scheme(tmp_path) == Scheme("aopic", True, 0.5, "unbounded", 0, ("a.example",))
    assert load(file).trusted == ("www.a.example",)
    _, said = once(tmp_path, (), **{name: getattr(load(file), name) for name in LASTING})
    assert not [one.message for one in said if "is learned" in one.message]


def test_without_a_word_on_windows_a_crawl_keeps_its_own(tmp_path):
    once(tmp_path, importance="aopic", window="variable")
    once(tmp_path, (), importance="aopic")
    assert scheme(tmp_path).window == "variable"


def test_what_lasts_is_written_though_nothing_is_due_yet(tmp_path):
    once(tmp_path)
    once(tmp_path, (), window="unbounded", suspects="cap")  # push has no windows, and there are no farms
    assert (load(tmp_path / FILE_NAME).window, load(tmp_path / FILE_NAME).suspects) == ("unbounded", "cap")


def test_who_only_asks_for_a_page_changes_no_importance(tmp_path):
    once(tmp_path)
    asyncio.run(crawl(tmp_path, Config(importance="uniform"), [], NOTHING, only=[SEED]))
    assert scheme(tmp_path).name == load(tmp_path / FILE_NAME).importance == "push"


def test_a_list_without_names_trusts_all_again(tmp_path):
    once(tmp_path, trusted=("a.example",))
    once(tmp_path, (), trusted=("",))
    assert (scheme(tmp_path).trusted, load(tmp_path / FILE_NAME).trusted) == ((), ())


def test_a_window_that_does_not_exist_is_told_with_those_that_do(tmp_path):
    with pytest.raises(ConfigError, match=r"no window is called 'longest'; choose one of: .*two_windows"):
        once(tmp_path, importance="aopic", window="longest")
    assert not is_crawl(tmp_path)


def test_trusting_sites_that_nobody_has_met_is_said(tmp_path):
    def warned(*seeds: str) -> bool:
        _, said = once(tmp_path, seeds, trusted=("a.example", "b.example"))
        return any("none of the trusted sites is known yet" in one.message for one in said)

    assert warned(SEED)
    assert not warned("http://www.b.example/")
    assert not warned()


def test_a_crawl_of_before_there_were_windows_goes_on_with_the_one_it_had(tmp_path):
    """Its `crawl.json` names none, and nothing was kept of pages beside history and mark."""
    once(tmp_path, importance="aopic", window="interpolation")
    file = tmp_path / "crawl.json"
    birth = msgspec.json.decode(file.read_bytes())
    birth["scheme"] = {key: birth["scheme"][key] for key in ("name", "handout", "internal")}
    del birth["begun"]
    file.write_bytes(msgspec.json.encode(birth))
    for old in tmp_path.glob("snapshot-*"):
        old.unlink()
    assert scheme(tmp_path) == Scheme("aopic", True, 1.0)
    partition = Partition(tmp_path, random.randbytes, now=0.0, writable=False)
    assert View(partition, Config(), time.time()).importance.tolist() == [1.0]
    partition.close()
    once(tmp_path, (), importance="aopic")
    assert scheme(tmp_path) == Scheme("aopic", True, 1.0, "interpolation", 1)

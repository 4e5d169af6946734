"""The secret of a crawl: where it is kept, who can read it, and what opens without one."""

import random
import shutil
import stat
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest
import xxhash

from evercrawl.arrays.hasher import Hasher
from evercrawl.errors import ConfigError, StoreError
from evercrawl.store.backups.backup import backup
from evercrawl.store.birth import COPY, FILE, KEY, Birth
from evercrawl.store.partition import Partition
from evercrawl.store.table.table import SEGMENTS, KeyMap
from evercrawl.types import NO_SLOT
from tests.helpers.hashing import HASHER

OLDER = Path(__file__).parents[1] / "store" / "data" / "version8"
OTHER = "http://example.org/other"


class Blunt(Hasher):
    """Gives every URL of one length the same key: what no secret does, and a lookup has to bear all the same."""

    def keys(self, urls):
        return np.array([len(url) for url in urls], np.uint64)


def told(directory: Path) -> Birth:
    return msgspec.json.decode((directory / FILE).read_bytes(), type=Birth)


def opened(directory: Path, **options: object) -> Partition:
    return Partition(directory, random.Random(1).randbytes, now=1.7e9, **options)


def test_nobody_else_can_read_it_and_nothing_else_holds_it(filled, tmp_path):
    backup(filled.directory, tmp_path / "copy", 1.7e9)
    for directory in (filled.directory, tmp_path / "copy"):
        secret = told(directory).secret
        assert len(bytes.fromhex(secret)) == 16
        for path in (path for path in directory.rglob("*") if path.is_file()):
            if path.name in (FILE, COPY, KEY):
                assert stat.S_IMODE(path.stat().st_mode) == 0o600
            else:
                assert secret.encode() not in path.read_bytes(), path
                assert bytes.fromhex(secret) not in path.read_bytes(), path
    assert told(tmp_path / "copy").secret == told(filled.directory).secret
    assert told(filled.directory).secret not in f"{told(filled.directory)!r} {filled.partition.hasher!r}"


def test_one_can_be_given(tmp_path):
    for name, secret in (("one", bytes(range(16))), ("drawn", None)):
        (tmp_path / name).mkdir()
        with closing(opened(tmp_path / name, secret=secret)) as made:
            assert len(made.hasher.secret) == 16
            assert (made.hasher.secret == secret) == (secret is not None)
        with closing(opened(tmp_path / name, secret=bytes(16))) as again:  # it has one
            assert again.hasher.secret == made.hasher.secret


@pytest.mark.parametrize("secret", ["", "00", "zz" * 16, "00" * 17])
def test_a_secret_that_is_none_is_told(filled, secret):
    for name in (FILE, COPY):
        data = msgspec.json.decode((filled.directory / name).read_bytes()) | {"secret": secret}
        (filled.directory / name).write_bytes(msgspec.json.encode(data))
    with pytest.raises(StoreError, match=r"crawl.json is damaged: .*; restore it from a copy"):
        opened(filled.directory)


def test_a_snapshot_of_another_secret_is_not_taken(filled):
    """As when crawl.json was put back from another crawl: what the journal says is hashed anew."""
    before = told(filled.directory)
    for name in (FILE, COPY):
        (filled.directory / name).write_bytes(msgspec.json.encode(msgspec.structs.replace(before, secret="0f" * 16)))
    with closing(opened(filled.directory)) as again:
        urls = again.state.urls.get_many(range(again.state.known.count))
        assert len(urls) > 5
        assert again.state.find(urls).tolist() == list(range(len(urls)))
        assert again.state.known.rows()["key"].tolist() == again.hasher.keys(urls).tolist()


def test_a_directory_of_format_1_has_public_hashes_as_before(tmp_path):
    shutil.copytree(OLDER, tmp_path / "old")
    with closing(opened(tmp_path / "old")) as old:
        assert (old.birth.format, old.birth.secret, old.hasher.secret) == (1, "", b"")
        urls = old.state.urls.get_many(range(old.state.known.count))
        assert old.state.known.rows()["key"].tolist() == [xxhash.xxh3_64_intdigest(url.encode()) for url in urls]
        assert old.state.find(urls).tolist() == list(range(len(urls)))
        old.switching(1.7e9 + 1, old.scheme)
        old.journal.write(old.journal.seal())
        old.switched()
    assert (told(tmp_path / "old").format, told(tmp_path / "old").secret) == (1, "")


def test_a_url_is_never_taken_for_another_of_its_key(begun):
    begun.state.hasher = Blunt(begun.partition.hasher.secret)
    begun.seed(OTHER)
    same = OTHER[:-1] + "x"
    assert begun.state.find_one(OTHER) != NO_SLOT
    assert begun.state.table.find(begun.state.hasher.keys([same]))[0] == begun.state.find_one(OTHER)
    assert begun.state.find([same, OTHER, "http://example.org/elsewhere"]).tolist() == [
        NO_SLOT, begun.state.find_one(OTHER), NO_SLOT,
    ]  # fmt: skip
    with pytest.raises(ConfigError, match=f"{same} has the 64-bit key of another URL; crawl it in another directory"):
        begun.seed(same)


def test_keys_that_were_made_to_be_near_fill_no_segment():
    """Half a million URLs are looked through for those that XXH3 puts into one segment; there is no room for them."""
    urls = [f"http://a.example/{i}" for i in range(1 << 19)]
    near = [urls[i] for i in np.flatnonzero(Hasher(b"").keys(urls) >> np.uint64(56) == 7)]
    assert len(near) > 1900
    with pytest.raises(StoreError):
        KeyMap(segment_capacity=1000).intern(Hasher(b"").keys(near))
    table = KeyMap(segment_capacity=1000)
    assert table.intern(HASHER.keys(near))[1].all()
    counts = np.bincount((HASHER.keys(near) >> np.uint64(56)).astype(np.int64), minlength=SEGMENTS)
    assert counts.max() < 5 * len(near) / SEGMENTS

"""Readers that do not wait for each other, and a writer that waits for them, but not for ever."""

import threading
import time

from evercrawl.serve.sharing import SharedLock


def test_readers_read_together_and_a_writer_alone():
    lock, both, seen = SharedLock(), threading.Barrier(2), list[int]()

    def read() -> None:
        with lock.reading():
            both.wait(5)  # which needs two at once
            seen.append(lock.readers)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for each in readers:
        each.start()
    for each in readers:
        each.join(5)
    with lock.writing():
        assert lock.readers == 0
    assert 2 in seen


def test_a_writer_gets_its_turn_among_readers_that_never_end():
    lock, stop, wrote = SharedLock(), threading.Event(), threading.Event()

    def read() -> None:
        while not stop.is_set():
            with lock.reading(), lock.reading():  # the second while a writer may wait
                time.sleep(0.001)

    def write() -> None:
        with lock.writing():
            wrote.set()

    threads = [threading.Thread(target=read) for _ in range(8)] + [threading.Thread(target=write)]
    for each in threads:
        each.start()
    assert wrote.wait(5)
    stop.set()
    for each in threads:
        each.join(5)

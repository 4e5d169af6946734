"""The verbs change how the process takes signals; put that back after each test."""

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def signals_as_before() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)

"""Experiments leave their numbers in a folder of their own, and never here."""

import pytest


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)

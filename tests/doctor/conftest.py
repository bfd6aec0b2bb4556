"""What the tests of the doctor are given."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from qiusuo.testing import ProviderServer
from qiusuo.testing.providers.searxng import Searxng


@pytest.fixture
def own_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the user's data folder and language."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("QIUSUO_LANG", "en")


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer(Searxng()) as running:
        yield running

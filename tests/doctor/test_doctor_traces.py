"""Traces that cannot be sent are found before the server is started."""

from __future__ import annotations

import sys

import pytest

from qiusuo.config import Settings
from qiusuo.doctor import Level, examine
from qiusuo.errors import ConfigurationError
from qiusuo.service import SearchService
from qiusuo.web.app import create_app

pytestmark = pytest.mark.usefixtures("own_data_folder")
COLLECTOR = "http://127.0.0.1:4318"


async def found(**settings: str) -> list[tuple[str, Level]]:
    findings = await examine(Settings.load(**settings), quick=True)
    return [(each.code, each.level) for each in findings if each.code.startswith("traces.")]


async def test_what_sends_them_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await found(otlp_url=COLLECTOR) == []
    for name in [name for name in sys.modules if name.startswith("opentelemetry.exporter")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter", None)
    assert await found() == []
    assert await found(otlp_url=COLLECTOR) == [("traces.missing", Level.PROBLEM)]
    settings = Settings.load(otlp_url=COLLECTOR)
    with SearchService.from_settings(settings) as service, pytest.raises(ConfigurationError) as caught:
        create_app(service)
    assert caught.value.fact.code == "traces.not_installed"

"""Settings over HTTP: what is told, what is written, and that it is obeyed at once."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from qiusuo.testing import ProviderServer
from qiusuo.testing.providers.tavily import Tavily
from tests.support.settings_world import SettingsServer, settings_server


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path / "qiusuo"


@pytest.fixture
def server() -> Iterator[SettingsServer]:
    with settings_server() as it:
        yield it


@pytest.fixture
def tavily() -> Iterator[ProviderServer]:
    with ProviderServer(Tavily()) as provider:
        yield provider


class TestReading:
    def test_every_setting_is_told_with_where_it_comes_from(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder.mkdir()
        (folder / "config.toml").write_text('timeout = 7\nmodel = "ollama:qwen3"\nmodel_api_key = "planted-key"\n')
        monkeypatch.setenv("SEARCH_MAX_RESULTS", "8")
        with settings_server() as it:
            told = it.settings()
        fields = told["fields"]
        assert (fields["timeout"]["value"], fields["timeout"]["source"]) == (7, "file")
        assert (fields["max_results"]["value"], fields["max_results"]["source"]) == (8, "environment")
        assert fields["max_results"]["variable"] == "SEARCH_MAX_RESULTS"
        assert (fields["cache_ttl"]["value"], fields["cache_ttl"]["source"]) == (3600, "default")
        assert fields["model_api_key"] == {**fields["model_api_key"], "value": None, "secret": True, "set": True}
        assert fields["port"]["restart"]
        assert not fields["timeout"]["restart"]
        assert told["models"][0]["key"] == {"set": True, "source": "file", "variable": "QIUSUO_MODEL_API_KEY"}
        assert told["file"] == str(folder / "config.toml")
        assert told["writable"]
        assert told["problem"] is None

    def test_without_a_file_all_are_defaults(self, server: SettingsServer, folder: Path) -> None:
        told = server.settings()
        assert told["file"] is None
        assert {field["source"] for name, field in told["fields"].items() if name != "legal_meaning"} == {"default"}
        tavily = next(engine for engine in told["engines"] if engine["name"] == "tavily")
        assert tavily["key"] == {"set": False, "source": None, "variable": "TAVILY_API_KEY"}
        assert tavily["key_wanted"]
        assert not tavily["takes_part"]
        assert not folder.exists(), "reading writes nothing"


class TestWriting:
    def test_a_key_is_saved_and_used_at_once(
        self, server: SettingsServer, folder: Path, tavily: ProviderServer
    ) -> None:
        told = server.saved({"engines.tavily.api_key": tavily.key, "engines.tavily.base_url": tavily.base_url})
        assert told["changed"] == ["engines.tavily.api_key", "engines.tavily.base_url"]
        assert told["restart"] == []
        assert tavily.key not in str(told)
        found = server.search().json()
        assert found["provider"] == "tavily"
        file = folder / "config.toml"
        assert file.stat().st_mode & 0o777 == 0o600
        assert folder.stat().st_mode & 0o777 == 0o700
        assert tomllib.loads(file.read_text())["engines"]["tavily"]["api_key"] == tavily.key

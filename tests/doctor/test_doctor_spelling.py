"""Misspelt names of settings, which would be ignored without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from qiusuo.config import Settings
from qiusuo.doctor import examine


async def odd_names(settings: Settings) -> dict[str, str]:
    """Return the names that nobody knows, with those that are meant."""
    found = await examine(settings, quick=True)
    return {
        str(one.values["name"]): str(one.values.get("near", ""))
        for one in found
        if one.code in {"settings.misspelt_name", "settings.nobodys_name"}
    }


async def test_names_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(
        "timout = 3\nmax_results = 5\nSEARCH_TIMEOUT = 4\n[tools.shell]\nallow = true\n"
        "[engines.tavilly]\napi_key = 'x'\n[engines.tavily]\napi_keyy = 'x'\n[engines.wholly_other]\napi_key = 'x'\n"
        "[engines.searxng]\nbasic_auth = 'a:b'\n",
        "utf-8",
    )
    file.chmod(0o600)
    found = await odd_names(Settings.load(file))
    assert found.pop("engines.wholly_other") == ""
    assert found == {"timout": "timeout", "engines.tavilly": "tavily", "engines.tavily.api_keyy": "api_key"}


async def test_names_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "QIUSUO_MODLE",
        "QIUSUO_TOKEN",
        "QIUSUO_LANG",
        "SEARCH_TIMEOUT",
        "SEARCH_BOX",
        "QIUSUO_ENGINES__TAVILLY__API_KEY",
    ):
        monkeypatch.setenv(name, "3")
    assert await odd_names(Settings.load()) == {"QIUSUO_MODLE": "QIUSUO_MODEL", "engines.tavilly": "tavily"}


async def test_the_second_name_of_a_setting_is_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"QIUSUO_CACHE_TTL": "-5", "QIUSUO_TIMEOUT": "0.5", "QIUSUO_SEARXNG_URL": "localhost:8"}.items():
        monkeypatch.setenv(name, value)
    settings = Settings.load()
    assert await odd_names(settings) == {}
    found = {
        one.code: one.values["variable"] for one in await examine(settings, quick=True) if "variable" in one.values
    }
    assert found == {"settings.invalid": "QIUSUO_CACHE_TTL", "searxng.address": "QIUSUO_SEARXNG_URL"}


async def test_keys_and_addresses_of_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    misspelt = {
        "TAVILY_APIKEY": "TAVILY_API_KEY",
        "SEARXNG_ULR": "SEARXNG_URL",
        "DEEPSEEK_APIKEY": "DEEPSEEK_API_KEY",
        "SEARCH_TIMEOUTS": "SEARCH_TIMEOUT",
        "ANTROPIC_API_KEY": "ANTHROPIC_API_KEY",
        "QIUSUO_BRAVE_API_KEY": "BRAVE_API_KEY",
    }
    # Of other programs, though some are a letter away from a provider that is known.
    others = ("ACME_API_KEY", "LLM_API_KEY", "GROK_API_KEY", "MY_API_KEY", "API_KEY", "OPENAI_ORG_ID", "BASE_URL")
    for name in (*misspelt, *others):
        monkeypatch.setenv(name, "3")
    assert await odd_names(Settings.load()) == misspelt


async def test_a_key_that_is_set_is_not_meant_by_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("OPENAI_API_KEYS", "x,y")  # another program's
    assert await odd_names(Settings.load()) == {}


async def test_all_that_there_is_has_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIUSUO_ENGINES__TAVILY__API_KEY", "k")
    monkeypatch.setenv("QIUSUO_MODEL", "ollama:x")
    assert await odd_names(Settings.load()) == {}


def test_in_code_a_name_that_nobody_knows_is_refused() -> None:
    with pytest.raises(TypeError, match=r"timout.*timeout"):
        Settings.load(timout=3)

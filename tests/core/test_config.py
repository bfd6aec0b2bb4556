"""Configuration: where values come from, what a wrong one does, and what is never shown."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qiusuo.config import DEFAULT_SEARXNG_URL, Environment, Settings, variable_name, variable_names
from qiusuo.errors import ConfigurationError
from qiusuo.logs import LogLine
from qiusuo.models import SearchType
from qiusuo.storage.redis import SharedState
from qiusuo.words import Language
from tests.support.settings_files import KINDS, write

__all__ = ["write"]  # a fixture


class TestPrecedence:
    @KINDS
    def test_arguments_over_environment_over_file_over_defaults(
        self, kind: str, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert Settings.load().timeout == 5.0
        path = write({"timeout": 7, "hedge_delay": 0.7}, kind)
        assert (Settings.load().timeout, Settings.load().hedge_delay) == (7, 0.7)
        assert Settings.load().config_file == path
        monkeypatch.setenv("SEARCH_TIMEOUT", "8")
        monkeypatch.setenv("QIUSUO_HEDGE_DELAY", "0.8")
        assert (Settings.load().timeout, Settings.load().hedge_delay) == (8, 0.8)
        given = Settings.load(timeout=9, hedge_delay=0.9)
        assert (given.timeout, given.hedge_delay) == (9, 0.9)

    def test_a_seed_setting_has_a_second_name_that_also_wins_over_the_file(
        self, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write({"timeout": 7})
        monkeypatch.setenv("QIUSUO_TIMEOUT", "8")
        assert Settings.load().timeout == 8
        assert Settings.load(timeout=9).timeout == 9

    @KINDS
    def test_every_kind_of_value_comes_from_a_file(self, kind: str, write: Callable[..., Path]) -> None:
        write(
            {
                "provider_priority": ["Brave", "tavily"],
                "regulation_sites": ["flk.npc.gov.cn"],
                "case_keyword": "判决书",
                "hedge_paid": True,
                "engines": {"exa": {"api_key": "from-file", "summary": True, "max_concurrency": 2}},
            },
            kind,
        )
        settings = Settings.load()
        assert settings.provider_priority == ("brave", "tavily")
        assert settings.regulation_sites == ("flk.npc.gov.cn",)
        assert settings.case_keyword == "判决书"
        assert settings.hedge_paid
        exa = settings.engine("exa")
        assert exa.api_key is not None
        assert exa.api_key.get_secret_value() == "from-file"
        assert exa.max_concurrency == 2
        assert exa.model_extra == {"summary": True}

    def test_an_engines_settings_are_joined_from_all_sources(
        self, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write({"engines": {"tavily": {"timeout": 2, "monthly_quota": 10}, "brave": {"timeout": 3}}})
        monkeypatch.setenv("QIUSUO_ENGINES__TAVILY__MONTHLY_QUOTA", "500")
        settings = Settings.load(engines={"tavily": {"requests_per_second": 2}})
        tavily = settings.engine("tavily")
        assert (tavily.timeout, tavily.monthly_quota, tavily.requests_per_second) == (2, 500, 2)
        assert settings.engine("brave").timeout == 3
        assert settings.engine("exa").monthly_quota is None

    @pytest.mark.parametrize("name", ["LANGUAGE", "TIMEOUT", "MAX_RESULTS", "RATE_LIMIT", "CACHE_TTL"])
    def test_variables_of_other_programs_are_not_read(
        self, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setenv(name, "fr" if name == "LANGUAGE" else "3")
        assert Settings.load() == Settings()
        assert getattr(Settings.load(), name.lower()) == Settings.model_fields[name.lower()].get_default()
        assert not caplog.records

    def test_empty_variables_count_as_unset(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SEARCH_TIMEOUT", "")
        monkeypatch.setenv("TAVILY_API_KEY", "  ")
        settings = Settings.load()
        assert settings.timeout == 5.0
        assert settings.env("TAVILY_API_KEY") is None

    @pytest.mark.parametrize("text", ["tavily，Brave, exa", " tavily ,brave,,exa,tavily ", "TAVILY,BRAVE,EXA"])
    def test_the_priority_list_takes_both_commas_any_case_and_repetitions(
        self, text: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", text)
        assert Settings.load().provider_priority == ("tavily", "brave", "exa")

    @pytest.mark.parametrize("text", [" ", ",", "，,"])
    def test_an_empty_priority_list_is_none(self, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", text)
        assert Settings.load().provider_priority is None


INVALID = [
    ("SEARCH_CACHE_TTL", ["-1", "an hour", "nan", "inf"]),
    ("SEARCH_RATE_LIMIT", ["-1", "ten", "2.5"]),
    ("SEARCH_MAX_RESULTS", ["0", "51", "-3", "many", "1.5"]),
    ("SEARCH_TIMEOUT", ["0", "-5", "121", "soon", "nan", "inf", "1e999"]),
    ("SEARCH_LANGUAGE", ["Chinese!", "z", "zh_CN", "zh-"]),
    ("SEARCH_SNIPPET_LENGTH", ["19", "5001", "short"]),
    ("SEARXNG_URL", ["localhost:8080", "ftp://host", "http://", "http://host:99999", "http://h/?q=1", "http://a b"]),
]


class TestInvalidSeedSettings:
    @pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in INVALID for value in values])
    def test_the_default_is_used_and_a_log_line_names_variable_and_value(
        self, name: str, value: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        field = next(field for field in Settings.SEED_FIELDS if variable_name(field) == name)
        expected = DEFAULT_SEARXNG_URL if name == "SEARXNG_URL" else Settings.model_fields[field].get_default()
        monkeypatch.setenv(name, value)
        assert getattr(Settings.load(), field) == expected
        (record,) = caplog.records
        assert record.levelno == logging.WARNING
        assert name in record.getMessage()
        assert repr(value) in record.getMessage()
        assert repr(expected) in record.getMessage()

    def test_the_second_name_of_a_variable_is_read_and_named(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setenv("QIUSUO_CACHE_TTL", "-5")
        monkeypatch.setenv("QIUSUO_TIMEOUT", "0.5")
        monkeypatch.setenv("QIUSUO_MAX_RESULTS", "7")
        monkeypatch.setenv("SEARCH_MAX_RESULTS", "8")
        settings = Settings.load()
        assert (settings.cache_ttl, settings.timeout, settings.max_results) == (3600, 0.5, 8)
        [record] = caplog.records
        assert record.getMessage().startswith("QIUSUO_CACHE_TTL: '-5' is not valid")

    @pytest.mark.parametrize("field", list(Settings.model_fields))
    def test_the_names_of_variables_are_those_that_are_read(self, field: str) -> None:
        source = Environment(Settings)
        read = {name.upper() for _, name, _ in source._extract_field_info(Settings.model_fields[field], field)}
        assert {name for name in read if name.startswith(("QIUSUO_", "SEARCH_", "SEARXNG_"))} == set(
            variable_names(field)
        )

    @pytest.mark.parametrize("name", ["SEARXNG_URL", "QIUSUO_SEARXNG_URL", "SEARCH_LANGUAGE"])
    def test_what_is_wrong_is_said_in_words_and_not_by_a_pattern(
        self, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setenv(name, "localhost:8080")
        Settings.load()
        [record] = caplog.records
        told = LogLine(language=Language.CHINESE).format(record)
        assert f"{name}：'localhost:8080' 无效（应" in told
        assert "^" not in told

    def test_every_seed_variable_is_in_the_table(self) -> None:
        named = {variable_name(field) for field in Settings.SEED_FIELDS}
        assert named == {name for name, _ in INVALID} | {"SEARCH_PROVIDER_PRIORITY"}  # any text is a list of names

    def test_wrong_kinds_in_a_file_fall_back_too(
        self, write: Callable[..., Path], caplog: pytest.LogCaptureFixture
    ) -> None:
        file = write({"timeout": "soon", "provider_priority": 5, "searxng_url": ["x"], "max_results": 7})
        settings = Settings.load()
        assert (settings.timeout, settings.provider_priority, settings.max_results) == (5.0, None, 7)
        assert {f"{name} in {file}" for name in ("timeout", "provider_priority", "searxng_url")} == {
            record.getMessage().split(":")[0] for record in caplog.records
        }

    @pytest.mark.parametrize(
        "url",
        ["ftp://ada:s3cret@host", "http://ada:s3cret@", "http://ada:s3cret@host:99999", "https://ada:s3cret@h?x=1"],
    )
    def test_a_password_in_the_address_is_never_logged(
        self, url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setenv("SEARXNG_URL", url)
        assert Settings.load().searxng_url == DEFAULT_SEARXNG_URL
        assert "SEARXNG_URL" in caplog.text
        assert "s3cret" not in caplog.text
        assert "ada" not in caplog.text

    @pytest.mark.parametrize("url", ["http://localhost:8080", "https://s.example/sub/path/", "http://u:p@[::1]:8080"])
    def test_good_addresses_are_taken_as_they_are(
        self, url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setenv("SEARXNG_URL", url)
        assert Settings.load().searxng_url == url
        assert not caplog.records


class TestInvalidOtherSettings:
    @pytest.mark.parametrize(
        ("name", "value", "told"),
        [
            ("QIUSUO_HEDGE_DELAY", "later", "QIUSUO_HEDGE_DELAY"),
            ("QIUSUO_HEDGE_DELAY", "-1", "QIUSUO_HEDGE_DELAY"),
            ("QIUSUO_HEDGE_PAID", "perhaps", "QIUSUO_HEDGE_PAID"),
            ("QIUSUO_CACHE_SIZE", "0", "QIUSUO_CACHE_SIZE"),
            ("QIUSUO_CACHE_TTL_NEWS", "inf", "QIUSUO_CACHE_TTL_NEWS"),
            ("QIUSUO_MERGE_ENGINES", "1", "QIUSUO_MERGE_ENGINES"),
            ("QIUSUO_REGION", "China", "QIUSUO_REGION"),
            ("QIUSUO_ENGINES", "{not json", "engines"),
            ("QIUSUO_ENGINES__TAVILY", "fast", "QIUSUO_ENGINES__TAVILY"),
            ("QIUSUO_ENGINES__TAVILY__MONTHLY_QUOTA", "lots", "QIUSUO_ENGINES__TAVILY__MONTHLY_QUOTA"),
            ("QIUSUO_ENGINES__TAVILY__STORE_RESULTS", "forever", "QIUSUO_ENGINES__TAVILY__STORE_RESULTS"),
        ],
    )
    def test_a_wrong_value_is_an_error_that_names_its_variable(
        self, name: str, value: str, told: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(name, value)
        with pytest.raises(ConfigurationError) as caught:
            Settings.load()
        assert told in caught.value.message
        assert caught.value.fix

    @pytest.mark.parametrize(
        ("variable", "value", "english", "chinese"),
        [
            ("QIUSUO_PORT", "x", "QIUSUO_PORT: should be a whole number", "QIUSUO_PORT：应为整数"),
            ("QIUSUO_PORT", "70000", "should be 65535 or less", "应不大于 65535"),
            ("QIUSUO_WHEN_FULL", "explode", "should be one of: 'refuse'", "应为以下之一：'refuse'"),
            ("QIUSUO_TOKENS", "short", "fewer than 16 characters", "少于 16 个字符"),
            ("QIUSUO_TOKENS", "local:0123456789abcdef", "take another name", "请换一个名称"),
            ("QIUSUO_DATABASE_URL", "mysql://x", "write postgresql://", "请写成 postgresql://"),
        ],
    )
    def test_what_is_wrong_is_told_in_both_languages(
        self, variable: str, value: str, english: str, chinese: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(variable, value)
        with pytest.raises(ConfigurationError) as caught:
            Settings.load()
        assert english in caught.value.message
        words = caught.value.wording(Language.CHINESE)
        assert chinese in words.what
        assert words.fix == "请改正或删除这些值。"
        assert value not in words.what

    def test_a_wrong_value_in_a_file_also_names_the_file(self, write: Callable[..., Path]) -> None:
        path = write({"engines": {"tavily": {"timeout": -1, "api_key": "tvly-s3cret"}}})
        with pytest.raises(ConfigurationError) as caught:
            Settings.load()
        assert str(path) in str(caught.value)
        assert "engines.tavily.timeout" in str(caught.value)
        assert "s3cret" not in str(caught.value)


class TestSecretsAndTimes:
    def test_no_secret_is_shown(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TAVILY_API_KEY", "tvly-s3cret")
        settings = Settings.load(
            redis_url="redis://:s3cret@localhost",
            searxng_url="http://ada:s3cret@localhost:8080",
            engines={
                "exa": {"api_key": "s3cret", "base_url": "http://ada:s3cret@localhost"},
                "searxng": {"basic_auth": "ada:s3cret", "headers": {"X-Token": "s3cret"}},
            },
        )
        for text in (repr(settings), str(settings), repr(settings.engine("searxng")), str(settings.engine("exa"))):
            assert "s3cret" not in text
        assert "basic_auth" in repr(settings)
        assert settings.env("TAVILY_API_KEY") == "tvly-s3cret"
        assert settings.searxng_url == "http://ada:s3cret@localhost:8080"

    def test_each_search_type_has_its_time(self) -> None:
        settings = Settings.load(cache_ttl=10, cache_ttl_news=20, cache_ttl_case=30, cache_ttl_regulation=40)
        assert {kind.value: settings.ttl_for(kind) for kind in SearchType} == {
            "general": 10,
            "news": 20,
            "case": 30,
            "regulation": 40,
        }
        hour = 3600
        assert [Settings.load().ttl_for(kind) / hour for kind in SearchType] == [1, 1, 24, 6]

    def test_zero_switches_caching_off_for_every_type(self) -> None:
        assert {Settings.load(cache_ttl=0).ttl_for(kind) for kind in SearchType} == {0.0}
        assert Settings.load(cache_ttl_news=0).ttl_for(SearchType.NEWS) == 0
        assert Settings.load(cache_ttl_news=0).ttl_for(SearchType.GENERAL) == 3600

    def test_settings_cannot_be_changed(self) -> None:
        with pytest.raises(ValueError, match="frozen"):
            Settings.load().timeout = 1  # type: ignore[misc]


@pytest.mark.parametrize("address", ["redis://:secret/word@127.0.0.1:6379/0", "redis://:secret#x@h:1"])
def test_a_redis_address_that_cannot_be_read_is_not_quoted(address: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        SharedState(address)
    assert "secret" not in str(caught.value)


def test_a_searxng_address_that_cannot_be_read_is_not_quoted(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    Settings.load(searxng_url="http://user:secret/word@host")
    assert "SEARXNG_URL" in caplog.text
    assert "secret" not in caplog.text


class TestModels:
    @KINDS
    def test_further_models_come_from_tables(self, kind: str, write: Callable[..., Path]) -> None:
        cheap = {"model": " deepseek:deepseek-chat ", "api_key": "sk-cheap", "context": 32000, "temperature": 0.2}
        write({"second_model": "cheap", "search_default": True, "models": {"cheap": cheap}}, kind)
        settings = Settings.load()
        assert settings.models["cheap"].model == "deepseek:deepseek-chat"
        assert (settings.models["cheap"].context, settings.models["cheap"].base_url) == (32000, None)
        assert (settings.second_model, settings.search_default) == ("cheap", True)
        assert "sk-cheap" not in repr(settings)

    def test_variables_make_a_model_and_add_to_that_of_the_file(
        self, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write({"models": {"Big": {"model": "openai:gpt-5.5", "temperature": 1}}})
        monkeypatch.setenv("QIUSUO_MODELS__CHEAP__MODEL", "ollama:qwen3")
        monkeypatch.setenv("QIUSUO_MODELS__BIG__API_KEY", "sk-big")
        monkeypatch.setenv("QIUSUO_SECOND_MODEL", "cheap")
        models = Settings.load().models
        assert sorted(models) == ["Big", "cheap"]
        big = models["Big"]
        assert (big.model, big.temperature) == ("openai:gpt-5.5", 1)
        assert big.api_key is not None
        assert big.api_key.get_secret_value() == "sk-big"

    def test_nothing_is_set_by_itself(self) -> None:
        settings = Settings.load()
        assert (settings.models, settings.second_model, settings.search_default) == ({}, None, None)

    @pytest.mark.parametrize(
        ("values", "code", "place"),
        [
            ({"models": {"my model": {"model": "ollama:qwen3"}}}, "settings.model_name", "models"),
            ({"models": {"x" * 41: {"model": "ollama:qwen3"}}}, "settings.model_name", "models"),
            ({"models": {"cheap": {"base_url": "http://x"}}}, "value.missing", "models.cheap.model"),
            ({"models": {"cheap": {"model": "  "}}}, "value.string_too_short", "models.cheap.model"),
            ({"second_model": "cheap"}, "settings.second_model", "second_model"),
        ],
    )
    def test_what_is_wrong_is_told_with_its_place(self, values: dict[str, Any], code: str, place: str) -> None:
        with pytest.raises(ConfigurationError) as caught:
            Settings.load(**values)
        told = [(fact.values["name"], fact.values["problem"].code) for fact in caught.value.fact.values["problems"]]
        assert told == [(place, code)]

    @pytest.mark.parametrize(
        ("variable", "value", "place"),
        [
            ("QIUSUO_AGENT_ROUNDS", "900", "QIUSUO_AGENT_ROUNDS"),
            ("QIUSUO_ENGINES__TAVILY__TIMEOUT", "0", "QIUSUO_ENGINES__TAVILY__TIMEOUT"),
            ("QIUSUO_ENGINES", '{"tavily": {"timeout": 0}}', "QIUSUO_ENGINES.tavily.timeout"),
        ],
    )
    def test_what_is_wrong_in_the_environment_has_the_name_of_its_variable(
        self, variable: str, value: str, place: str, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write({"max_results": 7})
        monkeypatch.setenv(variable, value)
        with pytest.raises(ConfigurationError) as caught:
            Settings.load()
        assert caught.value.fact.code == "settings.not_valid", "the file is not at fault"
        assert [fact.values["name"] for fact in caught.value.fact.values["problems"]] == [place]

    def test_a_wrong_value_of_the_file_keeps_its_name_beside_one_of_the_environment(
        self, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write({"cache_size": 0})
        monkeypatch.setenv("QIUSUO_AGENT_ROUNDS", "900")
        with pytest.raises(ConfigurationError) as caught:
            Settings.load()
        assert caught.value.fact.code == "settings.file_not_valid"
        told = {fact.values["name"] for fact in caught.value.fact.values["problems"]}
        assert told == {"cache_size", "QIUSUO_AGENT_ROUNDS"}

    def test_a_key_that_no_model_has_is_refused(self) -> None:
        with pytest.raises(ConfigurationError, match=r"models\.cheap\.url"):
            Settings.load(models={"cheap": {"model": "ollama:qwen3", "url": "http://x"}})

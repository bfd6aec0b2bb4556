"""Tries of keys and addresses in the settings, against providers on loopback; and servers that are found."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from qiusuo.testing import Answer, Fault, Provider, ProviderServer, Seen
from qiusuo.testing.providers.searxng import Searxng
from qiusuo.testing.providers.tavily import Tavily
from qiusuo.web.settings.found import Place, find_servers
from tests.support.settings_world import SettingsServer, settings_server

KEY = "sk-tried-0123456789"


class Models(Provider):
    """Plays a provider of models that speaks OpenAI's protocol."""

    key = KEY
    base_path = "/v1"
    lists = True

    def answer(self, seen: Seen) -> Answer:
        if seen.path == "/v1/models" and self.lists:
            return Answer({"data": [{"id": "good"}, {"id": "another"}, {"id": "nomic-embed-text"}, {"id": "bge-m3"}]})
        if seen.path == "/v1/chat/completions" and seen.json["model"] == "good":
            return Answer({"choices": [{"message": {"content": "1"}}]})
        return Answer({"error": {"message": "The model does not exist", "code": "model_not_found"}}, 404)


class Unlisted(Models):
    """One that has no list."""

    lists = False


class Open(Models):
    """A local one, that wants no key."""

    def authorized(self, seen: Seen) -> bool:  # noqa: ARG002 - open to all
        return True


class Broke(Models):
    """One whose account is empty, told as OpenAI tells it."""

    def answer(self, seen: Seen) -> Answer:  # noqa: ARG002 - to everything
        return Answer({"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}, 429)


@pytest.fixture(scope="module")
def server() -> Iterator[SettingsServer]:
    with settings_server() as it:
        yield it


@pytest.fixture
def models() -> Iterator[ProviderServer]:
    with ProviderServer(Models()) as it:
        yield it


def tried(server: SettingsServer, **body: Any) -> dict[str, Any]:
    answer = server.client.post("/api/settings/test", json=body)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    assert told["message"]
    return told


class TestModels:
    @pytest.mark.parametrize(
        ("fault", "outcome"),
        [
            (None, "accepted"),
            (Fault.AUTH, "refused"),
            (Fault.FORBIDDEN, "refused"),
            (Fault.QUOTA, "no_credit"),
            (Fault.RATE_LIMITED, "limited"),
            (Fault.SERVER_ERROR, "failed"),
            (Fault.HTML, "wrong_service"),
            (Fault.NOT_JSON, "wrong_service"),
            (Fault.WRONG_SHAPE, "wrong_service"),
            (Fault.REDIRECT, "wrong_service"),
            (Fault.HUGE, "wrong_service"),
            (Fault.RESET, "unreachable"),
        ],
    )
    def test_each_end_has_its_word(
        self, server: SettingsServer, models: ProviderServer, fault: Fault | None, outcome: str
    ) -> None:
        models.fault = fault
        told = tried(server, kind="model", model="compatible:good", base_url=models.base_url, api_key=KEY)
        assert told["outcome"] == outcome
        assert len(models.seen) == 1 or fault is Fault.RESET, "nothing is followed, nothing asked twice"
        assert KEY not in str(told)

    def test_a_wrong_key_is_told_in_both_languages(self, server: SettingsServer, models: ProviderServer) -> None:
        body = {"kind": "model", "model": "compatible:good", "base_url": models.base_url, "api_key": "sk-wrong"}
        english = server.client.post("/api/settings/test", json=body).json()
        chinese = server.client.post("/api/settings/test?lang=zh", json=body).json()
        assert english["outcome"] == chinese["outcome"] == "refused"
        assert "does not accept this key" in english["message"]
        assert "不接受这个密钥" in chinese["message"]
        assert english["code"] == chinese["code"] == "trial.refused"

    def test_a_model_that_is_not_there_is_told_with_those_that_are(
        self, server: SettingsServer, models: ProviderServer
    ) -> None:
        told = tried(server, kind="model", model="compatible:absent", base_url=models.base_url, api_key=KEY)
        assert told["outcome"] == "no_such_model"
        assert "another, good" in told["message"]

    def test_one_token_is_asked_for_where_there_is_no_list(self, server: SettingsServer) -> None:
        with ProviderServer(Unlisted()) as models:
            body = {"kind": "model", "base_url": models.base_url, "api_key": KEY}
            assert tried(server, **body, model="compatible:good")["outcome"] == "accepted"
            assert models.seen[-1].json["max_tokens"] == 1
            assert tried(server, **body, model="compatible:absent")["outcome"] == "no_such_model"

    def test_an_empty_account_is_no_haste(self, server: SettingsServer) -> None:
        with ProviderServer(Broke()) as models:
            told = tried(server, kind="model", model="compatible:good", base_url=models.base_url, api_key=KEY)
            assert told["outcome"] == "no_credit"

    def test_where_nobody_listens(self, server: SettingsServer) -> None:
        told = tried(server, kind="model", model="compatible:good", base_url="http://127.0.0.1:9", api_key=KEY)
        assert told["outcome"] == "unreachable"
        assert told["ms"] >= 0

    def test_a_missing_key_is_told_without_asking(self, server: SettingsServer) -> None:
        told = tried(server, kind="model", model="openai:gpt-5.5")
        assert (told["outcome"], told["code"]) == ("refused", "llm.needs_key")

    def test_the_stored_key_is_tried_at_its_own_address_only(
        self, server: SettingsServer, models: ProviderServer
    ) -> None:
        server.saved({"model": "compatible:good", "model_base_url": models.base_url, "model_api_key": KEY})
        assert tried(server, kind="model", name="")["outcome"] == "accepted"
        with ProviderServer(Models()) as other:
            answer = server.client.post("/api/settings/test", json={"kind": "model", "base_url": other.base_url})
            assert answer.status_code == 400
            assert answer.json()["fields"]["api_key"]["code"] == "settings.key_again"
            assert other.seen == []
            listing = {"provider": "compatible", "base_url": other.base_url}
            assert server.client.post("/api/settings/models", json=listing).json()["outcome"] == "refused"
            assert "authorization" not in other.seen[0].headers

    def test_the_key_of_another_provider_is_not_tried_at_the_stored_address(
        self, models: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with ProviderServer(Models()) as openai:
            monkeypatch.setenv("OPENAI_BASE_URL", openai.base_url)
            with settings_server() as it:
                it.saved({"model": "ollama:good", "model_base_url": models.base_url})
                assert tried(it, kind="model", name="", model="openai:good", api_key=KEY)["outcome"] == "accepted"
                assert (len(openai.seen), models.seen) == (1, [])
                assert tried(it, kind="model", name="", model="ollama:good", api_key=KEY)["outcome"] == "accepted"
                assert len(models.seen) == 1, "the same provider is tried where it is"

    def test_a_test_is_no_save_and_tells_no_pattern(self, server: SettingsServer) -> None:
        body = {"kind": "searxng", "base_url": "localhost:8080"}
        told = server.client.post("/api/settings/test", json=body, headers={"Accept-Language": "zh"}).json()
        assert told["code"] == "settings.not_tried"
        assert told["fields"]["base_url"]["code"] == "settings.address_form"
        assert "应以 http:// 或 https:// 开头" in told["message"]

    def test_the_models_are_listed(self, server: SettingsServer, models: ProviderServer) -> None:
        listing = {"provider": "compatible", "base_url": models.base_url, "api_key": KEY}
        told = server.client.post("/api/settings/models", json=listing).json()
        assert told["models"] == ["another", "good"]
        refused = server.client.post("/api/settings/models", json=listing | {"api_key": "sk-wrong"}).json()
        assert (refused["models"], refused["outcome"]) == ([], "refused")

    @pytest.mark.parametrize(
        "address",
        [
            "http://169.254.169.254/v1",
            "http://[fe80::a9fe:a9fe]/v1",
            "http://metadata.google.internal/v1",
            "http://2852039166/v1",
            "http://[::ffff:169.254.169.254]/v1",
            "file:///etc/passwd",
            "http://",
            "gopher://127.0.0.1/",
            "http://127.0.0.1:8000/v1?x=1",
        ],
    )
    def test_places_that_hand_out_credentials_are_refused(self, server: SettingsServer, address: str) -> None:
        body = {"kind": "model", "model": "compatible:good", "base_url": address, "api_key": KEY}
        answer = server.client.post("/api/settings/test", json=body)
        assert answer.status_code == 400
        assert "base_url" in answer.json()["fields"]
        assert server.patch({"model_base_url": address}).status_code == 400


class TestEngines:
    @pytest.mark.parametrize(
        ("fault", "outcome"),
        [
            (None, "accepted"),
            (Fault.AUTH, "refused"),
            (Fault.QUOTA, "no_credit"),
            (Fault.RATE_LIMITED, "limited"),
            (Fault.SERVER_ERROR, "failed"),
            (Fault.HTML, "wrong_service"),
            (Fault.RESET, "unreachable"),
        ],
    )
    def test_each_end_has_its_word(self, server: SettingsServer, fault: Fault | None, outcome: str) -> None:
        with ProviderServer(Tavily(), fault=fault) as tavily:
            told = tried(server, kind="engine", name="tavily", api_key=tavily.key, base_url=tavily.base_url)
            assert told["outcome"] == outcome
            assert len(tavily.seen) == 1
            assert tavily.key not in str(told)

    def test_searxng_by_its_address(self, server: SettingsServer) -> None:
        with ProviderServer(Searxng()) as searxng:
            assert tried(server, kind="searxng", base_url=searxng.base_url)["outcome"] == "accepted"
        assert tried(server, kind="searxng", base_url="http://127.0.0.1:9")["outcome"] == "unreachable"

    def test_an_unknown_engine(self, server: SettingsServer) -> None:
        answer = server.client.post("/api/settings/test", json={"kind": "engine", "name": "__proto__"})
        assert answer.status_code == 400
        assert answer.json()["fields"]["name"]["code"] == "settings.unknown_name"


class TestSecrecy:
    def test_a_tried_key_is_neither_logged_nor_stored(
        self, server: SettingsServer, models: ProviderServer, caplog: pytest.LogCaptureFixture
    ) -> None:
        key = "sk-planted-in-a-test"
        with caplog.at_level(logging.DEBUG), ProviderServer(Tavily()) as tavily:
            for fault in (None, Fault.AUTH, Fault.HTML, Fault.RESET):
                models.fault = tavily.fault = fault
                body = {"kind": "model", "model": "compatible:good", "base_url": models.base_url, "api_key": key}
                assert key not in server.client.post("/api/settings/test", json=body).text
                engine = {"kind": "engine", "name": "tavily", "base_url": tavily.base_url, "api_key": key}
                assert key not in server.client.post("/api/settings/test", json=engine).text
            malformed = {"kind": "model", "model": 5, "api_key": key}
            assert key not in server.client.post("/api/settings/test", json=malformed).text
            assert key not in server.client.post("/api/settings/test", json={"kind": key, "api_key": [key]}).text
        assert key not in caplog.text
        assert server.settings()["file"] is None
        assert tried(server, kind="engine", name="tavily")["code"] == "engine.needs_key"


class TestFinding:
    def test_servers_of_this_machine_are_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with ProviderServer(Open()) as ollama:
            monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{ollama.port}")
            with settings_server() as it:
                found = it.client.get("/api/settings/found").json()["servers"]
                mine = next(one for one in found if one["kind"] == "ollama")
                at_hand = {"kind": "model", "model": "ollama:good", "base_url": f"{mine['base_url']}/v1"}
                assert it.client.post("/api/settings/test", json=at_hand).json()["code"] == "trial.open"
                assert mine["models"] == ["another", "good"]
                told = it.saved(mine["use"]["set"], mine["use"]["unset"])
            assert told["models"][0]["model"] == "ollama:another"
            assert told["models"][0]["base_url"] == f"http://127.0.0.1:{ollama.port}/v1"

    async def test_never_at_our_own_port_and_never_for_long(self) -> None:
        with ProviderServer(Open()) as there, ProviderServer(Open(), fault=Fault.HANG) as silent:
            places = [Place("vllm", there.url), Place("llamacpp", silent.url), Place("lmstudio", "http://127.0.0.1:9")]
            found = await find_servers(places, {there.port})
            assert found == []
            assert there.seen == []
            assert [one["kind"] for one in await find_servers(places, ())] == ["vllm"]

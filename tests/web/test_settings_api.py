"""Settings over HTTP: what is told, what is written, and that it is obeyed at once."""

from __future__ import annotations

import json
import os
import threading
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from qiusuo.chat.stores.opening import open_store
from qiusuo.testing import Answer, Fault, ProviderServer, Seen
from qiusuo.testing.providers.brave import Brave
from qiusuo.testing.providers.tavily import Tavily
from qiusuo.web.chat.routes import chat_extension
from qiusuo.web.settings import live
from qiusuo.web.settings.names import NEEDS_RESTART, plain_fields
from tests.support.scripted_model import Gate, Reply, ScriptedModel
from tests.support.settings_world import SettingsServer, settings_server


@pytest.fixture
def folder() -> Path:
    """Where this test's settings are; each has a folder of its own, and the server looks there."""
    return Path(os.environ["XDG_CONFIG_HOME"]) / "qiusuo"


@pytest.fixture(scope="module")
def server() -> Iterator[SettingsServer]:
    with settings_server() as it:
        yield it


@pytest.fixture
def tavily() -> Iterator[ProviderServer]:
    with ProviderServer(Tavily()) as provider:
        yield provider


class Held(Tavily):
    """Answers when it is let."""

    def __init__(self) -> None:
        self.reached, self.release = threading.Event(), threading.Event()

    def answer(self, seen: Seen) -> Answer:
        self.reached.set()
        self.release.wait(30)
        return super().answer(seen)


class TestReading:
    def test_every_setting_is_told_with_where_it_comes_from(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder.mkdir(parents=True)
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

    def test_what_waits_for_a_restart_is_told(self, server: SettingsServer) -> None:
        told = server.saved({"port": 9000, "max_results": 5})
        assert (told["changed"], told["restart"]) == (["port", "max_results"], ["port"])
        assert plain_fields().keys() >= NEEDS_RESTART

    def test_values_are_taken_out(self, server: SettingsServer, folder: Path) -> None:
        server.saved({"timeout": 3, "models.a.b.model": "ollama:x", "models.a.b.context": 4096, "second_model": "a.b"})
        refused = server.patch(unset=["models.a.b"])
        assert refused.status_code == 400
        assert refused.json()["fields"]["second_model"]["code"] == "settings.second_model"
        told = server.saved({"timeout": None}, ["models.a.b", "second_model"])
        assert [model["name"] for model in told["models"]] == [""]
        assert told["fields"]["timeout"]["source"] == "default"
        assert tomllib.loads((folder / "config.toml").read_text()) in ({}, {"models": {}})

    def test_a_file_that_has_the_variables_name_keeps_it(self, server: SettingsServer, folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text("SEARCH_TIMEOUT = 7\n")
        server.saved({"timeout": 4})
        assert (folder / "config.toml").read_text() == "SEARCH_TIMEOUT = 4\n"

    def test_two_browsers(self, server: SettingsServer) -> None:
        version = server.saved({"timeout": 3, "max_results": 5})["version"]
        assert server.patch({"timeout": 4}, version=version).status_code == 200
        merged = server.patch({"max_results": 6}, version=version)
        assert merged.status_code == 200
        assert merged.json()["fields"]["timeout"]["value"] == 4
        lost = server.patch({"timeout": 5, "snippet_length": 100}, version=version)
        assert lost.status_code == 409
        assert lost.json()["code"] == "settings.changed_meanwhile"
        assert list(lost.json()["fields"]) == ["timeout"]
        assert server.settings()["fields"]["snippet_length"]["source"] == "default", "nothing of it was written"

    def test_many_at_once_lose_nothing(self, server: SettingsServer) -> None:
        names = ["timeout", "max_results", "snippet_length", "cache_ttl", "merge_engines", "rate_limit"]
        with ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(lambda name: server.patch({name: 20}), names))
        assert {answer.status_code for answer in answers} == {200}
        fields = server.settings()["fields"]
        assert {name: fields[name]["value"] for name in names} == dict.fromkeys(names, 20)

    def test_what_the_environment_sets_stays(self, server: SettingsServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SEARCH_TIMEOUT", "7")
        refused = server.patch({"timeout": 3, "max_results": 5})
        assert refused.status_code == 400
        told = refused.json()["fields"]["timeout"]
        assert (told["code"], told["values"]) == ("settings.from_environment", {"variable": "SEARCH_TIMEOUT"})
        monkeypatch.setenv("TAVILY_API_KEY", "from-the-environment")
        with settings_server() as it:
            answer = it.patch({"engines.tavily.api_key": "mine"})
            assert answer.json()["fields"]["engines.tavily.api_key"]["values"] == {"variable": "TAVILY_API_KEY"}

    def test_a_place_that_cannot_be_written_is_told(
        self, server: SettingsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
        assert not server.settings()["writable"]
        answer = server.patch({"timeout": 4})
        assert (answer.status_code, answer.json()["code"]) == (503, "settings.file_unwritable")
        assert answer.json()["values"]["file"] == str(tmp_path / "file" / "qiusuo" / "config.toml")

    def test_a_broken_file_is_told_and_left(self, server: SettingsServer, folder: Path) -> None:
        server.saved({"timeout": 3})
        file = folder / "config.toml"
        file.write_text("timeout = \n")
        told = server.settings()
        assert told["problem"]["code"] == "settings.file_not_parsed"
        assert not told["writable"]
        assert told["fields"]["timeout"]["value"] == 3, "what was read before it is obeyed"
        assert server.patch({"timeout": 4}).status_code == 503
        assert file.read_text() == "timeout = \n"


HOSTILE: list[tuple[str, Any]] = [
    ("timeout", "abc"), ("timeout", -1), ("timeout", True), ("timeout", [3]), ("timeout", 1e400), ("timeout", {"a": 1}),
    ("max_results", 2.5), ("max_results", "5"), ("max_results", 10**30), ("hedge_paid", "true"), ("model", 5),
    ("model", "x" * 2001), ("model", "a\nmodel_api_key = 'x'"), ("model", "\x00"), ("model", "nobody:knows"),
    ("model", "\u202eevil"), ("model_api_key", "with blank"), ("model_api_key", "ключ"), ("language", "../etc"),
    ("provider_priority", "tavily"), ("provider_priority", ["a", 5]), ("provider_priority", ["x"] * 201),
    ("searxng_url", "http://169.254.169.254/"), ("searxng_url", "javascript:alert(1)"), ("searxng_url", "http://***@x/"),
    ("database_url", "mysql://x"), ("tokens", ["short"]), ("engines.tavily.api_key", "a\r\nX: y"),
    ("engines.tavily.base_url", "ftp://x"), ("engines.tavily.monthly_quota", -1), ("engines.nobody.api_key", "x"),
    ("engines.tavily.search_depth", "x"), ("engines.tavily", {"api_key": "x"}), ("engines.__proto__.x", 1),
    ("engines", {}), ("__proto__", {"a": 1}), ("constructor", 1), ("web_search", {"apiKey": "x"}),
    ("models.a]\nb.model", "ollama:x"), ("models.__proto__.model", "ollama:x"), ("models.a.nothing", 1),
    ("models.x.model.model", "ollama:x"), ("second_model", "nobody"), ("", 1),
    ("a" * 5000, 1),
]  # fmt: skip


class TestRefusing:
    @pytest.mark.parametrize(("name", "value"), HOSTILE, ids=range(len(HOSTILE)))
    def test_hostile_values_are_refused_by_name(
        self, server: SettingsServer, folder: Path, name: str, value: Any
    ) -> None:
        body = json.dumps({"set": {name: value, "snippet_length": 100}})
        answer = server.client.patch("/api/settings", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 400, answer.text
        assert list(answer.json()["fields"]) == [name]
        assert answer.json()["fields"][name]["message"]
        assert not (folder / "config.toml").exists(), "nothing of it was written"

    def test_a_megabyte_is_too_much(self, server: SettingsServer, folder: Path) -> None:
        assert server.patch({"model": "x" * 1024 * 1024}).status_code == 413
        assert not folder.exists()

    def test_what_a_new_model_lacks_is_told_by_name(self, server: SettingsServer) -> None:
        answer = server.patch({"models.a.api_key": "x"})
        assert answer.json()["fields"]["models.a.model"]["code"] == "value.missing"


class TestKeys:
    @pytest.mark.parametrize(
        "change",
        [
            {"model_base_url": "http://127.0.0.1:2/v1"},
            {"model": "deepseek:deepseek-chat"},
            {"engines.tavily.base_url": "http://127.0.0.1:2"},
            {"models.other.base_url": "http://127.0.0.1:2/v1"},
            {"models.other.model": "openai:gpt-5.5"},
        ],
    )
    def test_a_changed_address_wants_its_key_again(self, server: SettingsServer, change: dict[str, Any]) -> None:
        server.saved(
            {
                "model": "compatible:x",
                "model_base_url": "http://127.0.0.1:1/v1",
                "model_api_key": "first",
                "engines.tavily.api_key": "second",
                "models.other.model": "compatible:y",
                "models.other.base_url": "http://127.0.0.1:1/v1",
                "models.other.api_key": "third",
            }
        )
        name = next(iter(change))
        table = name.rpartition(".")[0]
        key = f"{table}.api_key" if table else "model_api_key"
        refused = server.patch(change)
        assert refused.status_code == 400
        assert refused.json()["fields"][key]["code"] == "settings.key_again"
        assert server.patch({**change, key: "new"}).status_code == 200

    def test_nor_does_a_key_of_the_environment_go_to_a_typed_address(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "of-the-environment")
        monkeypatch.setenv("TAVILY_API_KEY", "of-the-environment")
        with settings_server() as it:
            assert it.patch({"model": "openai:gpt-5.5", "model_base_url": "http://127.0.0.1:2/v1"}).status_code == 400
            assert it.patch({"engines.tavily.base_url": "http://127.0.0.1:2/v1"}).status_code == 400
            assert it.patch({"model": "openai:gpt-5.5"}).status_code == 200, "to its own provider it may"

    def test_a_login_of_searxng_is_not_for_another_address(self, server: SettingsServer, folder: Path) -> None:
        folder.mkdir(parents=True)
        file = 'searxng_url = "http://127.0.0.1:1"\n[engines.searxng]\nbasic_auth = "me:secret"  # proxy\n'
        (folder / "config.toml").write_text(file)
        change = {"searxng_url": "http://127.0.0.1:2"}
        assert list(server.patch(change).json()["fields"]) == ["engines.searxng.basic_auth"]
        server.saved(change, ["engines.searxng.basic_auth"])

    def test_taking_the_key_out_is_enough(self, server: SettingsServer) -> None:
        server.saved({"engines.tavily.api_key": "second"})
        server.saved({"engines.tavily.base_url": "http://127.0.0.1:2"}, ["engines.tavily.api_key"])


class TestObeying:
    def test_a_new_key_ends_the_rest_of_its_engine_alone(self, server: SettingsServer, tavily: ProviderServer) -> None:
        with ProviderServer(Brave(), fault=Fault.AUTH) as brave:
            server.saved(
                {
                    "engines.tavily.api_key": "wrong", "engines.tavily.base_url": tavily.base_url,
                    "engines.brave.api_key": brave.key, "engines.brave.base_url": brave.base_url,
                    "engines.brave.monthly_quota": 100, "provider_priority": ["tavily", "brave"],
                }
            )  # fmt: skip
            assert server.search("first").status_code == 502
            before = {engine["name"]: engine for engine in server.settings()["engines"]}
            assert (before["tavily"]["state"], before["brave"]["state"]) == ("resting", "resting")
            told = server.saved({"engines.tavily.api_key": tavily.key})
            after = {engine["name"]: engine for engine in told["engines"]}
            assert (after["tavily"]["state"], after["brave"]["state"]) == ("ready", "resting")
            assert after["brave"]["quota_used"] == before["brave"]["quota_used"] == 1
            assert server.search("second").json()["provider"] == "tavily"
            told = server.saved({"engines.brave.monthly_quota": 50})
            assert next(each for each in told["engines"] if each["name"] == "brave")["quota_used"] == 1
            assert server.search("second").json()["cached"]

    def test_a_search_under_way_ends_where_it_began(self, server: SettingsServer) -> None:
        held = Held()
        with ThreadPoolExecutor(1) as pool, ProviderServer(held) as first, ProviderServer(Tavily()) as other:
            server.saved(
                {"engines.tavily.api_key": first.key, "engines.tavily.base_url": first.base_url, "timeout": 60}
            )
            running = pool.submit(server.search, "slow one")
            assert held.reached.wait(30)
            server.saved({"engines.tavily.api_key": other.key, "engines.tavily.base_url": other.base_url})
            assert not running.done()
            held.release.set()
            assert running.result().json()["provider"] == "tavily"
            assert other.seen == []
            assert server.search("next one").status_code == 200
            assert len(other.seen) == 1

    def test_the_model_changes_between_two_turns(self) -> None:
        gate = Gate()
        with (
            ScriptedModel(Reply.text("from ", gate, "the first"), key="sk-1") as first,
            ScriptedModel(Reply.text("from the second"), key="sk-2") as second,
            settings_server([chat_extension(store=open_store("sqlite://"))]) as it,
        ):
            assert it.client.get("/api/chat/config").json()["model"]["kind"] == "extractive"
            it.saved({"model": "compatible:scripted", "model_base_url": f"{first.url}/v1", "model_api_key": "sk-1"})
            with ThreadPoolExecutor(1) as pool:
                running = pool.submit(ask, it)
                assert gate.was_reached.wait(20)
                it.saved({"model_base_url": f"{second.url}/v1", "model_api_key": "sk-2", "model_search": "off"})
                gate.open()
                assert "the first" in running.result()
            assert "the second" in ask(it)
            assert len(first.requests) == 1

    def test_other_processes_notice(
        self, server: SettingsServer, tavily: ProviderServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(live, "LOOK_SECONDS", 0.05)
        with settings_server() as other:
            server.saved({"engines.tavily.api_key": tavily.key, "engines.tavily.base_url": tavily.base_url})
            deadline = time.monotonic() + 10
            while "tavily" not in other.client.get("/api/engines").json()["order"]:
                assert time.monotonic() < deadline
                time.sleep(0.02)
            assert other.search().json()["provider"] == "tavily"


def ask(server: SettingsServer) -> str:
    session = server.client.post("/api/chat/sessions", json={"settings": {"search": False}}).json()["id"]
    answer = server.client.post(f"/api/chat/sessions/{session}/turns", json={"text": "Who are you?"})
    assert answer.status_code == 200, answer.text
    events = (json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: "))
    return "".join(event.get("text", "") for event in events)

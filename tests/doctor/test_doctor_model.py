"""What the doctor says of the language model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qiusuo.commands import install_command
from qiusuo.config import Settings
from qiusuo.doctor import Finding, Level, examine
from qiusuo.words import Language
from tests.support.scripted_model import ScriptedModel

ASSUMED = "model.room_assumed"
KEY = "sk-very-secret-0123456789"


async def diagnose(*, quick: bool = False, **settings: Any) -> Finding:
    found = await examine(Settings.load(**settings), quick=quick)
    (one,) = [finding for finding in found if finding.code.startswith("model.") and finding.code != ASSUMED]
    for language in Language:
        assert one.wording(language).what
        assert KEY not in str(one.to_dict(language))
    return one


def of(server: ScriptedModel, model: str = "ollama:qwen3", key: str | None = None) -> dict[str, Any]:
    return {"model": model, "model_base_url": server.base_url, "model_api_key": key or server.key}


class TestModel:
    async def test_none(self) -> None:
        found = await diagnose()
        assert (found.code, found.level) == ("model.none", Level.NOTE)

    @pytest.mark.parametrize("listed", ["qwen3", "qwen3:latest"])
    async def test_there(self, listed: str) -> None:
        with ScriptedModel(models=["other", listed]) as server:
            found = await diagnose(**of(server))
            assert (found.code, found.level) == ("model.ok", Level.OK)
            assert (await diagnose(quick=True, **of(server))).code == "model.ok"  # this machine may be asked
            assert server.requests == []  # no token is spent

    @pytest.mark.parametrize(
        ("facts", "settings", "assumed"),
        [({}, {}, [8192]), ({"max_model_len": 32_768}, {}, []), ({}, {"model_context": 16_000}, [])],
        ids=["silent", "told", "set"],
    )
    async def test_it_says_which_length_is_assumed(
        self, facts: dict[str, int], settings: dict[str, Any], assumed: list[int]
    ) -> None:
        with ScriptedModel(models=["m"], facts=facts) as server:
            found = await examine(Settings.load(**of(server, "vllm:m"), **settings), quick=False)
        notes = [finding for finding in found if finding.code == ASSUMED]
        assert [finding.values["tokens"] for finding in notes] == assumed
        assert all("QIUSUO_MODEL_CONTEXT" in finding.wording().fix for finding in notes)

    async def test_not_loaded_in_ollama(self) -> None:
        with ScriptedModel(models=["llama3:latest"]) as server:
            found = await diagnose(**of(server))
        assert (found.code, found.level) == ("model.missing", Level.PROBLEM)
        assert "llama3:latest" in found.wording().why

    async def test_not_listed_elsewhere(self) -> None:
        with ScriptedModel(models=["a", "b"]) as server:
            found = await diagnose(**of(server, "openai:c"))
        assert (found.code, found.level) == ("model.missing", Level.WARNING)

    async def test_ollama_is_not_running(self) -> None:
        server = ScriptedModel()
        with server:
            pass
        found = await diagnose(**of(server))
        assert (found.code, found.level) == ("model.unreachable", Level.PROBLEM)

    async def test_a_wrong_key(self) -> None:
        with ScriptedModel() as server:
            found = await diagnose(**of(server, "deepseek:deepseek-chat", key=KEY))
        assert (found.code, found.level) == ("model.auth", Level.PROBLEM)
        assert "DEEPSEEK_API_KEY" in found.wording().fix

    async def test_another_service_at_the_address(self) -> None:
        with ScriptedModel() as server:
            found = await diagnose(**of(server) | {"model_base_url": server.root + "/elsewhere"})
        assert found.code == "model.not_asked"  # it has no list of models: that may be so

    async def test_nothing_is_asked_outside_when_in_a_hurry(self) -> None:
        found = await diagnose(quick=True, model="deepseek:deepseek-chat", model_api_key=KEY)
        assert (found.code, found.level) == ("model.not_asked", Level.NOTE)

    async def test_a_missing_key_address_and_name(self) -> None:
        for model, fix in (
            ("deepseek:deepseek-chat", "DEEPSEEK_API_KEY"),
            ("vllm:x", "QIUSUO_MODEL_BASE_URL"),
            ("nobody:knows", "provider:name"),
        ):
            found = await diagnose(model=model)
            assert (found.code, found.level) == ("model.not_set_up", Level.PROBLEM)
            assert fix in found.wording().fix

    async def test_the_form_of_every_other_model_is_looked_at_and_none_is_asked(self) -> None:
        with ScriptedModel() as server:
            good = {"model": "compatible:x", "base_url": server.base_url, "api_key": "no key of it"}
            models = {"good": good, "keyless": {"model": "deepseek:deepseek-chat"}}
            found = [one for one in await examine(Settings.load(models=models)) if one.code.startswith("model.")]
            assert server.requests == []
            assert server.seen == []
        by_code = {one.code: one for one in found}
        levels = {code: one.level for code, one in by_code.items()}
        wrong = by_code["model.not_set_up"].wording()
        assert levels == {"model.none": Level.NOTE, "model.others": Level.OK, "model.not_set_up": Level.WARNING}
        assert "good (OpenAI-compatible · x)" in by_code["model.others"].wording().what
        assert "keyless (deepseek:deepseek-chat)" in wrong.what
        assert wrong.fix == "Set DEEPSEEK_API_KEY, or api_key under [models.keyless]."

    async def test_a_missing_package(self) -> None:
        found = await diagnose(model="bedrock:x")
        assert (found.code, found.commands) == ("model.not_set_up", (install_command("langchain-aws"),))

    async def test_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "model.gguf"
        assert (await diagnose(model=f"local:{file}")).code == "model.not_set_up"
        file.write_bytes(b"GGUF and more")
        assert (await diagnose(model=f"local:{file}")).code == "model.ok"

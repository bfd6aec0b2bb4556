"""The start card: from an empty machine to the first answer, in the chat page alone."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from qiusuo.testing import ProviderServer
from qiusuo.testing.providers.tavily import Tavily
from tests.page.test_access import violations, with_axe
from tests.support.page_world import Screen, screen, with_own_browser
from tests.support.scripted_model import Reply, ScriptedModel
from tests.support.settings_world import config_path
from tests.support.setup_world import SetupWorld

pytestmark = with_own_browser(__name__)

RIGHT = "sk-proj-right-0123456789"
WRONG = "sk-proj-wrong-0123456789"


class KnownByItsKey(Tavily):
    """Its keys begin as Tavily's do."""

    key = "tvly-0123456789"


def written() -> dict[str, object]:
    return tomllib.loads(config_path().read_text("utf-8"))


def kept_by(page: Screen) -> str:
    seen = "document.documentElement.outerHTML + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)"
    return str(page.page.evaluate(seen))


@pytest.fixture
def ollama() -> ScriptedModel:
    """An Ollama on a port of its own; it wants no key."""
    model = ScriptedModel(otherwise=Reply.text("我是本机的模型。"), models=("nomic-embed-text", "qwen3:8b"), key="")
    model.provider.authorized = lambda seen: seen is not None  # type: ignore[method-assign]
    return model


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_a_model_that_runs_here_is_used_with_one_tap(
    chromium: Browser, phone: bool, ollama: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.root)
        with SetupWorld(file='provider_priority = ["tavily"]\n') as world, screen(chromium, world, phone=phone) as page:
            card = page(".setup")
            expect(card).to_contain_text("未配置模型，摘录搜索结果作答")
            expect(card).to_contain_text("Ollama 正在这台机器上运行")
            expect(card.get_by_label("模型名称")).to_have_count(0)
            expect(page.switch).to_have_attribute("aria-checked", "true")
            loads = page.requests.count("GET /")
            card.get_by_role("button", name="使用 qwen3:8b").click()
            expect(page(".welcome .notice")).to_have_text("现在由 qwen3:8b 回答。")
            expect(page(".setup").get_by_text("未配置模型")).to_have_count(0)
            # Still to be set up: an engine. The switch stands as it stood.
            expect(page(".setup .there")).to_contain_text("模型：Ollama · qwen3:8b")
            expect(page.switch).to_have_attribute("aria-checked", "true")
            page.ask("你是谁？")
            expect(page.turn.locator(".answer")).to_have_text("我是本机的模型。")
            assert ollama.requests[-1].body["model"] == "qwen3:8b"
            assert page.requests.count("GET /") == loads, "the page was not loaded again"
            assert str(written()["model"]) == "ollama:qwen3:8b"


def test_a_refused_key_says_why_an_accepted_one_is_used_at_once_and_survives_a_restart(
    chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = ("gpt-test", "text-embedding-test")
    with ScriptedModel(otherwise=Reply.text("来自新模型。"), models=models, key=RIGHT) as openai:
        monkeypatch.setenv("OPENAI_BASE_URL", openai.base_url)
        # The model before it does not answer any more; its address is not that of the new one.
        file = 'model = "nobody:nothing"\nmodel_base_url = "http://127.0.0.1:9/v1"\n'
        with SetupWorld(file=file, store=tmp_path / "chat.db") as world, screen(chromium, world) as page:
            expect(page(".setup")).to_contain_text("连不上语言模型")
            expect(page(".setup .there")).not_to_contain_text("模型")
            expect(page(".setup").get_by_role("link", name="在设置中填写")).to_have_attribute("href", "/settings#model")
            expect(page(".setup")).not_to_contain_text("QIUSUO_MODEL_BASE_URL")
            box = page("#start-key")
            box.fill(WRONG)
            expect(page(".setup")).to_contain_text("识别为 OpenAI 的密钥")
            page(".key-box .primary").click()
            expect(page("#start-wrong")).to_contain_text("不接受这个密钥")
            expect(box).to_have_attribute("aria-invalid", "true")
            assert written()["model"] == "nobody:nothing", "nothing is saved"
            box.fill(RIGHT)
            page(".key-box .primary").click()
            expect(page(".key-box select")).to_have_value("gpt-test")
            page(".key-box .primary").click()
            expect(page(".welcome .notice")).to_have_text("现在由 gpt-test 回答。")
            page.ask("新模型？")
            expect(page.turn.locator(".answer")).to_have_text("来自新模型。")
            assert written() == {"model": "openai:gpt-test", "model_api_key": RIGHT}
            world.start(world.stop())
            page.page.reload()
            expect(page("article.turn")).to_have_count(1)
            page.ask("重启以后？")
            expect(page.turn.locator(".answer")).to_have_text("来自新模型。")
            assert [key for key in (RIGHT, WRONG) if key in kept_by(page)] == []


def test_the_key_of_an_engine_is_used_at_once(chromium: Browser) -> None:
    with ProviderServer(KnownByItsKey()) as tavily:
        file = f'provider_priority = ["tavily"]\n[engines.tavily]\nbase_url = "{tavily.base_url}"\n'
        with SetupWorld(file=file) as world, screen(chromium, world) as page:
            # Nobody searches the web yet; what needs no key can be turned on.
            expect(page(".setup").get_by_role("button", name="启用 DuckDuckGo")).to_be_visible()
            page("#start-key").fill("tvly-0123456789")
            expect(page(".setup")).to_contain_text("识别为 Tavily 的密钥")
            page(".key-box .primary").click()
            expect(page(".facts")).to_contain_text("Tavily")
            expect(page(".setup .there")).to_contain_text("搜索引擎：Tavily")
            assert "tvly-0123456789" not in kept_by(page)


def test_an_engine_that_has_failed_is_not_said_to_be_untried(chromium: Browser) -> None:
    with SetupWorld() as world, screen(chromium, world) as page:
        there = page(".setup .there")
        expect(there).to_contain_text("（尚未试过）")
        page.ask("茶")
        page.page.get_by_role("button", name="新对话").click()
        expect(there).to_contain_text("（上次搜索失败：")
        expect(there).not_to_contain_text("尚未试过")
        expect(there.locator(".tick")).to_have_count(0)


@with_axe
@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_it_is_put_away_and_comes_back_and_axe_finds_nothing(
    chromium: Browser, phone: bool, ollama: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.root)
        with SetupWorld() as world, screen(chromium, world, phone=phone) as page:
            page("#start-key").fill("unknown-0123456789")
            expect(page(".setup .offer")).to_be_visible()
            for theme in ("light", "dark"):
                page.page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
                assert violations(page) == [], theme
            page.page.get_by_role("button", name="收起").click()
            expect(page(".setup")).to_have_count(0)
            page.page.reload()
            expect(page(".examples")).to_be_visible()
            expect(page(".setup")).to_have_count(0)
            if phone:
                page("#drawer-button").click()
            page(".panel").get_by_role("button", name="还需要设置").click()
            expect(page(".setup")).to_be_visible()
            expect(page(".panel").get_by_role("button", name="还需要设置")).to_have_count(0)

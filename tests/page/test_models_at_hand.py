"""Several models in the page: for a conversation, a message, another go; commands by the keyboard alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.page.test_access import violations, with_axe
from tests.page.test_races import hold
from tests.support.page_world import PageWorld, Screen, screen, with_own_browser
from tests.support.scripted_model import Reply, ScriptedModel

pytestmark = with_own_browser(__name__)


@pytest.fixture
def other() -> Iterator[ScriptedModel]:
    with ScriptedModel(otherwise=Reply.text("另一个模型的回答。")) as server:
        yield server


def table(server: ScriptedModel) -> dict[str, Any]:
    return {"model": "compatible:small", "base_url": server.base_url, "api_key": server.key, "context": 8192}


def picker(page: Screen) -> Locator:
    return page.page.get_by_label("模型", exact=True)


def options(page: Screen) -> Locator:
    return page("#slash-list b")


def type_in(page: Screen, text: str) -> None:
    """Write as on a keyboard, in the place of what is there."""
    page("#question").fill("")
    page.page.keyboard.type(text)


def enter(page: Screen, text: str) -> None:
    type_in(page, text)
    page.page.keyboard.press("Enter")


@with_axe
def test_a_model_for_the_conversation_for_a_message_and_for_another_go(chromium: Browser, other: ScriptedModel) -> None:
    models = {"cheap": table(other), "wrong": {"model": "nobody:knows"}}
    with PageWorld(models=models) as world, screen(chromium, world) as page:
        expect(picker(page)).to_have_value("here ")
        turn = page.ask("甲")
        expect(turn.locator(".usage")).to_contain_text("openai:scripted")
        assert picker(page).locator("option:disabled").count() == 2
        assert violations(page) == []
        # For one message: the next one is the first model's again.
        picker(page).select_option("once cheap")
        expect(page.ask("乙").locator(".usage")).to_contain_text("cheap · compatible:small")
        expect(picker(page)).to_have_value("here ")
        # Another go, by the keyboard.
        page.turn.locator(".again summary").focus()
        page.page.keyboard.press("Enter")
        assert violations(page) == []
        page.page.keyboard.press("Tab")
        expect(page.turn.locator(".again button").first).to_be_focused()
        page.page.keyboard.press("Enter")
        expect(page.turn.locator(".usage")).to_contain_text("openai:scripted")
        expect(page("article.turn")).to_have_count(2)
        # For the conversation.
        picker(page).select_option("here cheap")
        expect(page(".toast")).to_contain_text("cheap")
        expect(page.ask("丙").locator(".usage")).to_contain_text("compatible:small")
        page.page.reload()
        expect(picker(page)).to_have_value("here cheap")


def test_no_name_of_ours_is_shown_for_what_quotes(chromium: Browser) -> None:
    with PageWorld(models={"quotes": {"model": "extractive"}}) as world, screen(chromium, world) as page:
        expect(picker(page)).to_contain_text("quotes · 摘录")
        picker(page).select_option("here quotes")
        expect(page(".toast")).to_contain_text("quotes · 摘录")
        expect(page(".facts")).to_contain_text("摘录")
        enter(page, "/depth read")
        expect(page(".toast").last).to_have_text("阅读深度：总是读网页")
        assert "extractive" not in page.page.evaluate("document.body.innerHTML")


def test_where_there_is_one_model_nothing_is_loaded_and_nothing_to_choose(chromium: Browser) -> None:
    with PageWorld() as world, screen(chromium, world) as page:
        page.ask("甲")
        expect(page(".model-picker, .again")).to_have_count(0)
        assert not any(f"/later/{part}" in request for part in ("models", "slash") for request in page.requests)


def tell_how_things_stand(page: Screen) -> None:
    """A command alone asks for that."""
    for command, state in (("/search", "联网搜索：已开启"), ("/mode", "模式：对话"), ("/depth", "阅读深度：默认")):
        enter(page, command)
        expect(page(".toast").last).to_contain_text(state)
        expect(page(".toast").last).to_contain_text(f"用法：{command} [")
        expect(page("#question")).to_have_value("")


@with_axe
@pytest.mark.parametrize(("phone", "scheme"), [(False, "light"), (True, "dark")], ids=["desktop", "phone"])
def test_commands_by_the_keyboard_alone(chromium: Browser, other: ScriptedModel, phone: bool, scheme: str) -> None:
    with (
        PageWorld(models={"cheap": table(other)}) as world,
        screen(chromium, world, phone=phone, color_scheme=scheme) as page,
    ):
        question, toasts = page("#question"), page(".toast")
        question.focus()
        type_in(page, "/")
        expect(options(page)).to_have_text(
            ["/search", "/mode", "/research", "/model", "/depth", "/focus", "/site", "/fresh", "/new", "/help"]
        )  # fmt: skip
        expect(page(".slash .hint")).to_contain_text("Ctrl+回车")
        page.page.keyboard.press("ArrowDown")
        expect(question).to_have_attribute("aria-activedescendant", "slash-list-0")
        expect(page("#slash-list [aria-selected=true]")).to_contain_text("/search")
        assert violations(page) == []
        page.page.keyboard.press("Enter")
        expect(question).to_have_value("/search ")
        expect(options(page)).to_have_text(["/search on", "/search off"])
        page.page.keyboard.type("on")
        page.page.keyboard.press("Enter")
        expect(page.switch).to_have_attribute("aria-checked", "true")
        expect(question).to_have_value("")
        tell_how_things_stand(page)
        # Completed by Tab, run by Enter.
        type_in(page, "/mod")
        expect(options(page)).to_have_text(["/mode", "/model"])
        page.page.keyboard.press("ArrowUp")
        page.page.keyboard.press("Tab")
        expect(question).to_have_value("/model ")
        page.page.keyboard.type("ch")
        page.page.keyboard.press("Tab")
        expect(question).to_have_value("/model cheap")
        page.page.keyboard.press("Enter")
        expect(picker(page)).to_have_value("here cheap")
        # What there is not is told, and nothing is lost.
        enter(page, "/serch on")
        expect(toasts.last).to_contain_text("没有命令 /serch。 是不是 /search？")
        expect(question).to_have_value("/serch on")
        enter(page, "/depth deep")
        expect(toasts.last).to_contain_text("用法：/depth")
        enter(page, "/model nosuch")
        expect(toasts.last).to_contain_text("没有可用的模型 nosuch。有：first, cheap。")
        expect(page(".toast.error")).to_have_count(1)  # each takes the place of the one before
        expect(question).to_have_value("/model nosuch")
        assert other.requests == []
        # A path is a question; what looks like a command is one with Ctrl or a blank.
        expect(page.ask("/etc/hosts 是什么？").locator("h2")).to_contain_text("/etc/hosts")
        type_in(page, "/etc")
        page.page.keyboard.press("Control+Enter")
        expect(page("article.turn")).to_have_count(2)
        expect(page.ended().locator("h2")).to_contain_text("/etc")
        enter(page, " /help")
        expect(page("article.turn")).to_have_count(3)
        page.ended()
        expect(page("article.turn h2 >> nth=2")).to_contain_text("/help")
        enter(page, "/new")
        expect(page("article.turn")).to_have_count(0)


def test_whether_new_conversations_search_is_remembered(chromium: Browser) -> None:
    with PageWorld() as world, screen(chromium, world) as page:
        always = page.page.get_by_label("以后的对话总是联网搜索")
        expect(page.switch).to_have_attribute("aria-checked", "false")
        page.turn_search_on()
        page.page.goto(world.url)  # the last choice
        expect(page.switch).to_have_attribute("aria-checked", "true")
        release = hold(page, "**/api/chat/sessions", "POST")
        page.switch.click()
        expect(page.switch).to_have_attribute("aria-checked", "false")
        page.page.get_by_role("button", name="新对话").click()  # before the server has answered
        expect(page.switch).to_have_attribute("aria-checked", "false")
        release()
        expect(page.page.get_by_text("以后的对话总是联网搜索")).to_have_count(1)
        always.check()
        expect(page.switch).to_have_attribute("aria-checked", "true")
        expect(page.switch).to_have_attribute("aria-busy", "false")
        page.switch.click()  # this conversation alone
        expect(page.switch).to_have_attribute("aria-checked", "false")
        expect(page.switch).to_have_attribute("aria-busy", "false")
        page.page.get_by_role("button", name="新对话").click()
        expect(page.switch).to_have_attribute("aria-checked", "true")

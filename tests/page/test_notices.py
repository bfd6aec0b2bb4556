"""Failures on the page (P4): a notice with the fix, and the conversation goes on."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Route, expect

from qiusuo.testing import Fault
from qiusuo.testing.providers.searxng import Searxng
from tests.support.page_world import CLIPBOARD, PageWorld, screen, with_own_browser
from tests.support.scripted_model import Gate, Reply

pytestmark = with_own_browser(__name__)


@pytest.mark.parametrize(
    ("fault", "title", "advice"),
    [
        (Fault.HANG, "搜索超时", "稍后重试"),
        (Fault.SERVER_ERROR, "搜索服务不可用", "SearXNG 的部署状态"),
        (Fault.RATE_LIMITED, "限流器拒绝了请求", "7 秒后可重试"),
        (Fault.HTML, "上运行的不是 SearXNG", "SEARXNG_URL"),
    ],
)
@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_a_failed_search_is_told_and_answered_without(
    chromium: Browser, phone: bool, fault: Fault, title: str, advice: str
) -> None:
    with PageWorld(Reply.text("不联网的回答。"), timeout=1) as world, screen(chromium, world, phone=phone) as page:
        page.turn_search_on()
        world.engine().fault = fault
        turn = page.ask("会失败")
        notice = turn.locator(".notice")
        expect(notice).to_have_count(1)
        expect(notice).to_contain_text(title)
        expect(notice).to_contain_text(advice)
        expect(turn.locator(".answer")).to_have_text("不联网的回答。")
        expect(turn.locator(".round.failed")).to_have_count(1)
        # The next search works.
        world.engine().fault = None
        expect(page("#question")).to_be_enabled()


def test_deployment_hints_commands_and_local_docs(chromium: Browser) -> None:
    with PageWorld(Reply.text("好")) as world, screen(chromium, world, permissions=CLIPBOARD) as page:
        page.turn_search_on()
        world.engine().close()
        notice = page.ask("连不上").locator(".notice")
        folded = notice.bounding_box()
        assert folded
        assert folded["height"] < 45, "one line"
        notice.locator("summary").click()
        commands = notice.locator("code").all_text_contents()
        assert commands
        assert all("searxng" in command for command in commands)
        notice.get_by_role("button", name="复制").first.click()
        expect(page.page.get_by_text("已复制", exact=True)).to_be_visible()
        assert page.page.evaluate("navigator.clipboard.readText()") == commands[0]
        with page.page.context.expect_page() as opened:
            notice.get_by_role("link", name="部署指南").click()
        expect(opened.value.locator("h1")).to_contain_text("SearXNG")
        assert opened.value.url.startswith(f"{world.url}/docs/deployment")


def test_no_engine_at_all(chromium: Browser) -> None:
    with PageWorld(Reply.text("直接回答。"), engines=()) as world, screen(chromium, world) as page:
        expect(page(".switch-note")).to_have_text("没有可用的搜索引擎，回答将不联网")
        expect(page(".setup")).to_be_visible()
        page.turn_search_on()
        turn = page.ask("什么都没有")
        expect(turn.locator(".notice")).to_contain_text("没有可用的搜索引擎")
        expect(turn.locator(".answer")).to_have_text("直接回答。")


@pytest.mark.parametrize(
    ("locale", "words"),
    [("zh-CN", "联网搜索未启用：搜索服务没有引擎。请给"), ("en", "Web search is off: the service has no engine.Give")],
)
def test_before_anything_was_found_out_it_is_told_in_the_readers_language(
    chromium: Browser, locale: str, words: str
) -> None:
    def nothing_yet(route: Route) -> None:
        route.fulfill(json={"status": "down", "findings": []})

    with PageWorld(engines=()) as world, screen(chromium, world, locale=locale) as page:
        page.page.route("**/api/health*", nothing_yet)
        page.page.reload()
        expect(page(".setup li")).to_have_count(1)
        expect(page(".setup li")).to_contain_text(words)


@pytest.mark.parametrize(
    ("reply", "title"),
    [
        (Reply.error(401, "Incorrect API key provided.", code="invalid_api_key"), "模型密钥无效"),
        (Reply.rate_limited("7"), "模型请求过快"),
        (Reply.error(400, "no"), "模型拒绝了请求"),
        (Reply.broken("半句"), "模型返回异常"),
    ],
)
def test_a_failed_model_is_told_and_can_be_retried(chromium: Browser, reply: Reply, title: str) -> None:
    # Some are retried before they are told.
    with PageWorld(*[reply] * 4) as world, screen(chromium, world) as page:
        turn = page.ask("模型坏了")
        expect(turn.locator(".notice").first).to_contain_text(re.compile(f"{title}|模型不可用"))
        world.model.script.clear()
        turn.get_by_role("button", name="重试").click()
        expect(page.turn.locator(".answer")).to_have_text("好的。")
        expect(page.ended().locator(".notice")).to_have_count(0)


def test_in_english_too(chromium: Browser) -> None:
    with PageWorld(Reply.text("ok")) as world, screen(chromium, world, locale="en-US") as page:
        page.turn_search_on()
        world.engine().fault = Fault.RESET
        turn = page.ask("down")
        expect(turn.locator(".notice")).to_contain_text("The search service is unavailable")
        turn.locator(".notice summary").click()
        expect(turn.get_by_role("link", name="Deployment guide")).to_have_attribute(
            "href", re.compile(r"^/docs/deployment\?lang=en")
        )


JSON_OFF = {
    "zh-CN": ("在运行，但没有开启 JSON 接口", "在 search.formats 中加入 json", "没有可用的搜索引擎"),
    "en": ("runs, but its JSON API is off", "Add json to search.formats", "No search engine"),
}


def switch_json_off(world: PageWorld) -> None:
    provider = world.engine().provider
    assert isinstance(provider, Searxng)
    provider.json_on = False


@pytest.mark.parametrize("locale", JSON_OFF)
def test_a_searxng_without_json_is_told_as_that(chromium: Browser, locale: str) -> None:
    title, advice, never = JSON_OFF[locale]
    with PageWorld() as world, screen(chromium, world, locale=locale) as page:
        page.turn_search_on()
        switch_json_off(world)
        for question in ("first", "second"):  # then the engine rests
            notice = page.ask(question).locator(".notice")
            expect(notice.locator(".notice-title")).to_contain_text(title)
            expect(notice).to_contain_text(advice)
            notice.locator("summary").click()
            expect(notice.locator("code").first).to_be_visible()
            expect(notice).not_to_contain_text(never)


def test_another_language_tells_all_that_is_shown_anew(chromium: Browser) -> None:
    chinese = re.compile(r"[\u4e00-\u9fff]")
    with PageWorld(Reply.text("one"), Reply.text("two")) as world, screen(chromium, world) as page:
        page.turn_search_on()
        world.engine().fault = Fault.RESET
        for question in ("first", "second"):
            page.ask(question)
        asked = len(world.searches())
        notices = page(".notice")
        page.speak("English")
        expect(notices.locator(".notice-title")).to_have_text(["⚠️ The search service is unavailable"] * 2)
        expect(notices.first).not_to_contain_text(chinese)
        page.turn.locator(".why").click()
        receipt = page.turn.locator(".receipt")
        expect(receipt.locator(".outcome")).to_have_text("unavailable")
        expect(receipt).not_to_contain_text(chinese)
        page.speak("简体中文")
        expect(notices.locator(".notice-title")).to_have_text(["⚠️ 搜索服务不可用"] * 2)
        page.turn.locator(".why").click()
        expect(receipt.locator(".outcome")).to_have_text("不可用")
        expect(receipt).to_contain_text("关闭了连接")
        assert len(world.searches()) == asked, "nothing was asked again"


def test_another_language_while_an_answer_is_written(chromium: Browser) -> None:
    gate = Gate()
    with PageWorld(Reply.text("开头", gate, "结尾")) as world, screen(chromium, world) as page:
        page.turn_search_on()
        world.engine().fault = Fault.RESET
        page.send("还在回答")
        expect(page.turn.locator(".answer")).to_contain_text("开头")
        expect(page.turn.locator(".notice")).to_contain_text("搜索服务不可用")
        page.speak("English")
        expect(page.turn.locator(".notice")).to_contain_text("The search service is unavailable")
        expect(page.turn.locator(".answer")).to_contain_text("开头")
        gate.open()
        expect(page.ended().locator(".answer")).to_have_text("开头结尾")
        expect(page.turn.locator(".notice")).to_have_count(1)

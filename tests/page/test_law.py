"""Questions of law on the page, over the installed statutes: without a model, in two versions, beside the web."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pytest
from playwright.sync_api import Browser, Locator, expect

from qiusuo.legal.index.folder import IndexFolder
from tests.page.test_access import violations, with_axe
from tests.support.page_world import PageWorld, screen, show, with_own_browser
from tests.support.scripted_model import Reply
from tests.support.setup_world import SetupWorld

pytest_plugins = ["tests.support.statutes"]
pytestmark = with_own_browser("legal-real-data")  # the index of the statutes is built once for all of the group

PROBATION = "劳动合同试用期最长多久"
CASES = "有没有试用期被辞退的案例"
COMMUTING = "工伤保险条例关于上下班途中的规定"
PAGES = [
    {
        "title": "工伤保险条例第十四条：上下班途中",
        "url": "https://www.gov.cn/zhengce/2010-12/24/content_2.htm",
        "snippet": "工伤保险条例规定，在上下班途中，受到非本人主要责任的交通事故伤害的，应当认定为工伤。",
        "date": "2010-12-24",
    }
]


@pytest.fixture
def world(statutes_folder: IndexFolder) -> Iterator[PageWorld]:
    with PageWorld(engines=("laws",), without_model=True, legal_dir=str(statutes_folder.root)) as world:
        yield world


def quoted(turn: Locator) -> list[str]:
    """Return the articles that an answer quotes."""
    found = (re.match(r"中华人民共和国(\w+) (第\w+条)", text) for text in turn.locator(".answer li").all_inner_texts())
    return [f"{match[1]}{match[2]}" for match in found if match]


def of_ours(texts: Sequence[str]) -> str:
    """Return what is said about the law, without its own words, names and numbers."""
    said = [text for text in texts if not re.match(r"中华人民共和国\w+ 第\w+条：", text)]
    return re.sub(r"《[^》]*》|“[^”]*”|第[一二三四五六七八九十百千零]+条", "", "\n".join(said))


def test_cards_name_the_engine_in_the_language_of_the_page(chromium: Browser, world: PageWorld) -> None:
    with screen(chromium, world, locale="zh-CN") as page:
        turn = page.ask("民法典第1042条")
        expect(turn.locator(".card").first).to_contain_text("本地法律库")
        expect(turn.locator(".verdicts")).to_have_count(0)  # an excerpt always agrees with itself
        for language, told in (("English", "Local laws"), ("简体中文", "本地法律库")):
            page.speak(language)
            expect(page(".card").first).to_contain_text(told)


@pytest.mark.parametrize(("locale", "phone"), [("zh-CN", False), ("en-GB", True)], ids=["desktop", "phone, English"])
def test_a_conversation_on_law(chromium: Browser, world: PageWorld, locale: str, phone: bool) -> None:
    with screen(chromium, world, phone=phone, locale=locale) as page:
        assert "劳动合同法第十九条" in quoted(page.ask(PROBATION))
        assert quoted(page.ask("那违反了怎么赔偿？"))[0] == "劳动合同法第八十三条"
        turn = page.ask("那第十九条呢")
        expect(turn.locator(".round-query")).to_have_text("中华人民共和国劳动合同法第十九条")
        expect(turn.locator(".card-title")).to_contain_text(["劳动合同法 第十九条"])
        turn = page.ask(COMMUTING)
        expect(turn.locator(".answer")).to_contain_text("“工伤保险条例”")
        expect(turn.locator(".notice")).to_have_count(1)  # what the answer says is not said again beside it
        expect(turn.locator(".verdict.weak")).to_have_count(0)
        for card in turn.locator(".card").all():
            opened = page.open_source(int(card.get_attribute("data-number") or 0))
            expect(opened.locator(".chip.weak")).to_have_count(1)
            page.close_source()
        turn = page.ask(CASES)
        expect(turn.locator(".round-query")).to_have_text(CASES)
        expect(turn.locator(".answer")).to_contain_text("qiusuo legal import")
        turn = page.ask("2018年公司法第一百四十七条")
        expect(turn.locator(".answer")).to_contain_text("2023-12-29")
        expect(turn.locator(".card")).to_have_count(0)
        if locale == "en-GB":
            ours = page("article.turn .notice, .badge, .card-marks, .answer > .block > p")
            assert not re.search(r"[\u3400-\u9fff]", of_ours(ours.all_inner_texts()))
            assert "检索注" not in "".join(page(".answer").all_inner_texts())


@with_axe
@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_what_changed_in_an_article(chromium: Browser, world: PageWorld, phone: bool) -> None:
    with screen(chromium, world, phone=phone) as page:
        page.ask("民法典第五百七十七条")
        first = page.turn.locator(".card").first.get_attribute("data-number")
        expect(page.open_source(int(first or 0)).locator(".compare")).to_have_count(0)  # one version
        page.close_source()
        page.ask("渔业法第十三条")
        first = page.turn.locator(".card").first.get_attribute("data-number")
        turn = page.open_source(int(first or 0))
        assert not any("/api/legal/diff" in one for one in page.requests)
        turn.locator(".compare summary").focus()
        page.page.keyboard.press("Enter")
        old, new = turn.locator(".version").nth(0), turn.locator(".version").nth(1)
        expect(old).to_contain_text("旧 · 第八条 · 2014年3月1日起施行")
        expect(new).to_contain_text("新 · 第十三条 · 2026年5月1日起施行")
        expect(turn.locator(".compare")).to_contain_text("条号有变：第八条 → 第十三条")
        for mark, line in ((old.locator("del").first, "line-through"), (new.locator("ins").first, "underline")):
            assert line in mark.evaluate("mark => getComputedStyle(mark).textDecorationLine")
        left, right = old.bounding_box(), new.bounding_box()
        assert left is not None
        assert right is not None
        assert right["y"] >= left["y"] + left["height"], "what opens beside the text is as narrow as a phone"
        assert violations(page) == []
        assert page.requests.count("GET /api/legal/diff") == 1


@pytest.mark.parametrize("with_model", [False, True], ids=["no model", "a model"])
def test_statutes_and_pages_are_told_apart(chromium: Browser, statutes_folder: IndexFolder, with_model: bool) -> None:
    answer = Reply.text("上下班途中受伤见[3]。")
    world = PageWorld(
        answer, engines=("laws", "searxng"), without_model=not with_model, legal_dir=str(statutes_folder.root)
    )
    with world, screen(chromium, world) as page:
        show(world.engine(), PAGES)
        if with_model:
            page.turn_search_on()
        turn = page.ask(COMMUTING)
        sites = turn.locator(".card-from").all_inner_texts()
        assert "本地法律库" in sites[0]
        assert "gov.cn" in sites[-1]
        expect(page.open_source()).to_contain_text("相关，并非所问")
        page.close_source()
        expect(turn.locator(".round-what")).to_contain_text("本地法律库 + SearXNG")
        turn.locator(".why").click()
        expect(turn.locator(".receipt")).to_contain_text("结果只是相关，所以又用 SearXNG 搜索")
        if not with_model:
            expect(turn.locator(".answer")).to_contain_text("来自网页：")


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_the_example_is_answered_where_nothing_is_set_up(
    chromium: Browser, statutes_folder: IndexFolder, phone: bool
) -> None:
    with SetupWorld(legal_dir=str(statutes_folder.root)) as world, screen(chromium, world, phone=phone) as page:
        expect(page(".setup")).to_be_visible()
        page.page.get_by_role("button", name="民法典第577条怎么规定？").click()
        expect(page.turn.locator(".answer")).to_contain_text("第五百七十七条")
        expect(page.turn.locator(".answer")).to_contain_text("应当承担继续履行、采取补救措施或者赔偿损失等违约责任")

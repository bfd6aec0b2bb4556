"""A turn on the page (P7, C2-C4, C6; seed 004: 搜索源展示, 内联引用链接)."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.page.test_access import violations, with_axe
from tests.support.page_world import ARTICLES, CLIPBOARD, PAGES, PageWorld, screen, show, with_own_browser
from tests.support.scripted_model import Asked, Call, Gate, Reply

pytestmark = with_own_browser(__name__)
SIZES = pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])

CITED = (
    "Python 3.14 于 2025 年 10 月 7 日发布[1]。自由线程构建转为正式支持[2]。\n\n"
    "它发布于 1999 年[1]，不存在的引用 [9] 保持原样，[abc] 也是。"
)

OTHER = {**PAGES[0], "url": "https://other.example.org/a", "title": "另一页"}


@SIZES
class TestCitations:
    def test_they_are_superscript_links_with_the_numbers_of_the_list(self, chromium: Browser, phone: bool) -> None:
        with PageWorld(Reply.text(CITED)) as world, screen(chromium, world, phone=phone) as page:
            page.turn_search_on()
            turn = page.ask("新变化？")
            links = turn.locator(".answer sup a.cite")
            expect(links).to_have_text(["[1]", "[2]", "[1]"])
            for number, link in zip((0, 1, 0), links.all(), strict=True):
                expect(link).to_have_attribute("href", PAGES[number]["url"])
                expect(link).to_have_attribute("target", "_blank")
                expect(link).to_have_attribute("rel", re.compile("noopener noreferrer"))
            expect(turn.locator(".answer")).to_contain_text("不存在的引用 [9] 保持原样，[abc] 也是。")

    def test_the_references_name_number_title_url_and_domain(self, chromium: Browser, phone: bool) -> None:
        with PageWorld(Reply.text(CITED)) as world, screen(chromium, world, phone=phone) as page:
            page.turn_search_on()
            turn = page.ask("新变化？")
            expect(turn.locator(".references h3")).to_have_text("参考文献")
            entries = turn.locator(".reference")
            expect(entries).to_have_count(2)
            for number in (0, 1):
                entry = entries.nth(number)
                expect(entry).to_contain_text(f"[{number + 1}]")
                expect(entry).to_contain_text(PAGES[number]["title"])
                expect(entry).to_contain_text(PAGES[number]["url"])
                expect(entry.locator(".chip")).to_have_text(PAGES[number]["url"].split("/")[2])

    def test_a_card_tells_what_the_source_says(self, chromium: Browser, phone: bool) -> None:
        with PageWorld(Reply.text(CITED)) as world, screen(chromium, world, phone=phone) as page:
            page.turn_search_on()
            turn = page.ask("新变化？")
            first = turn.locator("a.cite").first
            if phone:
                first.tap()
            else:
                first.hover()
            card = page("#cite-card")
            expect(card).to_be_visible()
            expect(card).to_contain_text(PAGES[0]["title"])
            expect(card).to_contain_text("docs.python.org · 2025年10月7日")
            expect(card).to_contain_text("来源支持")
            expect(card).to_contain_text("仅依据摘要")
            expect(card.locator("blockquote")).to_contain_text("2025 年 10 月 7 日发布")
            expect(card.locator("a")).to_have_attribute("href", PAGES[0]["url"])
            assert len(page.page.context.pages) == 1, "a touch shows the card, it does not leave the page"
            page.page.wait_for_timeout(400)
            expect(card).to_be_visible()
            page.page.keyboard.press("Escape")
            expect(card).to_have_count(0)

    def test_what_is_not_in_the_source_looks_and_sounds_different(self, chromium: Browser, phone: bool) -> None:
        with PageWorld(Reply.text(CITED)) as world, screen(chromium, world, phone=phone) as page:
            page.turn_search_on()
            turn = page.ask("新变化？")
            good, _, bad = turn.locator("a.cite").all()
            expect(good).to_have_class(re.compile("supported"))
            expect(bad).to_have_class(re.compile("not_found|weak"))
            expect(bad).to_have_attribute("aria-label", re.compile("未找到|较弱"))
            underlined = "e => getComputedStyle(e).textDecorationLine"
            assert (good.evaluate(underlined), bad.evaluate(underlined)) == ("none", "underline")

    def test_no_citation_no_list_the_cards_stay(self, chromium: Browser, phone: bool) -> None:
        words = Reply.text("与资料无关的一句话，没有引用。")
        with PageWorld(words) as world, screen(chromium, world, phone=phone) as page:
            page.turn_search_on()
            turn = page.ask("新变化？")
            expect(turn.locator(".references")).to_have_count(0)
            expect(turn.locator(".card")).to_have_count(3)
            expect(turn.locator(".card").first).to_be_visible()

    def test_without_search_there_are_no_sources(self, chromium: Browser, phone: bool) -> None:
        with PageWorld(Reply.text("你好[1]！")) as world, screen(chromium, world, phone=phone) as page:
            turn = page.ask("你好")
            for nothing in (".references", ".sources", ".rounds", "a.cite"):
                expect(turn.locator(nothing)).to_have_count(0)
            expect(turn.locator(".answer")).to_have_text("你好[1]！")


def test_source_cards_have_title_address_and_words(chromium: Browser) -> None:
    with PageWorld(Reply.text(CITED)) as world, screen(chromium, world) as page:
        page.turn_search_on()
        turn = page.ask("新变化？")
        for number, known in enumerate(PAGES):
            card = turn.locator(".card").nth(number)
            expect(card.locator(".number")).to_have_text(str(number + 1))
            expect(card.locator(".card-title")).to_have_text(known["title"])
            expect(card).to_contain_text(known["url"].split("/")[2])
            opened = page.open_source(number + 1)
            expect(opened.locator("h2")).to_have_text(known["title"])
            expect(opened.locator("a")).to_have_attribute("href", known["url"])
            expect(opened).to_contain_text(known["snippet"][:20])


def test_searching_is_shown_with_query_and_engine_then_the_receipt(chromium: Browser) -> None:
    with PageWorld(Reply.text("好[1]")) as world, screen(chromium, world) as page:
        from qiusuo.testing import Fault

        page.turn_search_on()
        world.engine().fault, world.engine().hold = Fault.SLOW, 1.4
        page.send("慢的搜索")
        row = page.turn.locator(".round")
        expect(row).to_contain_text("正在用 SearXNG 搜索")
        expect(row).to_contain_text("慢的搜索")
        expect(row.locator(".elapsed")).to_have_text(re.compile("[12] 秒"))
        expect(page("#said")).to_have_text(re.compile("正在搜索"))
        page.ended()
        expect(row).to_contain_text("SearXNG · 找到 3 个来源")
        row.get_by_role("button", name="为什么用这个引擎").click()
        expect(row.locator(".receipt")).to_contain_text("SearXNG 排在最前且可用")
        expect(row.locator(".receipt")).to_contain_text("成功")
        expect(page("#said")).to_have_text("回答完成")


def test_agent_rounds_are_numbered_and_sources_tell_theirs(chromium: Browser) -> None:
    with PageWorld() as world, screen(chromium, world) as page:

        def search_elsewhere(_asked: Asked) -> Reply:
            show(world.engine(), [OTHER])
            return Reply.tools(Call("web_search", {"query": "自由线程"}))

        first = Reply.tools(Call("web_search", {"query": "Python 3.14"}))
        world.model.add(first, search_elsewhere, Reply.text("先看[1]，再看[4]。"))
        page.choose("agent")
        turn = page.ask("研究一下")
        expect(turn.locator(".round")).to_have_count(2)
        # What led to the answer is one line, opened by the keyboard as well.
        folded = turn.locator("details.searches summary")
        expect(folded).to_have_text("搜索和阅读共 2 步 · 找到 4 个来源")
        expect(turn.locator(".round").nth(0)).not_to_be_visible()
        folded.press("Enter")
        expect(turn.locator(".round").nth(0)).to_be_visible()
        expect(turn.locator(".round").nth(0)).to_contain_text("第 1 轮")
        expect(turn.locator(".round").nth(1)).to_contain_text("自由线程")
        expect(turn.locator(".references h4")).to_have_text(["第 1 轮：Python 3.14", "第 2 轮：自由线程"])
        expect(turn.locator(".reference-number")).to_have_text(["[1]", "[2]", "[3]", "[4]"])
        expect(page.open_source(1)).to_contain_text("第 1 轮 · Python 3.14")
        expect(page.open_source(4)).to_contain_text("第 2 轮 · 自由线程")
        page.close_source()
        turn.locator(".why").last.click()
        expect(turn.locator(".receipt")).to_contain_text("来源 · [4]")
        expect(turn.locator("a.cite")).to_have_text(["[1]", "[4]"])
        # Numbers run on in the next turn.
        world.model.add(Reply.tools(Call("web_search", {"query": "再来"})), Reply.text("没有引用"))
        show(world.engine(), [{**PAGES[0], "url": "https://third.example.org/", "title": "第三页"}])
        turn = page.ask("继续")
        expect(turn.locator(".card .number")).to_have_text(["5"])
        expect(turn.locator(".references")).to_have_count(0)
        # What was searched for in an earlier turn is listed again, under the round in which it was found now.
        world.model.add(Reply.tools(Call("web_search", {"query": "Python 3.14"})), Reply.text("见[1]。"))
        show(world.engine())
        turn = page.ask("再看一遍")
        expect(turn.locator(".references h4")).to_have_text(["第 1 轮：Python 3.14"])
        expect(turn.locator(".reference-number")).to_have_text(["[1]", "[2]", "[3]"])
        # A source of an earlier turn looks like those of this one.
        world.model.add(Reply.tools(Call("web_search", {"query": "又来"})), Reply.text("见[5]。"))
        turn = page.ask("之前呢")
        expect(turn.locator(".reference").first).to_contain_text("[5]第三页https://third.example.org/")
        turn.locator("a.cite").focus()
        expect(page("#cite-card")).to_contain_text("第三页")
        # What was not searched for at all is told as such.
        world.model.add(Reply.text("我记得。"))
        turn = page.ask("还记得吗，这座桥有多长")
        expect(turn.locator(".hint")).to_have_text("没有搜索，凭模型的记忆回答")


def test_an_answer_grows_and_keeps_what_is_finished(chromium: Browser) -> None:
    gate = Gate()
    with PageWorld(Reply.text("# 标题\n\n第一段。\n\n第二", gate, "段。")) as world, screen(chromium, world) as page:
        page.send("流")
        expect(page.turn.locator(".answer h3")).to_have_text("标题")
        expect(page.turn.locator(".answer p")).to_have_text(["第一段。", "第二"])
        page.turn.locator(".answer p").first.evaluate("e => { e.dataset.same = 'yes' }")
        expect(page.page.get_by_role("button", name="停止")).to_be_visible()
        gate.open()
        page.ended()
        expect(page.turn.locator(".answer p")).to_have_text(["第一段。", "第二段。"])
        # The finished block was not drawn again.
        expect(page.turn.locator(".answer p").first).to_have_attribute("data-same", "yes")


def test_stop_keeps_what_came(chromium: Browser) -> None:
    gate = Gate()
    with PageWorld(Reply.text("到这里为止。", gate, "不再出现")) as world, screen(chromium, world) as page:
        page.send("停")
        expect(page.turn.locator(".answer")).to_have_text("到这里为止。")
        page.page.get_by_role("button", name="停止").click()
        turn = page.ended()
        expect(turn).to_contain_text("已停止")
        expect(turn.locator(".answer")).to_have_text("到这里为止。")
        gate.open()
        page.ask("下一个")
        expect(page("article.turn")).to_have_count(2)


def test_escape_stops_where_nothing_else_wants_it(chromium: Browser) -> None:
    gate = Gate()
    script = (Reply.text(CITED), Reply.text("到这里为止。", gate, "不再出现"))
    with PageWorld(*script) as world, screen(chromium, world) as page:
        page.turn_search_on()
        keys = page.page.keyboard
        page.ask("新变化？")
        page.switch.click()
        expect(page.switch).to_have_attribute("aria-checked", "false")
        page.send("停")
        stop = page.page.get_by_role("button", name="停止")
        expect(page.turn.locator(".answer")).to_have_text("到这里为止。")
        # An open source, a card beside a citation, the list of commands, a window, a search for a conversation.
        page.open_source(turn=page("article.turn").first)
        page.close_source()
        page("a.cite").first.focus()
        expect(page("#cite-card")).to_be_visible()
        keys.press("Escape")
        expect(page("#cite-card")).to_have_count(0)
        page("#question").fill("/")
        expect(page("#slash-list")).to_be_visible()
        page("#question").press("Escape")
        expect(page("#slash-list")).to_have_count(0)
        page("#question").fill("")
        page(".sidebar .brand button").click()
        expect(page("dialog.menu")).to_be_visible()
        expect(page("dialog.menu")).to_contain_text("停止正在生成的回答")
        keys.press("Escape")
        expect(page("dialog.menu")).to_have_count(0)
        page("input[type=search]").fill("新")
        page("input[type=search]").press("Escape")
        expect(page("input[type=search]")).to_have_value("")
        page("#question").evaluate(
            "e => e.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true, isComposing: true}))"
        )
        expect(stop).to_be_visible()
        assert not [one for one in page.requests if one.endswith("/stop")]
        page("#question").press("Escape")
        turn = page.ended()
        expect(turn).to_contain_text("已停止")
        expect(turn.locator(".answer")).to_have_text("到这里为止。")
        gate.open()


def test_retry_replaces_the_last_turn(chromium: Browser) -> None:
    with PageWorld(Reply.text("第一次"), Reply.text("第二次")) as world, screen(chromium, world) as page:
        page.ask("再试")
        page.turn.get_by_role("button", name="重试").click()
        expect(page.turn.locator(".answer")).to_have_text("第二次")
        page.ended()
        expect(page("article.turn")).to_have_count(1)
        page.page.reload()
        expect(page("article.turn")).to_have_count(1)
        expect(page.turn.locator(".answer")).to_have_text("第二次")


def test_what_came_after_an_edited_question_is_not_told_to_the_model(chromium: Browser) -> None:
    script = [Reply.text(words) for words in ("甲", "乙", "丙")]
    with PageWorld(*script) as world, screen(chromium, world) as page:
        page.ask("第一问")
        page.ask("第二问")
        first = page("article.turn").first
        first.hover()
        first.get_by_role("button", name="编辑并重新发送").click()
        expect(first).to_contain_text("原来的对话保留不变")
        first.get_by_role("textbox").fill("改过的问题")
        first.get_by_role("button", name="重新发送").click()
        expect(page("article.turn")).to_have_count(1)
        expect(page.ended().locator(".answer")).to_have_text("丙")
        expect(page("article h2")).to_contain_text("改过的问题")
        assert "第二问" not in world.model.requests[-1].prompt


def test_copy_gives_markdown_with_references(chromium: Browser) -> None:
    with PageWorld(Reply.text("见[1]。")) as world, screen(chromium, world, permissions=CLIPBOARD) as page:
        page.turn_search_on()
        turn = page.ask("复制")
        turn.get_by_role("button", name="复制回答").click()
        expect(page.page.get_by_text("已复制", exact=True)).to_be_visible()
        copied = page.page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith(f"见[[1]]({PAGES[0]['url']})。")
        assert "## 参考文献" in copied
        as_html = "(await (await navigator.clipboard.read())[0].getType('text/html')).text()"
        pasted = page.page.evaluate(f"(async () => {as_html})()")
        assert f'href="{PAGES[0]["url"]}"' in pasted
        assert "参考文献</h3>" in pasted


def test_history_is_searched_renamed_and_deleted(chromium: Browser) -> None:
    with PageWorld() as world, screen(chromium, world) as page:
        for question in ("苹果怎么种", "香蕉怎么种"):
            page.page.get_by_role("button", name="新对话").click()
            page.ask(question)
        entries = page(".history li .title")
        expect(entries).to_have_text(["香蕉怎么种", "苹果怎么种"])
        page.page.get_by_label("搜索历史会话").fill("苹果")
        expect(entries).to_have_text(["苹果怎么种"])
        page.page.get_by_label("搜索历史会话").fill("")
        expect(entries).to_have_count(2)
        page.page.get_by_role("link", name="苹果怎么种").click()
        expect(page("article h2")).to_contain_text("苹果怎么种")
        page.page.get_by_role("button", name="重命名: 苹果怎么种").click()
        page.page.get_by_label("新名称").fill("果园")
        page.page.get_by_label("新名称").press("Enter")
        expect(entries.filter(has_text="果园")).to_have_count(1)
        page.page.get_by_role("button", name="删除: 果园").click()
        page.page.get_by_role("group", name=re.compile("删除")).get_by_role("button", name="删除").click()
        expect(entries).to_have_text(["香蕉怎么种"])
        expect(page(".welcome")).to_be_visible()


def test_verdicts_and_domains_look_like_labels(chromium: Browser) -> None:
    with PageWorld(Reply.text(CITED)) as world, screen(chromium, world) as page:
        page.turn_search_on()
        turn = page.ask("新变化？")
        for label in (turn.locator(".verdict").first, turn.locator(".chip").first):
            expect(label).to_have_css("border-radius", "6px")
            expect(label).to_have_css("margin-top", "0px")


class TestExamples:
    """They show what search is good for, and are asked with a click."""

    @SIZES
    def test_one_turns_search_on_and_is_asked_with_it(self, chromium: Browser, phone: bool) -> None:
        with PageWorld(Reply.text(CITED)) as world, screen(chromium, world, phone=phone) as page:
            expect(page.switch).to_have_attribute("aria-checked", "false")
            text = page(".examples button").first.inner_text()
            page(".examples button").first.click()
            expect(page.switch).to_have_attribute("aria-checked", "true")
            expect(page(".toast")).to_have_text("联网搜索已开启")
            turn = page.ended()
            expect(page("article h2")).to_contain_text(text)
            expect(turn.locator(".card")).to_have_count(len(PAGES))
            assert world.searches() == [text]
            page.page.reload()
            expect(page.switch).to_have_attribute("aria-checked", "true")

    def test_two_clicks_ask_once(self, chromium: Browser) -> None:
        with PageWorld() as world, screen(chromium, world) as page:
            page(".examples button").first.evaluate("e => { e.click(); e.click(); }")
            page.ended()
            expect(page("article.turn")).to_have_count(1)
            assert len(world.searches()) == 1
            assert page.requests.count("POST /api/chat/sessions") == 1

    def test_what_is_typed_goes_by_the_switch(self, chromium: Browser) -> None:
        with PageWorld() as world, screen(chromium, world) as page:
            page.ask(page(".examples button").first.inner_text())
            expect(page.switch).to_have_attribute("aria-checked", "false")
            assert world.searches() == []

    def test_in_agent_mode_the_model_decides(self, chromium: Browser) -> None:
        with PageWorld() as world, screen(chromium, world) as page:
            page.choose("agent")
            page(".examples button").first.click()
            page.ended()
            page.choose("chat")
            expect(page.switch).to_have_attribute("aria-checked", "false")
            assert world.searches() == []


@with_axe
def test_the_language_is_the_browsers_and_can_be_chosen(chromium: Browser) -> None:
    with PageWorld() as world, screen(chromium, world, locale="zh-TW") as page:
        expect(page(".switch-label")).to_contain_text("網路搜尋")
        expect(page("html")).to_have_attribute("lang", "zh-Hant")
        page.ask("什麼是區塊鏈？")
        loaded = {path.rpartition("/")[2] for path in page.requests if "/words/" in path}
        assert loaded == {"zh-Hant.js"}, "nobody loads the words of another language"
        assert violations(page) == []
        # By the keyboard, where each step changes it: the next step must be possible.
        page("select.language").focus()
        page.page.keyboard.press("ArrowDown")
        expect(page(".switch-label")).to_contain_text("Web search")
        expect(page("select.language")).to_be_focused()
        page.speak("简体中文")
        expect(page(".switch-label")).to_contain_text("联网搜索")
        page.page.reload()
        expect(page(".switch-label")).to_contain_text("联网搜索")
        expect(page("html")).to_have_attribute("lang", "zh-CN")


def test_light_and_dark_follow_the_system_or_the_choice(chromium: Browser) -> None:
    with PageWorld() as world, screen(chromium, world, color_scheme="dark") as page:
        expect(page("html")).to_have_attribute("data-theme", "dark")
        page.page.emulate_media(color_scheme="light")
        expect(page("html")).to_have_attribute("data-theme", "light")
        for chosen in ("light", "dark"):
            page.page.get_by_role("button", name=re.compile("^外观")).click()
            expect(page("html")).to_have_attribute("data-theme", chosen)
        page.page.reload()
        expect(page("html")).to_have_attribute("data-theme", "dark")


def test_citations_that_the_system_added_are_marked(chromium: Browser) -> None:
    with PageWorld(Reply.text(PAGES[1]["snippet"])) as world, screen(chromium, world) as page:
        page.turn_search_on()
        turn = page.ask("自由线程？")
        link = turn.locator("a.cite")
        expect(link).to_have_text("[1]")  # what touches the question comes first
        expect(link).to_have_class(re.compile("added"))
        expect(link).to_have_attribute("aria-label", re.compile("引用由系统补充，非模型所写"))
        link.hover()
        expect(page("#cite-card")).to_contain_text("引用由系统补充，非模型所写")


def test_a_thought_that_slipped_into_the_answer_is_taken_back(chromium: Browser) -> None:
    thought, answered = Gate(), Gate()
    reply = Reply.text("先想一想。", thought, "</think>", "茶树原产中国。", answered, "完。")
    with PageWorld(reply) as world, screen(chromium, world) as page:
        page.send("茶从哪里来？")
        expect(page.turn.locator(".answer")).to_have_text("先想一想。")
        thought.open()
        expect(page.turn.locator(".answer")).to_have_text("茶树原产中国。")
        answered.open()
        expect(page.ended().locator(".answer")).to_have_text("茶树原产中国。完。")


def test_an_article_of_law_in_an_older_conversation_keeps_its_card(chromium: Browser) -> None:
    with PageWorld(Reply.text("见[1]。")) as world, screen(chromium, world) as page:
        page.turn_search_on()
        page.ask("民法典577条")
        card = page.show_laws(ARTICLES[:1])
        expect(card).to_contain_text("中华人民共和国民法典 第五百七十七条")
        expect(card.locator(".badge")).to_have_text("现行有效")
        expect(card).to_contain_text("第八章 违约责任 · 版本 2020-05-28 · 施行日期 2021年1月1日")
        expect(card.locator("blockquote")).to_have_text(ARTICLES[0]["content"])
        expect(card.locator(".card-remark")).to_have_count(0)


def test_a_card_says_what_is_known_of_a_source(chromium: Browser) -> None:
    facts = [
        {"value": "第二章", "labels": {}, "day": False},
        {"value": "2021-01-01", "labels": {"zh": "施行日期", "en": "In force from"}, "day": True},
    ]
    told = {"title": "茶叶法 第三条", "text": "茶农自行决定。", "badge": "已修改", "tone": "pending"}
    with PageWorld(Reply.text("见[1]。")) as world, screen(chromium, world) as page:
        page.turn_search_on()
        page.ask("茶叶法第三条")
        card = page.show_cards([{**told, "facts": facts, "notes": ["有新版本。"]}])
        expect(card).to_contain_text("茶叶法 第三条")
        expect(card.locator(".badge.pending")).to_have_text("已修改")
        expect(card).to_contain_text("第二章 · 施行日期 2021年1月1日")
        expect(card.locator("blockquote")).to_have_text("茶农自行决定。")
        expect(card.locator(".card-remark")).to_have_text("有新版本。")


def test_what_is_known_of_an_article_s_version_stands_below_it(chromium: Browser) -> None:
    with PageWorld(Reply.text("见[1]。")) as world, screen(chromium, world) as page:
        page.turn_search_on()
        page.ask("劳动法21条")
        note = "来源未给出本版本的施行日期，以公布日期代替。"
        law = {**ARTICLES[0], "effectiveDate": "2018-12-29", "dateBasis": "published", "notes": [note]}
        card = page.show_laws([law])
        expect(card).to_contain_text("公布日期 2018年12月29日")
        expect(card).not_to_contain_text("施行日期 2018")
        expect(card.locator(".card-remark")).to_have_text(note)

"""``qiusuo chat`` as people and scripts run it: real processes, in a pipe and in a pseudo-terminal (P8)."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import stat
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

import pytest

from qiusuo.chat.stores.opening import open_store
from qiusuo.cli.exits import Exit
from qiusuo.commands import install_command
from qiusuo.testing import Fault
from tests.support.chat_terminal import CHAT, ChatTerminal
from tests.support.scripted_model import Call, Gate, Reply
from tests.support.stores import whole_turn

pytestmark = pytest.mark.programs

NOTE = "Agent 模式下由 AI 自动决策搜索"
CITED = "About tea: text 1 [1]. Rome lies on seven hills in Italy [2]."
NO_MODEL: dict[str, Any] = {"QIUSUO_MODEL": None, "QIUSUO_MODEL_BASE_URL": None, "QIUSUO_MODEL_API_KEY": None}
AGENT = (Reply.tools(Call("web_search", {"query": "green tea"})), Reply.text("Green tea is hot [1]."))


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[ChatTerminal]:
    with ExitStack() as stack:
        yield ChatTerminal(stack, tmp_path)


class TestPipe:
    def test_the_answer_and_its_list_go_to_stdout_and_all_else_to_stderr(self, chat: ChatTerminal) -> None:
        chat.model.add(Reply.text(CITED))
        out, err = chat.pipe("--search", question="tea\n")
        assert out == (
            "About tea: text 1 [[1]](https://site1.example.com/page/1). "
            "Rome lies on seven hills in Italy [[2]](https://site2.example.com/page/2).\n\n"
            "## References\n\n"
            "- [[1]](https://site1.example.com/page/1) tea \\& result 1 — site1.example.com\n"
            "- [[2]](https://site2.example.com/page/2) tea \\& result 2 — site2.example.com\n"
        )
        assert "✓ 第 1 轮 · SearXNG · 找到 5 个来源 “tea”" in err
        assert "1 处未在来源中找到 [2]" in err
        assert [seen.params["q"] for seen in chat.searxng.seen] == ["tea"]

    def test_without_the_switch_no_search_is_made_and_all_of_stdin_is_one_question(self, chat: ChatTerminal) -> None:
        chat.model.add(Reply.text("你好！"))
        out, _ = chat.pipe(question="第一行\n第二行\n")
        assert out == "你好！\n"
        assert "第一行\n第二行" in chat.model.requests[0].messages[-1]["content"]
        assert len(chat.model.requests) == 1
        assert chat.searxng.seen == []

    def test_without_a_model_a_line_is_searched_for_and_material_is_not(self, chat: ChatTerminal) -> None:
        out, _ = chat.pipe(question="tea\n", **NO_MODEL)
        assert "About tea: text 1" in out
        assert [seen.params["q"] for seen in chat.searxng.seen] == ["tea"]
        for material in ("-tea\n+coffee\n", f"{'tea ' * 100}?\n"):
            chat.pipe(question=material, **NO_MODEL)
        chat.pipe("--no-search", question="tea\n", **NO_MODEL)
        assert len(chat.searxng.seen) == 1

    def test_search_that_is_down_costs_no_answer(self, chat: ChatTerminal) -> None:
        chat.searxng.fault = Fault.SERVER_ERROR
        chat.model.add(Reply.text("凭我所知。"))
        out, err = chat.pipe("--search", "茶", "是", "什么")
        assert out == "凭我所知。\n"
        assert "✗ 第 1 轮 · 搜索失败 “茶 是 什么”" in err
        assert "搜索服务不可用" in err
        assert "docker restart" not in err  # nobody knows how this SearXNG was started

    def test_an_agent_decides_by_itself(self, chat: ChatTerminal) -> None:
        chat.model.add(*AGENT)
        out, err = chat.pipe("--mode", "agent", "what is tea", QIUSUO_LANG="en")
        assert out.startswith("Green tea is hot [[1]](https://site1.example.com/page/1).")
        assert "✓ Round 1 · SearXNG · 5 sources “green tea”" in err
        assert chat.searxng.seen[0].params["q"] == "green tea"
        assert "Not searched" not in err

    def test_a_conversation_goes_on_by_its_id(self, chat: ChatTerminal) -> None:
        chat.model.add(Reply.text("Paris."), Reply.text("Two million."))
        _, err = chat.pipe("capital of France", "--search")
        session = err.split("--session ")[1].strip()
        chat.pipe("and its people", "--session", session, "--no-search")
        said = [message["content"] for message in chat.model.requests[1].messages]
        assert "Paris." in said
        assert len(chat.searxng.seen) == 1
        database = chat.home / "data" / "qiusuo" / "chat.db"
        assert stat.S_IMODE(database.stat().st_mode) == 0o600

    def test_nothing_is_kept_if_so_wished(self, chat: ChatTerminal) -> None:
        chat.model.add(Reply.text("Hi."))
        _, err = chat.pipe("hello", "--no-save")
        assert "--session" not in err
        assert not (chat.home / "data").exists()

    def test_what_a_model_sends_does_not_move_the_terminal(self, chat: ChatTerminal) -> None:
        chat.model.add(Reply.text("a\x1b]0;owned\x07\x1b[2Jb\x9b31m\n\nc"))
        out, _ = chat.pipe("hello", "--no-save")
        assert out == "a]0;owned[2Jb31m\n\nc\n"

    def test_a_conversation_is_taken_along_and_brought_back(self, chat: ChatTerminal, tmp_path: Path) -> None:
        chat.pipe("--export", "md", code=Exit.ALL_FAILED)  # there is none yet
        chat.model.add(Reply.text(CITED))
        chat.pipe("--search", question="tea\n")
        text, _ = chat.pipe("--export", "md")
        assert text.startswith("# tea\n\n## tea\n")
        assert "- [2] tea" in text
        (tmp_path / "tea.json").write_text(chat.pipe("--export", "json")[0], encoding="utf-8")
        _, told = chat.pipe("--import", str(tmp_path / "tea.json"))
        again = told.split("--session ")[1].strip()
        assert chat.pipe("--export", "json", "--session", again)[0] == (tmp_path / "tea.json").read_text()
        assert "<h1>tea</h1>" in chat.pipe("--export", "html", "--session", again)[0]
        for wrong in (tmp_path / "none.json", Path(__file__)):
            chat.pipe("--import", str(wrong), code=Exit.USAGE)
        assert len(chat.model.requests) == 1


class TestModels:
    CHEAP: ClassVar[dict[str, Any]] = {"QIUSUO_MODELS__CHEAP__MODEL": "openai:small"}

    def test_a_model_is_chosen_by_its_name(self, chat: ChatTerminal) -> None:
        chat.model.add(Reply.text("Hi."))
        own: dict[str, Any] = {"OPENAI_BASE_URL": chat.model.base_url, "OPENAI_API_KEY": chat.model.key}
        # The first is set wrongly, which is nobody's business here.
        events = chat.events("hello", "--model", "cheap", QIUSUO_MODEL="nobody:knows", **own, **self.CHEAP)
        assert chat.model.requests[0].body["model"] == "small"
        assert next(event for event in events if event["type"] == "turn")["model"] == "openai:small"

    def test_the_second_answers_for_one_that_is_set_wrongly(self, chat: ChatTerminal) -> None:
        chat.model.add(Reply.text("Hi."))
        own: dict[str, Any] = {"OPENAI_BASE_URL": chat.model.base_url, "OPENAI_API_KEY": chat.model.key}
        second = {**self.CHEAP, "QIUSUO_SECOND_MODEL": "cheap", "QIUSUO_MODEL": "nobody:knows"}
        out, err = chat.pipe("hello", QIUSUO_MODEL_BASE_URL=None, **own, **second)
        assert "Hi." in out
        assert "nobody:knows 未能回答" in err


class TestJson:
    def test_events_are_lines(self, chat: ChatTerminal) -> None:
        chat.model.add(Reply.text("About tea: ", "text 1 [1]."))
        events = chat.events("--search", "tea")
        kinds = [event["type"] for event in events]
        assert kinds[:2] == ["session", "turn"]
        assert kinds[-1] == "done"
        assert {"status", "round", "sources", "delta", "check", "usage"} <= set(kinds)
        assert events[0]["settings"]["switch"] == "on"
        assert events[-1]["cited"] == [1]
        assert "".join(event["text"] for event in events if event["type"] == "delta") == events[-1]["answer"]

    def test_an_error_is_one_too(self, chat: ChatTerminal) -> None:
        [error] = chat.events("x", code=Exit.NOT_CONFIGURED, QIUSUO_MODEL="deepseek:chat", QIUSUO_MODEL_API_KEY=None)
        assert (error["type"], error["error"]) == ("error", "ModelNotConfigured")
        assert "DEEPSEEK_API_KEY" in error["fix"]


class TestExitCodes:
    @pytest.mark.parametrize(
        ("reply", "code", "words"),
        [
            (Reply.error(500), Exit.ALL_FAILED, "HTTP 500"),
            (Reply.rate_limited("7"), Exit.RATE_LIMITED, "7 秒后可重试"),
        ],
    )
    def test_a_model_that_fails(self, reply: Reply, code: Exit, words: str, chat: ChatTerminal) -> None:
        chat.model.otherwise = reply
        out, err = chat.pipe("hello", code=code)
        assert out == ""
        assert words in err

    @pytest.mark.parametrize("mode", ["chat", "agent"])
    def test_without_a_model_searches_that_fail_leave_no_answer(self, mode: str, chat: ChatTerminal) -> None:
        chat.searxng.fault = Fault.SERVER_ERROR
        out, err = chat.pipe("--mode", mode, "tea", code=Exit.ALL_FAILED, **NO_MODEL)
        assert "the search failed" in out
        assert "这次无法回答" in err
        path = chat.home / "tea.txt"
        path.write_text("Tea is grown on hills. The tea of this garden is green.", encoding="utf-8")
        out, err = chat.pipe("--mode", mode, "--file", str(path), "latest tea of this garden", **NO_MODEL)
        assert "The tea of this garden is green." in out

    def test_a_stream_that_breaks_leaves_what_was_said(self, chat: ChatTerminal) -> None:
        chat.model.add(Reply.broken("Half an answer"))
        out, err = chat.pipe("hello", code=Exit.ALL_FAILED)
        assert out == "Half an answer\n"
        assert "✗" in err

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((), "没有问题"),
            (("hello", "--mode", "agent", "--search"), NOTE),
        ],
    )
    def test_wrong_usage_asks_nobody(self, arguments: tuple[str, ...], words: str, chat: ChatTerminal) -> None:
        out, err = chat.pipe(*arguments, question=" \n", code=Exit.USAGE)
        assert out == ""
        assert words in err
        assert chat.model.requests == []

    def test_what_is_searched_is_narrowed(self, chat: ChatTerminal) -> None:
        chat.model.add(Reply.text("News."))
        chat.pipe("tea", "--search", "--focus", "news")
        assert chat.searxng.seen[-1].params["categories"] == "news"
        _, err = chat.pipe("tea", "--search", "--focus", "smells", code=Exit.USAGE)
        assert "focus" in err

    def test_not_set_up(self, chat: ChatTerminal) -> None:
        _, err = chat.pipe("x", "--model", "nonsense:x", code=Exit.NOT_CONFIGURED)
        assert "服务商:模型名" in err
        _, err = chat.pipe("x", "--engine", "altavista", code=Exit.NOT_CONFIGURED)
        assert "altavista" in err
        assert chat.model.requests == []

    def test_the_missing_extra_is_named(self, chat: ChatTerminal) -> None:
        # Runs before all else in that interpreter, and makes the package look as if it were not there.
        hide = "import importlib.util as u\nfind = u.find_spec\n"
        hide += "u.find_spec = lambda name, package=None: None if name == 'prompt_toolkit' else find(name, package)\n"
        (chat.home / "sitecustomize.py").write_text(hide)
        _, err = chat.pipe("x", code=Exit.NOT_CONFIGURED, PYTHONPATH=str(chat.home))
        assert "prompt_toolkit" in err
        assert install_command("qiusuo[chat]") in err

    def test_ctrl_c_stops_and_what_was_said_stays(self, chat: ChatTerminal) -> None:
        gate = Gate()
        chat.model.add(Reply.text("So far", gate, " never"))
        process = subprocess.Popen(  # noqa: S603 - our own command
            [*CHAT, "hello", "--json"], env=chat.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        with process:
            assert process.stdout is not None
            assert process.stderr is not None
            lines = [json.loads(process.stdout.readline())]
            while lines[-1]["type"] != "delta":
                lines.append(json.loads(process.stdout.readline()))
            process.send_signal(signal.SIGINT)
            lines += [json.loads(line) for line in process.stdout]
            err = process.stderr.read()
            assert process.wait(60) == 130
        assert err == b""
        assert (lines[-1]["type"], lines[-1]["state"], lines[-1]["answer"]) == ("done", "stopped", "So far")


class TestTerminal:
    def test_the_commands_do_what_the_page_does(self, chat: ChatTerminal) -> None:
        chat.model.add(
            Reply.text("Off."),
            Reply.text(CITED),
            *AGENT,
            Reply.text("green tea please brewing"),
            Reply.text("Again on."),
        )
        screen = chat.screen()
        screen.wait_for("联网搜索：关", "/help", "› ")
        screen.enter("hello there")
        screen.wait_for("Off.", "11 + 7 token")
        assert chat.searxng.seen == []

        screen.enter("/search on")
        screen.wait_for("现在：聊天 · 🔍 联网搜索：开 · 引擎：SearXNG")
        screen.enter("tea")
        screen.wait_for("✓ 第 1 轮 · SearXNG · 找到 5 个来源 “tea”", "References", "[1] tea & result 1")
        screen.wait_for("引用核对：1 处有据 · 1 处未在来源中找到 [2]", "token")
        assert ";https://site1.example.com/page/1\x1b\\" in screen.raw  # a link of the terminal
        screen.enter("/sources")
        shown = screen.wait_for("[1] tea & result 1  有据", "About tea: text 1", "来源中未找到", "[5]", "未引用")
        assert "https://site3.example.com/page/3" in shown
        screen.enter("/receipt")
        screen.wait_for("第 1 轮 · SearXNG · “tea”", "搜索回执", "searxng", "成功")

        screen.enter("/search")
        screen.wait_for("现在：聊天 · 🔍 联网搜索：开", "用法：/search [on|off]")
        screen.enter("/mode agent")
        screen.wait_for("现在：Agent")
        screen.enter("/search off")
        screen.wait_for(NOTE, "用法：/mode [chat|agent]")
        screen.enter("green tea please")
        screen.wait_for("“green tea”", "Green tea is hot [1].", "token")
        assert len(chat.searxng.seen) == 2
        screen.enter("/mode chat")
        screen.wait_for("现在：聊天 · 🔍 联网搜索：开")  # as it was before agent mode
        screen.enter("more")
        screen.wait_for("“green tea please brewing”", "Again on.", "token")  # what the model makes of "more"
        assert len(chat.searxng.seen) == 3
        screen.type("\x04")
        screen.wait_for("qiusuo chat --session ")
        assert screen.wait() == 0
        assert "Traceback" not in screen.text

    def test_the_search_is_kept_to_news_sites_and_new_pages(self, chat: ChatTerminal) -> None:
        chat.model.add(Reply.text("Tea [1]."))
        screen = chat.screen()
        screen.wait_for("› ")
        screen.enter("/focus")
        screen.wait_for("搜索范围：网页", "联网搜索已关闭", "可选的范围：web", "news")
        screen.enter("/search on")
        screen.wait_for("联网搜索：开")
        screen.enter("/focus news")
        screen.wait_for("搜索范围：新闻")
        screen.enter("/focus gossip")
        screen.wait_for("这些之一：web")
        screen.enter("/site not_a_site")
        screen.wait_for("'not_a_site' 不是域名")
        screen.enter("/site https://site1.example.com/")
        screen.wait_for("限于 site1.example.com")
        screen.enter("/fresh sometimes")
        screen.wait_for("/fresh [day|week|month|year|any]")
        screen.enter("/fresh week")
        screen.wait_for("最近一周")
        screen.enter("tea")
        screen.wait_for("搜索范围：新闻；最近一周；限于 site1.example.com", "找到 1 个来源", "token")
        seen = chat.searxng.seen[0].params
        assert (seen["categories"], seen["time_range"]) == ("news", "week")
        assert "site:site1.example.com" in seen["q"]
        screen.enter("/site all")
        screen.wait_for("搜索范围：新闻；最近一周")
        assert "Traceback" not in screen.text

    def test_all_of_a_long_history_is_shown(self, chat: ChatTerminal) -> None:
        async def fill() -> str:
            store = open_store(f"sqlite:///{chat.home}/data/qiusuo/chat.db")
            first = (await store.create("local", title="the longest")).id
            for number in range(203):
                await whole_turn(store, "local", first, f"question-{number}-end")
            for number in range(25):
                await store.create("local", title=f"later {number}")
            await store.create("local")  # as the page begins one where a setting is changed before anything is asked
            await store.aclose()
            return first

        session = asyncio.run(fill())
        screen = chat.screen()
        screen.wait_for("› ")
        screen.enter("/sessions")
        assert "还没有提问" not in screen.wait_for("later 24", "the longest"), "there is nothing to open in it"
        screen.enter(f"/open {session}")
        screen.wait_for("（203 轮）")
        screen.enter("/history")
        screen.wait_for("› question-0-end", "› question-202-end")
        screen.enter("/exit")
        assert screen.wait() == 0

    def test_conversations_can_be_listed_left_and_opened(self, chat: ChatTerminal) -> None:
        chat.model.add(Reply.text("First."), Reply.text("Second."), Reply.text("Third."))
        screen = chat.screen()
        screen.wait_for("› ")
        for command in ("/sources", "/receipt"):
            screen.enter(command)
            screen.wait_for("还没有回答")
        screen.enter("one\x1b\rand more")
        screen.wait_for("First.", "token")
        assert chat.model.requests[0].messages[-1]["content"].startswith("one\nand more\n")
        screen.enter("/mode agent")
        screen.wait_for("现在：Agent")
        screen.enter("/new")
        screen.wait_for("新的会话", "现在：聊天")  # one conversation of an agent does not make it the usual one
        screen.enter("/search on")
        screen.wait_for("联网搜索：开")
        screen.enter("/engine nowhere")
        screen.wait_for("没有名为 'nowhere' 的引擎")
        screen.enter("/engine searxng")
        screen.wait_for("引擎：SearXNG")
        screen.enter("two")
        screen.wait_for("Second.", "token")
        screen.enter("/sessions")
        listed = screen.wait_for("*", "two", "one and more")
        first = listed.split("\n")[-1].split()[0]
        screen.enter(f"/open {first[:8]}")
        screen.wait_for("已打开会话：one and more（1 轮）", "现在：Agent")
        screen.enter("/mode chat")
        screen.wait_for("联网搜索：关")
        screen.enter("/history")
        screen.wait_for("› one", "First.")
        screen.enter("go on")
        screen.wait_for("Third.", "token")
        assert len(chat.searxng.seen) == 1
        assert "First." in [message["content"] for message in chat.model.requests[2].messages]
        screen.enter("/open zzz")
        screen.wait_for("没有会话 zzz")
        screen.enter("/sorces")
        screen.wait_for("没有命令 /sorces", "/sources")
        screen.enter("/exit")
        assert screen.wait() == 0
        history = chat.home / "data" / "qiusuo" / "chat_history"
        assert stat.S_IMODE(history.stat().st_mode) == 0o600
        assert "+and more" in history.read_text()

    def test_an_answer_is_shown_as_it_comes_and_ctrl_c_stops_it(self, chat: ChatTerminal) -> None:
        first, second = Gate(), Gate()
        listed = "# Title\n\n" + "".join(f"- entry {number}\n" for number in range(60)) + "\nA paragraph\n"
        chat.model.add(Reply.text(listed, first, "goes on", second, " never"), Reply.text("Here again."))
        screen = chat.screen("--no-save")
        screen.wait_for("› ")
        screen.enter("hello")
        # Whole blocks are on the screen while the model still writes, and are written once.
        screen.wait_for("entry 59", "A paragraph", "正在回答")
        assert screen.text.count("entry 7 ") == 1
        first.open()
        screen.wait_for("A paragraph goes on")
        screen.type("\x03")
        screen.wait_for("A paragraph goes on", "已停止")
        assert screen.text.count("entry 7 ") == 1
        screen.enter("still there?")
        screen.wait_for("Here again.", "token", "› ")  # from here on Ctrl-C is a key and no signal
        assert chat.model.requests[1].messages[-2]["content"].endswith("A paragraph\ngoes on")
        screen.type("some words\x03")  # clears the line …
        screen.type("\x03")  # … and then leaves
        assert screen.wait() == 0
        assert not (chat.home / "data").exists()

    def test_another_model_is_taken_and_a_wrong_one_keeps_nobody_out(self, chat: ChatTerminal) -> None:
        chat.model.add(Reply.text("From the other."))
        screen = chat.screen(QIUSUO_MODEL="nonsense:x", QIUSUO_MODEL_BASE_URL=None, QIUSUO_MODEL_API_KEY=None,
                             OPENAI_BASE_URL=chat.model.base_url, OPENAI_API_KEY=chat.model.key)  # fmt: skip
        screen.wait_for("服务商:模型名", "/model", "› ")
        screen.enter("hello")
        screen.wait_for("nonsense:x", "→", "秒 · nonsense:x")
        screen.enter("/model deepseek:deepseek-chat")
        screen.wait_for("DEEPSEEK_API_KEY")
        screen.enter("/model openai:other")
        screen.wait_for("模型：openai:other")
        screen.enter("hello again")
        screen.wait_for("From the other.", "openai:other")
        assert chat.model.requests[0].body["model"] == "other"
        screen.enter("/exit")
        assert screen.wait() == 0

    def test_models_are_listed_completed_and_chosen_by_their_names(self, chat: ChatTerminal) -> None:
        chat.model.add(Reply.text("From the cheap one."), Reply.text("From the first."))
        cheap = {"QIUSUO_MODELS__CHEAP__MODEL": "compatible:small",
                 "QIUSUO_MODELS__CHEAP__BASE_URL": chat.model.base_url,
                 "QIUSUO_MODELS__CHEAP__API_KEY": chat.model.key,
                 "QIUSUO_MODELS__WRONG__MODEL": "nobody:knows"}  # fmt: skip
        screen = chat.screen(**cheap)
        screen.wait_for("openai:scripted", "› ")
        screen.enter("/model")
        screen.wait_for("*  first", "cheap", "compatible:small", "wrong", "/model 名称")
        screen.type("/model ch")
        screen.wait_for("cheap")
        screen.type("\t")
        screen.enter("")
        screen.wait_for("模型：cheap · compatible:small")
        screen.enter("hello")
        screen.wait_for("From the cheap one.", "token · cheap · compatible:small")
        screen.enter("/model wrong")
        screen.wait_for("nobody:knows", "→")
        screen.enter("/model first")
        screen.wait_for("模型：openai:scripted")
        screen.enter("hello")
        screen.wait_for("From the first.", "token · openai:scripted")
        screen.enter("/exit")
        assert screen.wait() == 0
        assert [asked.body["model"] for asked in chat.model.requests] == ["small", "scripted"]

    def test_no_colours_where_none_are_wanted(self, chat: ChatTerminal) -> None:
        chat.model.add(Reply.text("# Plain\n\nAnswer."))
        screen = chat.screen("hello", NO_COLOR="1", QIUSUO_LANG="en")
        screen.wait_for("Answer.", "tokens", "--session")
        assert screen.wait() == 0
        assert re.search(r"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7])[;m]", screen.raw) is None

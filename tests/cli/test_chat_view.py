"""What the terminal chat draws: finished blocks once, the rest never higher than the screen, nothing that acts."""

from __future__ import annotations

import io
import time
from collections import deque

import pytest
from rich.console import Console

from qiusuo.chat.events.page_reads import PageRead, PageState
from qiusuo.chat.events.turn import (
    Check,
    Delta,
    Done,
    Notice,
    Reading,
    Retraction,
    Round,
    RoundState,
    Stage,
    Status,
    TurnStarted,
    TurnState,
)
from qiusuo.cli.chat.commands import is_command
from qiusuo.cli.chat.lines import reading_line, round_line, safe, support_of, without_citation_links
from qiusuo.cli.chat.view import ChatView, finished_length, render
from qiusuo.cli.chat.words import ChatWords
from qiusuo.errors import PageRefused
from qiusuo.http.guard import FetchPolicy, check_url
from qiusuo.words import Fact, Language, said

WORDS = ChatWords(Language.CHINESE)
DOCUMENT = """\
# Title

A paragraph with `code` and [[1]](https://a.example/1).
Its second line.

1. one

   still one

2. two
   - inner

| a | b |
| - | - |
| 1 | 2 |

```python
def f():

    return 1
```
> quoted

Setext
======

The end
"""


def console(height: int = 20) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=60, height=height, color_system="standard")


def written(screen: Console) -> str:
    file = screen.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


@pytest.mark.parametrize(("mode", "told"), [("agent", True), ("chat", False)])
def test_an_agent_that_has_not_searched_says_so(mode: str, told: bool) -> None:
    screen = console()
    with ChatView(screen, WORDS) as view:
        view.show(TurnStarted("1", "问", mode, "m", search=True, created_at=""))
        view.show(Delta("我记得。"))
        view.show(Done(TurnState.DONE, "我记得。"))
    assert ("凭模型的记忆回答" in written(screen)) is told


def test_a_notice_that_was_told_before_is_told_by_its_title() -> None:
    screen, told = console(), deque[Notice]()
    notices = [Notice(Fact("notice.model_not_configured")), Notice(Fact("notice.search_timeout"), "error")]
    lengths = []
    for _ in range(2):
        with ChatView(screen, WORDS, told=told) as view:
            for notice in notices:
                before = len(written(screen).splitlines())
                view.show(notice)
                lengths.append(len(written(screen).splitlines()) - before)
    first, failed, again, failed_again = lengths
    assert (first > 1, again, failed_again) == (True, 1, failed)


def test_a_page_on_a_closed_port_names_what_opens_it() -> None:
    with pytest.raises(PageRefused) as caught:
        check_url("http://127.0.0.1:45745/x", FetchPolicy())
    page = PageRead(1, "http://127.0.0.1:45745/x", "127.0.0.1", "x", PageState.FAILED, fact=caught.value.told)
    line = reading_line(Reading(1, (page,), done=True), WORDS)
    assert "在 QIUSUO_READ_PRIVATE 中加入 127.0.0.1:45745" in line


class TestBlocks:
    @pytest.mark.parametrize("size", [1, 2, 7, 50, 1000])
    def test_cut_as_they_come_they_are_the_blocks_of_the_whole(self, size: int) -> None:
        tail, blocks = "", []
        for start in range(0, len(DOCUMENT), size):
            tail += DOCUMENT[start : start + size]
            finished = finished_length(tail)
            if finished:
                blocks.append(tail[:finished])
                tail = tail[finished:]
        assert "".join(blocks) + tail == DOCUMENT
        for block in blocks:  # no list, table or code was cut in two
            assert block.count("```") % 2 == 0
            assert ("1. one" in block) == ("2. two" in block)
            assert ("| a |" in block) == ("| 1 |" in block)
            assert ("Setext" in block) == ("======" in block)

    def test_a_line_without_an_end_may_still_belong_to_the_block_before(self) -> None:
        assert finished_length("1. one\n\n2") == 0
        assert finished_length("1. one\n\n2. two\n") == 0
        assert finished_length("1. one\n\nOther\n") == len("1. one\n\n")

    def test_long_code_stays_cheap(self) -> None:
        screen = console()
        view = ChatView(screen, WORDS)
        begun = time.process_time()
        view.show(Delta("```python\n"))
        for number in range(5000):
            view.show(Delta(f"value_{number} = {number}\n"))
        for _ in range(50):
            screen.render_lines(view)
        assert time.process_time() - begun < 10


class TestDrawing:
    @pytest.mark.parametrize("block", ["- entry\n" * 300, "word " * 3000, "```\n" + "x\n" * 200, "x\n" * 4000])
    def test_what_is_being_written_is_never_higher_than_the_screen(self, block: str) -> None:
        screen = console()
        view = ChatView(screen, WORDS)
        view.show(Delta("Before.\n\n"))
        view.show(Status(Stage.ANSWERING))
        view.show(Delta(block))
        lines = screen.render_lines(view)
        assert len(lines) < screen.height
        assert "正在回答" in "".join(segment.text for segment in lines[-1])

    def test_every_block_is_there_once_in_the_end(self) -> None:
        screen = console()
        with ChatView(screen, WORDS) as view:
            view._live.auto_refresh = False
            for start in range(0, len(DOCUMENT), 40):
                view.show(Delta(DOCUMENT[start : start + 40]))
            view.show(Round(1, "web_search", "茶", RoundState.DONE, "searxng", "SearXNG", 5))
            view.show(Done(TurnState.DONE, DOCUMENT, "## 参考文献\n\n- [[1]](https://a.example/1) A"))
        end = written(screen)[written(screen).rindex("Setext") :]
        assert end.index("The end") < end.index("✓ 第 1 轮 · SearXNG · 找到 5 个来源 “茶”") < end.index("参考文献")

    def test_a_search_from_the_cache_says_how_old_it_is(self) -> None:
        kept = Round(1, "web_search", "茶", RoundState.DONE, "searxng", "SearXNG", 5, cached=True, age=1260)
        assert round_line(kept, WORDS) == "✓ 第 1 轮 · SearXNG · 找到 5 个来源 · 缓存 21 分钟前 “茶”"

    def test_added_citations_and_weak_ones_are_told(self) -> None:
        claim = {"support": "weak", "citations": [{"number": 3, "support": "weak"}]}
        report = {"counts": {"supported": 0, "weak": 1, "not_found": 0}, "claims": [claim]}
        screen = console()
        with ChatView(screen, WORDS) as view:
            view.show(Delta("Tea is hot."))
            view.show(Check(report, ({"number": 3, "sentence": "Tea is hot."},)))
            view.show(Done(TurnState.DONE, "Tea is hot [3]."))
        assert "1 处依据较弱 [3]" in written(screen)
        assert "“Tea is hot.” [3]" in written(screen)
        assert support_of(3, {"report": report}) == "weak"
        assert support_of(4, {"report": report}) == ""

    @pytest.mark.parametrize(("thought", "told"), [("Hm, tea", False), ("Hm.\n\nTea?\n\nYes", True)])
    def test_a_thought_that_is_taken_back(self, thought: str, told: bool) -> None:
        screen = console()
        with ChatView(screen, WORDS) as view:
            view._live.auto_refresh = False
            view.show(Delta(thought))
            view.show(Retraction(""))
            view.show(Delta("Tea is hot."))
            view.show(Done(TurnState.DONE, "Tea is hot."))
        assert ("以上是模型的思考" in written(screen)) == told
        assert "Tea is hot." in written(screen)
        assert "Hm, tea" not in written(screen)

    @pytest.mark.parametrize("first_thought", ["", "Hm.\n\nWhere?\n\nThere"])
    def test_what_was_said_between_the_thoughts_stays(self, first_thought: str) -> None:
        screen = Console(file=io.StringIO(), width=60)  # no terminal: nothing is drawn that is erased again
        with ChatView(screen, WORDS) as view:
            if first_thought:
                view.show(Delta(first_thought))
                view.show(Retraction(""))
            for event in (Delta("Let me look."), Delta("\n\nSo"), Retraction("Let me look."), Delta("\n\nHot.")):
                view.show(event)
            view.show(Done(TurnState.DONE, "Let me look.\n\nHot."))
        assert written(screen).count("Let me look.") == written(screen).count("Hot.") == 1
        assert written(screen).count("以上是模型的思考") == bool(first_thought)
        assert "So" not in written(screen)

    def test_nothing_of_strangers_acts_on_the_terminal(self) -> None:
        evil = "\x1b]0;owned\x07\x9b2J\u202e"
        screen = Console(file=io.StringIO(), force_terminal=True, width=200, color_system=None)
        with ChatView(screen, WORDS, engine="SearXNG") as view:
            view.show(Status(Stage.SEARCHING, evil))
            view.show(Notice(Fact("notice.x", x=evil), "error", said(evil), said(evil), (evil,)))
            view.show(Round(1, "web_search", evil, RoundState.FAILED, fact=said(evil)))
            view.show(Delta(f"{evil} &#27;[31m\n\n[a](https://a.example/{evil})\n"))
            view.show(Done(TurnState.DONE, "", f"- {evil}"))
        assert not {"\x07", "\x9b", "\u202e"} & set(written(screen))
        assert "\x1b]0" not in written(screen)


class TestText:
    def test_terminals_without_links_get_bare_citations(self) -> None:
        linked = (
            'A [[1]](https://a.example/x_(y)), b [[12]](https://b.example "added \\" here") and [c](https://c.example).'
        )
        assert without_citation_links(linked) == r"A \[1\], b \[12\] and [c](https://c.example)."
        screen = Console(file=io.StringIO(), width=80)
        screen.print(render(linked, links=False))
        assert written(screen).startswith("A [1], b [12] and c (https://c.example).")

    def test_lines_stay_lines(self) -> None:
        assert safe("a\r\nb\tc\rd\x0c\x00") == "a\nb\tcd"

    @pytest.mark.parametrize(
        ("text", "command"),
        [
            ("/search on", True),
            ("/", True),
            ("/Exit", True),
            ("/?", True),
            ("/etc/hosts 是什么", False),
            ("a /b", False),
            ("", False),
        ],
    )
    def test_what_is_a_command(self, text: str, command: bool) -> None:
        assert is_command(text) is command

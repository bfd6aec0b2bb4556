"""Research in the terminal: its limits, its sub-questions, stopping, ``/continue``; and in a pipe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.chat_terminal import ChatTerminal
from tests.support.research_world import PARTS, QUESTION, part_of, writer
from tests.support.scripted_model import Gate

pytestmark = pytest.mark.programs


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[ChatTerminal]:
    with ExitStack() as stack:
        terminal = ChatTerminal(stack, tmp_path)
        terminal.env |= {"QIUSUO_RESEARCH_PAGES": "0"}
        terminal.model.otherwise = writer()
        yield terminal


def test_stopped_left_and_gone_on(chat: ChatTerminal) -> None:
    gate = Gate()
    chat.model.otherwise = writer(gate, PARTS[1])
    screen = chat.screen()
    screen.wait_for("› ")
    screen.enter("/continue")
    screen.wait_for("没有未完成的研究")
    screen.enter("/help")
    screen.wait_for("/research QUESTION", "/continue")
    screen.type("/res")
    screen.wait_for("深入研究一个问题")  # what completion offers
    screen.type("\t")
    screen.wait_for("earch")
    screen.type(f" {QUESTION}\r")
    screen.wait_for("最多 6 个子问题、12 次搜索、0 个网页、60000 个 token、5 分钟")
    screen.wait_for(f"✓ {PARTS[0]} · 完成 · ", "条结果", f"… {PARTS[1]} · 正在撰写")
    screen.type("\x03")
    screen.wait_for("已停止", "/continue 从中断处继续")
    screen.type("\x04")
    screen.wait_for("qiusuo chat --session ")
    assert screen.wait() == 0
    session = screen.text.split("qiusuo chat --session ")[-1].split()[0]

    asked = len(chat.model.requests)
    chat.model.otherwise = writer()
    again = chat.screen("--session", session)
    again.wait_for("/continue 从中断处继续", "› ")
    again.enter("/continue")
    again.wait_for("小结", f"✓ {PARTS[2]} · 完成", "参考文献")
    again.type("\x04")
    assert again.wait() == 0
    assert [part_of(each) for each in chat.model.requests[asked:]] == [PARTS[1], PARTS[2], ""]


def test_in_a_pipe(chat: ChatTerminal) -> None:
    out, err = chat.pipe("--research", QUESTION)
    assert out.startswith(f"## {PARTS[0]}")
    assert "## 参考文献" in out
    assert "最多 6 个子问题" in err
    assert f"✓ {PARTS[2]} · 完成" in err

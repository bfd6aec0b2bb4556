"""Files in the terminal: ``/file PATH``, and ``--file PATH`` with one question."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support import made_files
from tests.support.chat_terminal import ChatTerminal
from tests.support.scripted_model import Reply

pytestmark = pytest.mark.programs

PENALTY = "每逾期一日应向需方支付合同总价千分之三的违约金"


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[ChatTerminal]:
    with ExitStack() as stack:
        yield ChatTerminal(stack, tmp_path)


def test_one_question_about_a_file(chat: ChatTerminal, tmp_path: Path) -> None:
    path = tmp_path / "采购 合同.pdf"
    path.write_bytes(made_files.contract())
    chat.model.add(Reply.text(f"{PENALTY} [1]。"))
    out, err = chat.pipe("--file", str(path), "合同里逾期交货的违约金是多少？")
    assert "已加入 采购 合同.pdf" in err
    assert "采购 合同.pdf，第 7 页" in out
    assert "#file-" not in out  # leads nowhere outside of the page
    assert chat.searxng.seen == []
    _, refused = chat.pipe("--file", str(tmp_path / "none.pdf"), "问题？", code=2)
    assert "没有文件" in refused
    _, refused = chat.pipe("-f", str(tmp_path), "问题？", code=2)
    assert "没有文件" in refused


def test_files_in_a_conversation(chat: ChatTerminal, tmp_path: Path) -> None:
    path = tmp_path / "pump manual.pdf"
    path.write_bytes(made_files.manual())
    locked = tmp_path / "locked.pdf"
    locked.write_bytes(made_files.pdf("x", encrypted=True))
    chat.model.add(Reply.text("They are tightened to 47 newton metres [1]."))
    screen = chat.screen()
    screen.wait_for("› ")
    screen.enter("/file")
    screen.wait_for("还没有文件")
    screen.enter(f"/file {locked}")
    screen.wait_for("有密码保护", "请去掉密码")
    screen.enter(f'/file "{path}"')
    screen.wait_for("已加入 pump manual.pdf")
    screen.enter("/file")
    screen.wait_for("pump manual.pdf（共 8 页）")
    screen.enter("How are the flange bolts of the Corvid pump tightened?")
    screen.wait_for("47 newton metres", "pump manual.pdf, p. 7")
    screen.type("\x04")
    assert screen.wait() == 0

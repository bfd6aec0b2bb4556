"""Files in the composer: dropped, pasted and chosen; shown, cited, removed; what fails loses nothing else."""

from __future__ import annotations

import base64
import re

import pytest
from playwright.sync_api import Browser, FilePayload, Locator, expect

from tests.page.test_access import violations, with_axe
from tests.support import made_files
from tests.support.page_world import PageWorld, Screen, screen, with_own_browser
from tests.support.scripted_model import Reply

pytestmark = with_own_browser(__name__)

PENALTY = "每逾期一日应向需方支付合同总价千分之三的违约金"
GIVE = """([type, name, kind, data]) => {
  const bytes = Uint8Array.from(atob(data), (each) => each.charCodeAt(0));
  const given = new DataTransfer();
  given.items.add(new File([bytes], name, { type: kind }));
  const target = document.getElementById("question");
  const options = { bubbles: true, cancelable: true };
  const event = type === "paste"
    ? new ClipboardEvent("paste", { ...options, clipboardData: given })
    : new DragEvent("drop", { ...options, dataTransfer: given });
  target.dispatchEvent(event);
  return event.defaultPrevented;
}"""


def give(page: Screen, how: str, name: str, data: bytes, kind: str = "text/plain") -> None:
    assert page.page.evaluate(GIVE, [how, name, kind, base64.b64encode(data).decode()])


def chip(page: Screen, name: str) -> Locator:
    return page(".files .file").filter(has_text=name)


@with_axe
@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_a_contract_is_dropped_asked_about_and_removed(chromium: Browser, phone: bool) -> None:
    script = Reply.text(f"{PENALTY} [1]。"), Reply.text("好的。")
    with PageWorld(*script) as world, screen(chromium, world, phone=phone) as page:
        page("#question").fill("合同里逾期交货的违约金是多少？")
        give(page, "drop", "采购合同.pdf", made_files.contract(), "application/pdf")
        expect(chip(page, "采购合同.pdf")).to_contain_text("9 页")
        give(page, "drop", "锁.pdf", made_files.pdf("x", encrypted=True), "application/pdf")
        expect(chip(page, "锁.pdf").get_by_role("alert")).to_contain_text("有密码保护")
        assert violations(page) == []
        # Nothing of the message is lost.
        expect(page("#question")).to_have_value("合同里逾期交货的违约金是多少？")
        page.page.get_by_role("button", name="移除 锁.pdf").press("Enter")
        expect(page(".files .file")).to_have_count(1)
        page.page.get_by_role("button", name="发送").click()
        turn = page("article.turn").first
        cite = turn.locator("a.cite")
        expect(cite).to_have_attribute("aria-label", "引用 1 · 采购合同.pdf，第 7 页 · 来源支持")
        if phone:
            cite.tap()
        else:
            cite.click()
        card = page("#cite-card")
        expect(card).to_contain_text("采购合同.pdf，第 7 页")
        expect(card.locator("blockquote")).to_contain_text("千分之三")
        expect(card.get_by_role("link")).to_have_count(0)
        expect(card).not_to_contain_text("网页")
        page.page.keyboard.press("Escape")
        source = page.open_source(1, turn)
        expect(source).to_contain_text("第 7 页")
        expect(source.locator("blockquote")).to_contain_text("千分之三")
        expect(source.get_by_role("link")).to_have_count(0)
        assert violations(page) == []
        page.close_source()
        expect(turn.locator(".reference").first).to_have_text("[1]采购合同.pdf，第 7 页")
        # It is still there after a reload, takes part in the next question, and can be removed.
        page.page.reload()
        expect(chip(page, "采购合同.pdf")).to_contain_text("9 页")
        page.page.get_by_role("button", name="移除 采购合同.pdf").click()
        expect(page(".files")).to_have_count(0)
        page.ask("谢谢，再说一遍违约金？")
        assert "千分之三" not in str(world.model.requests[-1].messages[-1]["content"])


def test_pasted_and_chosen_by_keyboard(chromium: Browser) -> None:
    with PageWorld(Reply.text("It is 47 metres tall [1].")) as world, screen(chromium, world) as page:
        give(page, "paste", "lighthouse.txt", b"Larkfield Lighthouse is 47 metres tall.")
        expect(chip(page, "lighthouse.txt")).to_have_class("file ready")
        clip = page.page.get_by_role("button", name="添加文件")
        boxes = [button.bounding_box() for button in (clip, page(".research-toggle").first, page(".round-button"))]
        assert len({box and box["y"] + box["height"] / 2 for box in boxes}) == 1, "they stand on one line"
        with page.page.expect_file_chooser() as chooser:
            clip.press("Enter")
        large = FilePayload(name="large.txt", mimeType="text/plain", buffer=b"a" * (10 * 1024**2 + 1))
        script = FilePayload(name="<img src=x onerror=alert(1)>.txt", mimeType="text/plain", buffer=b"x")
        broken = FilePayload(name="broken.pdf", mimeType="application/pdf", buffer=b"no pdf")
        chooser.value.set_files([large, script, broken])
        expect(page(".file.failed").filter(has_text="broken.pdf")).to_have_text(re.compile(r"^broken\.pdf 已损坏"))
        expect(chip(page, "large.txt").get_by_role("alert")).to_contain_text("超过 10 MB")
        expect(chip(page, "onerror").get_by_role("alert")).to_contain_text("请重命名文件")
        assert page.page.locator(".files img").count() == 0
        # A question that is sent goes without those that failed.
        turn = page.ask("How tall is Larkfield Lighthouse?")
        expect(turn.locator(".answer")).to_contain_text("47 metres")
        expect(page(".files .file")).to_have_count(1)
        assert world.model.requests

"""People sign in, ask, are told when their time is over, and sign out: in a real browser, at an issuer on loopback."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from qiusuo.web.signin.routes import signin_extension
from tests.page.test_access import violations, with_axe
from tests.support.page_world import PageWorld, Screen, with_own_browser
from tests.support.scripted_model import Reply
from tests.support.sign_in_world import TOKENS, issuer_double

pytestmark = with_own_browser(__name__)


def end_sign_ins(world: PageWorld, page: Page) -> None:
    """End what this browser holds, as an operator's hand or time would."""
    [kept] = [each for each in page.context.cookies() if each["name"] == "qiusuo-session"]
    held = {"Cookie": f"qiusuo-session={kept['value']}"}
    assert world.server.client.post("/signout", headers=held).status_code == 200


@with_axe
def test_the_whole_way(chromium: Browser, tmp_path: Path) -> None:
    with issuer_double() as issuer:
        world = PageWorld(
            Reply.text("春茶在三月采摘。"),
            Reply.text("绿茶不发酵。"),
            store=tmp_path / "chat.db",
            extensions=[signin_extension],
            tokens=TOKENS,
            **issuer.settings,
        )
        with world, chromium.new_context(locale="zh-CN") as context:
            page = context.new_page()
            seen = Screen(page, world)
            page.goto(world.url)
            dialog = page.get_by_role("dialog")
            expect(dialog.get_by_role("button", name="登录")).to_be_focused()
            expect(dialog.get_by_label("访问令牌")).to_be_visible()
            assert violations(seen) == []
            dialog.get_by_role("button", name="登录").click()
            page.get_by_role("link", name="ann").click()
            expect(page.get_by_text("已登录：ann")).to_be_visible()
            expect(dialog).to_have_count(0)
            seen.ask("春茶何时采摘")
            expect(seen.turn).to_contain_text("三月")
            place = page.url

            end_sign_ins(world, page)
            seen.send("绿茶呢")
            expect(page.get_by_role("heading", name="登录已经结束")).to_be_visible()
            page.get_by_role("dialog").get_by_role("button", name="登录").click()
            page.get_by_role("link", name="ann").click()
            expect(seen.turn).to_contain_text("三月")
            assert page.url == place
            expect(page.locator("#question")).to_have_value("绿茶呢")
            page.locator("#question").press("Enter")
            expect(seen.turn).to_contain_text("不发酵")

            page.get_by_role("button", name="退出登录").click()
            expect(page.get_by_role("dialog").get_by_role("button", name="登录")).to_be_visible()
            assert len(issuer.ended) == 1
            assert page.get_by_text("春茶何时采摘").count() == 0

            page.goto(f"{world.url}/usage")
            expect(page.get_by_role("button", name="登录")).to_be_visible()
            assert seen.errors == []
            assert all(each.startswith(issuer.root) for each in seen.outside)


def test_where_there_are_no_tokens_none_is_asked_for(chromium: Browser) -> None:
    with issuer_double() as issuer, PageWorld(extensions=[signin_extension], **issuer.settings) as world:
        page = chromium.new_page(locale="en-GB")
        page.goto(world.url)
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        expect(page.get_by_label("Access token")).to_have_count(0)
        page.close()

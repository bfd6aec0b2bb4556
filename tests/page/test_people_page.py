"""People on the settings page: added with a token that is shown once, changed, replaced, revoked; and who did what."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.page.test_access import violations, with_axe
from tests.support.page_world import DESKTOP, with_own_browser
from tests.support.people_world import EVE, people_server
from tests.support.setup_world import SetupWorld, settings_screen

pytestmark = with_own_browser(__name__)


@with_axe
@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_people_are_added_changed_and_revoked(chromium: Browser, phone: bool) -> None:
    with SetupWorld() as world, settings_screen(chromium, world, phone=phone) as page:
        people = page("#people")
        people.get_by_role("button", name="添加成员").click()
        # The first one closes the server, so an operator's is proposed.
        expect(people.locator("select")).to_have_value("operator")
        people.get_by_label("名字").fill("ann")
        people.locator("form").get_by_role("button", name="添加成员").click()
        shown = people.locator(".card.changed code")
        expect(shown).to_be_visible()
        ann = shown.inner_text()
        assert world.server.client.get("/api/settings").status_code == 401
        # The page goes on with it.
        people.get_by_role("button", name="添加成员").click()
        people.get_by_label("名字").fill("ben")
        people.get_by_label("每月搜索").fill("20")
        people.get_by_label("只用这些引擎").fill("nowhere")
        people.locator("form").get_by_role("button", name="添加成员").click()
        expect(people.locator(".fault")).to_contain_text("没有名为 nowhere 的引擎")
        people.get_by_label("只用这些引擎").fill("searxng")
        people.locator("form").get_by_role("button", name="添加成员").click()
        expect(people.locator("li.card", has_text="ben")).to_contain_text("0 / 20")
        ben = shown.inner_text()
        people.get_by_role("button", name="编辑: ben").click()
        people.get_by_label("每月搜索").fill("")
        assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert violations(page) == []
        people.get_by_role("button", name="保存").click()
        expect(people.locator("li.card", has_text="ben")).not_to_contain_text("/ 20")
        people.get_by_role("button", name="编辑: ben").click()
        people.get_by_role("button", name="更换令牌: ben").click()
        people.get_by_role("button", name="更换令牌: ben").click()
        expect(shown).not_to_have_text(ben)
        people.get_by_role("button", name="编辑: ben").click()
        people.get_by_role("button", name="撤销: ben").click()
        people.get_by_role("button", name="撤销: ben").click()
        expect(people.locator("li.card", has_text="ben")).to_have_count(0)
        people.get_by_text("操作记录").click()
        expect(people.locator(".audit li").first).to_contain_text("撤销了 ben 的令牌")
        expect(people.locator(".audit li")).to_have_count(5)
        headers = {"Authorization": f"Bearer {ann}"}
        assert world.server.client.get("/api/settings", headers=headers).status_code == 200


def test_who_has_a_budget_sees_what_is_left(chromium: Browser, tmp_path: Path) -> None:
    with people_server(tmp_path / "chat.db") as it:
        token = it.post("/api/people", EVE, name="bob", searches=20, engines=["searxng"]).json()["secret"]
        assert it.search("tea", token).status_code == 200
        context = chromium.new_context(viewport=DESKTOP, locale="zh-CN")
        try:
            page = context.new_page()
            page.goto(it.server.url)
            page.locator("dialog.token input").fill(token)
            page.locator("dialog.token button[type=submit]").click()
            expect(page.locator(".budget")).to_have_text("本月还可搜索 19 次")
        finally:
            context.close()

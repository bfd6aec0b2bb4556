"""The settings page: what is set is changed in it, and nothing is lost or told to the wrong people."""

from __future__ import annotations

import json
import tomllib

import pytest
from playwright.sync_api import Browser, Dialog, expect

from qiusuo.kit.files import default_folder
from qiusuo.testing import Answer, Provider, ProviderServer, Seen
from qiusuo.testing.providers.searxng import Searxng
from qiusuo.testing.providers.tavily import Tavily
from tests.page.test_access import AXE, violations, with_axe
from tests.support.page_world import DESKTOP, Screen, with_own_browser
from tests.support.scripted_model import ScriptedModel
from tests.support.settings_world import config_path
from tests.support.setup_world import SettingsScreen, SetupWorld, settings_screen

pytestmark = with_own_browser(__name__)

KEY = "planted-key-0123456789"
OTHER = "planted-other-0123456789"
ENGINES = f'provider_priority = ["tavily", "brave", "searxng"]\n[engines.tavily]\napi_key = "{KEY}"\n'
ELSEWHERE = 'model_base_url = "http://127.0.0.1:9/v1"\n'
HOSTILE = "<img src=x onerror=\"document.title='taken'\">"


class NoSearxng(Provider):
    """Something else that answers at the address."""

    def authorized(self, seen: Seen) -> bool:  # noqa: ARG002 - open to all
        return True

    def answer(self, seen: Seen) -> Answer:  # noqa: ARG002 - to everything
        return Answer({"hello": "there"})


def written() -> dict[str, object]:
    return tomllib.loads(config_path().read_text("utf-8"))


def engines_in_order(page: SettingsScreen) -> list[str]:
    return page("ol.engines > li .engine-name b").all_text_contents()


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_a_key_is_written_and_never_read(chromium: Browser, phone: bool) -> None:
    with (
        SetupWorld(file=f'model = "deepseek:deepseek-chat"\nmodel_api_key = "{KEY}"\n{ELSEWHERE}') as world,
        settings_screen(chromium, world, phone=phone) as page,
    ):
        row = page("[data-name=model_api_key]")
        expect(row).to_contain_text("已设置（来自配置文件）")
        expect(page("#doctor .finding").first).to_be_visible()
        assert page.page.evaluate("document.scrollingElement.scrollHeight <= innerHeight"), "one part scrolls, not two"
        # Another provider has neither the address nor the key of the one before.
        page("[id='set-model_32provider']").select_option("openai")
        expect(page.field("model_base_url")).to_have_value("")
        expect(page.field("model_api_key")).to_be_visible()
        expect(row).to_contain_text("换了服务商，请填写它的密钥")
        page("[id='set-model_32provider']").select_option("deepseek")
        page.field("model").fill("deepseek-chat")
        expect(page.field("model_base_url")).to_have_value("http://127.0.0.1:9/v1")
        expect(row).to_contain_text("已设置（来自配置文件）")
        expect(page("#model .save-bar")).to_have_count(0)
        expect(page.field("model_api_key")).to_have_count(0)
        row.get_by_role("button", name="替换").click()
        expect(page.field("model_api_key")).to_be_focused()
        page.field("model_api_key").fill(OTHER)
        expect(row).to_contain_text("未保存")
        page.saved("model")
        assert written()["model_api_key"] == OTHER
        expect(row).to_contain_text("已设置（来自配置文件）")
        row.get_by_role("button", name="移除").click()
        expect(row).to_contain_text("保存后移除")
        page.saved("model")
        assert "model_api_key" not in written()
        expect(page.field("model_api_key")).to_be_visible()
        assert [key for key in (KEY, OTHER) if key in page.kept()] == []


def test_what_the_environment_says_cannot_be_changed_here(chromium: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIUSUO_MODEL", "deepseek:deepseek-chat")
    monkeypatch.setenv("DEEPSEEK_API_KEY", KEY)
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "searxng")
    with SetupWorld() as world, settings_screen(chromium, world) as page:
        expect(page.field("model")).to_be_disabled()
        expect(page.field("model")).to_have_value("deepseek-chat")
        expect(page("#model")).to_contain_text("由环境变量 QIUSUO_MODEL 设定，不能在这里更改")
        expect(page("#model")).to_contain_text("已设置（来自环境变量 DEEPSEEK_API_KEY）")
        expect(page("#engines")).to_contain_text("由环境变量 SEARCH_PROVIDER_PRIORITY 设定")
        expect(page("#engines .switch:not(:disabled)")).to_have_count(0)
        expect(page("#engines .handle")).to_have_count(0)
        assert KEY not in page.kept()


def test_a_whole_edit_by_keyboard_alone(chromium: Browser) -> None:
    with SetupWorld(file=ENGINES) as world, settings_screen(chromium, world) as page:
        keys = page.page.keyboard

        def tab_to(selector: str) -> None:
            for _ in range(80):
                keys.press("Tab")
                if page.page.evaluate("(wanted) => document.activeElement.matches(wanted)", selector):
                    return
            raise AssertionError(f"{selector} is not reached by Tab")

        tab_to(".skip")
        keys.press("Enter")
        tab_to("#set-model_32provider")
        keys.type("DeepSeek")
        tab_to("#set-model")
        keys.type("deepseek-chat")
        tab_to("#set-model_api_key")
        keys.type(KEY)
        keys.press("Enter")
        expect(page("#model .save-bar")).to_have_count(0)
        assert (written()["model"], written()["model_api_key"]) == ("deepseek:deepseek-chat", KEY)
        # Why one that is wanted cannot be asked stands beside it.
        expect(page("#engines .engine").filter(has_text="Brave Search")).to_contain_text("BRAVE_API_KEY")
        # The order: the handle keeps the focus, and each step is told.
        assert engines_in_order(page) == ["Tavily", "Brave Search", "SearXNG"]
        tab_to(".handle")
        keys.press("ArrowDown")
        expect(page("#said")).to_have_text("Tavily 现在是第 2 位，共 3 位")
        keys.press("ArrowDown")
        expect(page("#said")).to_have_text("Tavily 现在是第 3 位，共 3 位")
        assert engines_in_order(page) == ["Brave Search", "SearXNG", "Tavily"]
        assert "Tavily" in str(page.page.evaluate("document.activeElement.getAttribute('aria-label')"))
        tab_to("#engines .save-bar .primary")
        keys.press("Enter")
        expect(page("#engines .save-bar")).to_have_count(0)
        assert written()["provider_priority"] == ["brave", "searxng", "tavily"]


def test_the_order_is_dragged_and_engines_are_turned_off(chromium: Browser) -> None:
    with SetupWorld(file=ENGINES) as world, settings_screen(chromium, world) as page:
        page("#engines").scroll_into_view_if_needed()
        first, last = page("ol.engines .handle").first.bounding_box(), page("ol.engines .handle").last.bounding_box()
        assert first is not None
        assert last is not None
        mouse = page.page.mouse
        mouse.move(first["x"] + 8, first["y"] + 8)
        mouse.down()
        mouse.move(first["x"] + 8, (first["y"] + last["y"]) / 2, steps=3)
        mouse.move(last["x"] + 8, last["y"] + 8, steps=3)
        mouse.up()
        assert engines_in_order(page) == ["Brave Search", "SearXNG", "Tavily"]
        page.page.get_by_role("switch", name="Brave Search").click()
        assert engines_in_order(page) == ["SearXNG", "Tavily"]
        page.saved("engines")
        assert written()["provider_priority"] == ["searxng", "tavily"]
        assert [one["name"] for one in world.server.client.get("/api/chat/config").json()["engines"]][:2] == [
            "searxng",
            "tavily",
        ]


def test_what_is_wrong_stands_beside_its_field(chromium: Browser) -> None:
    with SetupWorld(file=ENGINES) as world, settings_screen(chromium, world) as page:
        card = page("#engines .engine").filter(has_text="Tavily")
        quota = page.field("engines.tavily.monthly_quota")
        card.locator("summary").click()
        quota.fill("soon")
        card.locator("summary").click()
        page.save("engines")
        expect(quota).to_be_focused()
        expect(quota).to_have_attribute("aria-invalid", "true")
        wrong = quota.get_attribute("aria-describedby") or ""
        assert page(f"#{wrong.split()[0]}").text_content()
        assert written() == tomllib.loads(ENGINES), "nothing is saved"
        quota.fill("1000")
        expect(quota).not_to_have_attribute("aria-invalid", "true")
        page.saved("engines")
        assert written()["engines"] == {"tavily": {"api_key": KEY, "monthly_quota": 1000}}


def test_two_browsers_lose_nothing(chromium: Browser) -> None:
    with (
        SetupWorld(file='searxng_url = "http://127.0.0.1:1"\n') as world,
        settings_screen(chromium, world) as one,
        settings_screen(chromium, world) as other,
    ):
        # Different settings merge.
        one.field("log_queries").click()
        one.field("retention_days").fill("30")
        one.saved("privacy")
        expect(one(".toast").first).to_contain_text("在日志中记录搜索内容 在重启后生效")
        assert written()["retention_days"] == 30
        other.field("searxng_url").fill("http://127.0.0.1:2")
        expect(other("#searxng .finding")).to_contain_text("127.0.0.1:1 拒绝连接")
        other.saved("searxng")
        expect(other("#searxng .finding")).to_contain_text("127.0.0.1:2 拒绝连接")
        expect(other(".findings.old")).to_have_count(0)
        expect(other("#searxng .finding p:has(a.to-field) code")).to_have_text("http://localhost:8080")
        assert (written()["log_queries"], written()["searxng_url"]) == (True, "http://127.0.0.1:2")
        # The same one: what is typed stays, what the other has saved is told.
        one.field("searxng_url").fill("http://127.0.0.1:3")
        one.save("searxng")
        fault = one("[data-name=searxng_url] .fault")
        expect(fault).to_contain_text("另一个浏览器刚刚改过同样的设置")
        expect(fault).to_contain_text("地址：http://127.0.0.1:2")
        expect(one("#searxng .fault")).to_have_count(1)
        expect(one.field("searxng_url")).to_have_value("http://127.0.0.1:3")
        assert written()["searxng_url"] == "http://127.0.0.1:2"
        one.saved("searxng")
        assert written()["searxng_url"] == "http://127.0.0.1:3"


def test_leaving_with_something_unsaved_asks(chromium: Browser) -> None:
    with SetupWorld() as world, settings_screen(chromium, world) as page:
        asked: list[str] = []

        def stay(dialog: Dialog) -> None:
            asked.append(dialog.type)
            dialog.dismiss()

        # What the page can set is set in it, not in a shell.
        expect(page("#searxng a.to-field")).to_have_text("在设置中填写：SearXNG · 地址")
        page("#doctor a.to-field").filter(has_text="模型").click()
        expect(page("[id='set-model_32provider']")).to_be_focused()
        page.field("searxng_url").press_sequentially("http://a")
        page.page.once("dialog", stay)
        page.page.get_by_role("link", name="返回对话").click()
        expect(page.field("searxng_url")).to_have_value("http://a")
        assert asked == ["beforeunload"]
        page("#searxng").get_by_role("button", name="放弃更改").click()
        page.page.get_by_role("link", name="返回对话").click()
        expect(page("#question")).to_be_visible()


def test_who_does_not_run_the_server_sees_nothing_of_it(chromium: Browser) -> None:
    tokens = ["anna:tok-anna-0123456789:operator", "ben:tok-ben-0123456789"]
    with SetupWorld(file=ENGINES, tokens=tokens) as world:
        context = chromium.new_context(viewport=DESKTOP, locale="zh-CN")
        page = Screen(context.new_page(), world)

        def enter(token: str) -> None:
            dialog = page.page.get_by_role("dialog", name="访问令牌")
            dialog.get_by_label("访问令牌").fill(token)
            dialog.get_by_role("button", name="进入").click()
            expect(dialog).to_have_count(0)

        page.page.goto(world.url + "/settings")
        enter("tok-ben-0123456789")
        expect(page("main")).to_contain_text("只有管理这台服务器的人可以更改设置")
        expect(page("main")).to_contain_text("name:token:operator")
        assert "本机" not in page("main").inner_text()
        assert page("main").inner_text().count("operator") == 1, "it is said once"
        expect(page("#model, #engines, #doctor, form")).to_have_count(0)
        assert str(config_path()) not in page.page.content()
        if AXE.is_file():
            assert violations(page) == []
        page.page.goto(world.url)
        expect(page(".setup")).to_be_visible()
        expect(page(".setup input, .setup a[href='/settings'], .preferences a[href='/settings']")).to_have_count(0)
        expect(page(".preferences").get_by_role("link", name="我的用量")).to_have_attribute("href", "/usage")
        expect(page(".preferences a[href='/board']")).to_have_count(0)
        page.page.evaluate("sessionStorage.clear()")
        page.page.goto(world.url + "/settings")
        enter("tok-anna-0123456789")
        expect(page("#model")).to_be_visible()
        expect(page(".side").get_by_role("link", name="看板")).to_be_visible()
        page.page.goto(world.url)
        expect(page(".preferences a[href='/settings']")).to_be_visible()
        expect(page(".preferences").get_by_role("link", name="看板")).to_be_visible()
        assert page.outside == []
        context.close()


def test_hostile_values_are_shown_as_text(chromium: Browser) -> None:
    file = f"model = {json.dumps(HOSTILE)}\n[models.x]\nmodel = {json.dumps(HOSTILE)}\n"
    with SetupWorld(file=file) as world, settings_screen(chromium, world) as page:
        expect(page.field("model")).to_have_value(HOSTILE)
        expect(page("#model summary .state")).to_have_text(HOSTILE)
        page.field("searxng_url").fill(f"http://{HOSTILE}")
        page.save("searxng")
        expect(page("#searxng .wrong")).to_contain_text("应以 http:// 或 https:// 开头")
        page("#searxng").get_by_role("button", name="测试").click()
        expect(page("#searxng .tried")).to_contain_text("地址：应以 http:// 或 https:// 开头")
        assert [word for word in ("base_url", "没有保存", "^http") if word in page("#searxng").inner_text()] == []
        page("#searxng").get_by_role("button", name="放弃更改").click()
        page.page.goto(world.url)
        expect(page(".setup")).to_contain_text(HOSTILE)
        assert page.page.title() != "taken"


@with_axe
@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_axe_finds_nothing(chromium: Browser, phone: bool) -> None:
    file = ENGINES + '[models.cheap]\nmodel = "ollama:qwen3"\n'
    with SetupWorld(file=file) as world, settings_screen(chromium, world, phone=phone) as page:
        expect(page("#packs .card").first).to_contain_text("未安装")
        expect(page(".side a[href='#packs']")).to_be_visible()
        page.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        page.field("engines.tavily.monthly_quota").fill("soon")
        page.save("engines")
        expect(page("#engines .wrong")).to_be_visible()
        page.field("searxng_url").fill("http://127.0.0.1:2")
        for theme in ("浅色", "深色"):
            page.page.get_by_label(theme).check(force=True)
            page("#searxng .save-bar .primary").hover()
            assert violations(page) == [], theme
        # In another language nothing that was typed is lost.
        page.page.get_by_label("English").check(force=True)
        expect(page("h1")).to_have_text("Settings")
        expect(page("#doctor .card, #doctor .good").first).to_be_visible()
        expect(page.field("searxng_url")).to_have_value("http://127.0.0.1:2")


def test_a_test_tells_its_outcome_and_a_further_model_stands_in(
    chromium: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedModel(models=("gpt-a", "gpt-b"), key=KEY) as openai:
        monkeypatch.setenv("OPENAI_BASE_URL", openai.base_url)
        with SetupWorld() as world, settings_screen(chromium, world) as page:
            page("[id='set-model_32provider']").select_option("openai")
            page.field("model").fill("gpt-a")
            page.field("model_api_key").fill(OTHER)
            tests = page("[data-name=model_api_key]")
            tests.get_by_role("button", name="测试").click()
            expect(tests.locator(".tried")).to_contain_text("密钥被拒绝")
            page.field("model_api_key").fill(KEY)
            tests.get_by_role("button", name="测试").click()
            expect(tests.locator(".tried")).to_contain_text("可以使用")
            expect(page("#set-model-list option")).to_have_count(2)
            # Another one beside it, and the second choice among those.
            page("#new-model").fill("spare")
            page("#new-model").press("Enter")
            card = page("details.card").filter(has_text="spare")
            provider = page("[id='set-models_46spare_46model_32provider']")
            expect(provider).to_have_value("")
            expect(card.locator("input, .mark")).to_have_count(0)
            provider.select_option("ollama")
            for empty in ("model", "base_url", "context"):
                expect(page.field(f"models.spare.{empty}")).to_have_value("")
            page.field("models.spare.model").fill("qwen3")
            page.field("second_model").select_option("spare")
            page.saved("model")
            assert written() == {
                "model": "openai:gpt-a",
                "model_api_key": KEY,
                "second_model": "spare",
                "models": {"spare": {"model": "ollama:qwen3"}},
            }
            # What was saved is tried, so that nobody has to ask in vain to learn it.
            expect(tests.locator(".tried")).to_contain_text("可以使用")
            card.locator("summary").click()
            expect(card.locator("[data-name='models.spare.api_key'] .tried")).to_contain_text("无法连接")
            page.page.get_by_role("button", name="移除 spare").click()
            page.saved("model")
            assert written() == {"model": "openai:gpt-a", "model_api_key": KEY}
            assert [key for key in (KEY, OTHER) if key in page.kept()] == []


def test_the_doctor_finds_repairs_and_looks_again(chromium: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    with ProviderServer(Searxng()) as server:
        assert isinstance(server.provider, Searxng)
        server.provider.json_on = False
        monkeypatch.setenv("SEARXNG_URL", server.url)
        kit = default_folder().settings
        kit.parent.mkdir(parents=True)
        kit.write_text(f"use_default_settings: true\nserver:\n  port: {server.port}\nsearch:\n  formats: [html]\n")
        with SetupWorld() as world, settings_screen(chromium, world) as page:
            finding = page("#doctor .finding.problem")
            expect(finding).to_contain_text("没有开启 JSON 接口")
            expect(finding.locator(".command").first).to_be_visible()
            # It stands beside the address too.
            expect(page("#searxng .finding.problem")).to_contain_text("没有开启 JSON 接口")
            finding.get_by_role("button", name="修复").click()
            expect(finding).to_contain_text("仍不提供 JSON")
            expect(page("#doctor")).to_be_focused()
            assert "json" in kit.read_text()
            server.provider.json_on = True  # as after its restart
            page("#doctor").get_by_role("button", name="重新检查").click()
            expect(page("#doctor .finding.problem")).to_have_count(0)
            expect(page("#searxng .finding")).to_have_count(0)


def test_a_key_that_is_saved_is_used_at_once_in_an_open_chat(chromium: Browser) -> None:
    with ProviderServer(Tavily()) as tavily, ProviderServer(NoSearxng()) as other:
        file = f'searxng_url = "{other.url}"\n[engines.tavily]\nbase_url = "{tavily.base_url}"\n'
        with SetupWorld(file=file) as world, settings_screen(chromium, world) as page:
            finding = page("#searxng .finding")
            expect(finding).to_contain_text("不是 SearXNG")
            expect(finding.locator("a.to-field")).to_be_visible()
            assert [word for word in ("export", "SEARXNG_URL") if word in finding.inner_text()] == []
            chat = Screen(page.page.context.new_page(), world).open()
            page.page.bring_to_front()
            page(".off-engines > summary").click()
            page("#engines .engine").filter(has_text="Tavily").locator("summary").click()
            page.field("engines.tavily.api_key").fill(tavily.key)
            page.saved("engines")
            # The chat page in the other tab has heard of it.
            expect(chat(".facts")).to_contain_text("Tavily")
            assert tavily.key not in page.kept()

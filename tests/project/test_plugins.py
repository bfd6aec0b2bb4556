"""Plug-ins as packages of their own: the one of the docs shows everywhere, a broken one takes nothing down."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```(?:python|toml)\n(# (\S+)\n.*?)^```$", re.MULTILINE | re.DOTALL)

# Asks a server, an MCP server and a conversation without a model, all with what is installed.
SURFACES = """
import asyncio, json
from httpx import ASGITransport, AsyncClient
from qiusuo import SearchService
from qiusuo.chat.chat import Chat
from qiusuo.chat.models.opening import open_model
from qiusuo.chat.sessions.searches import KeptSearch, SessionCache
from qiusuo.chat.sessions.session import ChatSettings, Mode
from qiusuo.chat.turns.context import Ask
from qiusuo.tools.specs import offered, plugin_tools
from qiusuo.web.app import create_app

async def answered(chat, settings):
    turn = chat.turn(Ask("How hot for longjing?", settings))
    async for _ in turn.events():
        pass
    return turn.record.to_dict()

async def main():
    async with SearchService.from_settings() as service:
        chat = Chat(service, open_model(service.settings))
        response = await service.asearch("longjing", engine="tea")
        kept = SessionCache.from_dict(json.loads(json.dumps(SessionCache({"q": KeptSearch(response, 1.0)}).to_dict())))
        async with AsyncClient(transport=ASGITransport(create_app(service)), base_url="http://127.0.0.1") as client:
            route = (await client.get("/api/tea/puer")).json()
        return {
            "tools": [spec.name for spec in offered(plugin_tools(service))],
            "route": route["results"][0]["details"],
            "chat": await answered(chat, ChatSettings(search=True)),
            "agent": await answered(chat, ChatSettings(mode=Mode.AGENT)),
            "same": kept.get("q").response.results == response.results,
        }

print(json.dumps(asyncio.run(main())))
"""

pytestmark = pytest.mark.programs


def files_of(page: str) -> dict[str, str]:
    """The files that a page of the docs shows, by their paths."""
    return {path: text for text, path in _BLOCK.findall((ROOT / "docs" / page).read_text("utf-8"))}


def install(site: Path, files: dict[str, str], package: str = "qiusuo_tea") -> Path:
    """Lay a package out as an installer does: its files, and what its metadata say of entry points."""
    project = tomllib.loads(files["pyproject.toml"])["project"]
    for path, text in files.items():
        if path.startswith(f"{package}/"):
            (site / path).parent.mkdir(parents=True, exist_ok=True)
            (site / path).write_text(text, "utf-8")
    info = site / f"{package}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups))
    return site


def python(site: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))
    return subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path, "QIUSUO_LANG": "en", **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def qiusuo(site: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return python(site, "-m", "qiusuo", *arguments, **environment)


@pytest.fixture(scope="module")
def tea(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with the package of the docs in it."""
    return install(tmp_path_factory.mktemp("site"), files_of("plugins.md"))


def test_both_languages_show_the_same_package() -> None:
    assert files_of("plugins.md") == files_of("plugins.zh-CN.md")
    assert len(files_of("plugins.md")) == 6


class TestThePackageOfTheDocs:
    def test_its_command(self, tea: Path) -> None:
        assert qiusuo(tea, "tea", "longjing").stdout == "longjing: 80 °C\n"
        assert "泡茶的水温" in qiusuo(tea, "--help").stdout

    def test_its_engine_with_details(self, tea: Path) -> None:
        found = json.loads(qiusuo(tea, "search", "longjing", "--engine", "tea", "--json").stdout)
        [item] = found["results"]
        assert item["details"] == {"kind": "tea", "tea": "longjing", "celsius": 80}
        assert item["snippet"] == "Brew longjing at 80 °C."

    def test_its_check(self, tea: Path) -> None:
        findings = json.loads(qiusuo(tea, "doctor", "--json").stdout)["findings"]
        [told] = [finding for finding in findings if finding["code"] == "tea.ok"]
        assert told["what"] == "2 teas are known"

    def test_its_tool_route_recogniser_and_cards(self, tea: Path) -> None:
        done = python(tea, "-c", SURFACES)
        assert done.returncode == 0, done.stderr
        seen: dict[str, Any] = json.loads(done.stdout)
        assert "brewTea" in seen["tools"]
        assert seen["route"] == {"kind": "tea", "tea": "puer", "celsius": 100}
        assert seen["same"], "details come back from a store as what they were"
        for mode, tool in (("chat", "web_search"), ("agent", "brewTea")):
            turn = seen[mode]
            assert [each["kind"] for each in turn["rounds"]] == [tool]
            assert turn["answer"].startswith("longjing：Brew longjing at 80 °C.")
            [source] = turn["sources"]
            assert source["card"]["facts"][0]["value"] == "80 °C"


class TestBroken:
    PROJECT = """
[project]
name = "qiusuo-broken"
version = "1.0"

[project.entry-points."qiusuo.plugins"]
broken = "qiusuo_broken:plugin"
"""

    IMPORT = "from qiusuo.plugins import Plugin\n"

    def put(self, site: Path, source: str) -> Path:
        files = {"pyproject.toml": self.PROJECT, "qiusuo_broken/__init__.py": source}
        return install(site, files, "qiusuo_broken")

    @pytest.mark.parametrize(
        ("source", "told"),
        [
            ("1 / 0", "ZeroDivisionError"),
            ("plugin = 'no plug-in at all'", "it is no Plugin"),
            (f"{IMPORT}plugin = Plugin('broken', commands={{'x': 'qiusuo_broken.gone:x'}})", "no such module"),
            (f"{IMPORT}plugin = Plugin('broken', checks={{'x': 'qiusuo_broken:nothing'}})", "AttributeError"),
            (f"{IMPORT}plugin = Plugin('broken', checks={{'x': 42}})", "neither a function nor a class"),
            (f"{IMPORT}plugin = Plugin('broken', engines=('qiusuo_broken:x'))", "engines wants a tuple"),
            ("import sys\nsys.exit(7)", "SystemExit: 7"),
        ],
    )
    def test_it_is_left_out_and_told_of(self, tmp_path: Path, source: str, told: str) -> None:
        site = self.put(tmp_path, source)
        listed = qiusuo(site, "engines", "--json")
        assert listed.returncode == 0
        assert "laws" in {engine["name"] for engine in json.loads(listed.stdout)["engines"]}
        assert "Traceback" not in listed.stderr
        seen = python(site, "-c", "from qiusuo import plugins; print(*(one.reason for one in plugins.broken()))")
        assert told in seen.stdout

    def test_the_doctor_names_it(self, tmp_path: Path) -> None:
        findings = json.loads(qiusuo(self.put(tmp_path, "1 / 0"), "doctor", "--json").stdout)["findings"]
        [told] = [finding["what"] for finding in findings if finding["code"] == "plugin.failed"]
        assert "qiusuo_broken:plugin of the plug-in broken cannot be loaded: ZeroDivisionError" in told

    ENGINE = (
        "from qiusuo import SearchEngine\nclass E(SearchEngine):\n    name = 'brew'\n{line}"
        "    async def search(self, query, num_results):\n        return []\n"
    )

    @pytest.mark.parametrize(
        ("line", "code", "told"),
        [
            ("    priority = 'high'\n", "plugin.engine_attribute", "priority should be int, not 'high'"),
            ("    name = 'ddgs'\n", "plugin.engine_taken", "(package qiusuo-broken) is named ddgs"),
            (
                "    async def other(self): ...\n    other.__isabstractmethod__ = True\n",
                "plugin.failed",
                "methods: other",
            ),
        ],
    )
    def test_an_engine_that_cannot_be_used_is_left_out_and_told_of(
        self, tmp_path: Path, line: str, code: str, told: str
    ) -> None:
        source = f"{self.IMPORT}{self.ENGINE.format(line=line)}plugin = Plugin('broken', engines=(E,))"
        done = qiusuo(self.put(tmp_path, source), "doctor", "--json")
        [found] = [finding for finding in json.loads(done.stdout)["findings"] if finding["code"] == code]
        assert told in found["what"]
        assert found["values"]["name"] == "broken"
        assert done.stderr.count("left out") == 1
        assert "Traceback" not in done.stderr

    @pytest.mark.parametrize("language", ["zh", "en"])
    def test_a_command_that_cannot_be_loaded_says_so(self, tmp_path: Path, language: str) -> None:
        source = f"{self.IMPORT}plugin = Plugin('broken', commands={{'brew': 'qiusuo_broken.command:brew'}})"
        site = self.put(tmp_path, source)
        (site / "qiusuo_broken" / "command.py").write_text("\n1 / 0\n", "utf-8")
        told = qiusuo(site, "brew", "--hot", "x", QIUSUO_LANG=language)
        reason = "ZeroDivisionError: division by zero (command.py:2)"
        words = {"zh": f"无法加载：{reason}", "en": f"cannot be loaded: {reason}"}
        assert (told.returncode, words[language] in told.stderr, "Traceback" in told.stderr) == (3, True, False)
        assert "$ " in told.stderr, "the command that tells more"
        assert "brew" in qiusuo(site, "--help").stdout

    def test_what_fails_is_told_in_a_line_and_in_full_where_that_is_wanted(self, tmp_path: Path) -> None:
        source = f"{self.IMPORT}def check(context):\n    return 1 / 0\nplugin = Plugin('broken', checks={{'x': check}})"
        site = self.put(tmp_path, source)
        told = qiusuo(site, "doctor").stderr
        assert "ZeroDivisionError: division by zero (__init__.py:3)" in told
        assert "Traceback" not in told
        assert "Traceback" in qiusuo(site, "--verbose", "doctor").stderr

    def test_names_that_two_bring_are_told_and_the_first_has_them(self, tmp_path: Path) -> None:
        source = (
            f"{self.IMPORT}async def check(context):\n    raise ValueError(__name__)\n"
            "plugin = Plugin(__name__, commands={'brew': print}, checks={'x': check})"
        )
        site = self.put(tmp_path, source)
        other = {"pyproject.toml": self.PROJECT.replace("broken", "other"), "qiusuo_other/__init__.py": source}
        install(site, other, "qiusuo_other")
        findings = json.loads(qiusuo(site, "doctor", "--json").stdout)["findings"]
        told = {
            found["values"]["name"]: found["values"]["plugins"] for found in findings if found["code"] == "plugin.clash"
        }
        assert set(told) == {"qiusuo brew", "x"}
        assert set(told["x"]) == {"qiusuo_broken", "qiusuo_other"}
        assert [found["values"]["name"] for found in findings if found["code"] == "check.failed"] == ["x"]

    @pytest.mark.parametrize("returned", ["None", "['all good']", "42"])
    def test_a_check_that_returns_nonsense_hides_no_other_finding(self, tmp_path: Path, returned: str) -> None:
        check = f"async def check(context):\n    return {returned}\n"
        source = f"{self.IMPORT}{check}plugin = Plugin('broken', checks={{'x': check}})"
        findings = json.loads(qiusuo(self.put(tmp_path, source), "doctor", "--json").stdout)["findings"]
        assert len(findings) > 3
        assert [found["values"]["name"] for found in findings if found["code"] == "check.failed"] == ["x"]

    def test_commands_routes_and_tools_that_cannot_be_loaded_are_found_by_the_doctor(self, tmp_path: Path) -> None:
        part = "'qiusuo_broken.parts:x'"
        parts = f"commands={{'brew': {part}}}, routes=({part},), tools=({part},)"
        site = self.put(tmp_path, f"{self.IMPORT}plugin = Plugin('broken', {parts})")
        (site / "qiusuo_broken" / "parts.py").write_text("1 / 0", "utf-8")
        findings = json.loads(qiusuo(site, "doctor", "--json").stdout)["findings"]
        assert [found["values"]["part"] for found in findings if found["code"] == "plugin.failed"] == [
            "qiusuo_broken.parts:x"
        ]

    def test_tools_and_routes_that_cannot_be_made_are_found_by_the_doctor_and_told_in_a_line(
        self, tmp_path: Path
    ) -> None:
        source = (
            f"{self.IMPORT}def tools(service):\n    return 7\n"
            "def routers(backend):\n    return 'router'\n"
            "def more(service):\n    return 1 / 0\n"
            "plugin = Plugin('broken', routes=(routers,), tools=('qiusuo_broken:tools', more))"
        )
        site = self.put(tmp_path, source)
        done = qiusuo(site, "doctor", "--json")
        findings = json.loads(done.stdout)["findings"]
        told = {one["values"]["part"]: one["what"] for one in findings if one["code"] == "plugin.failed"}
        assert set(told) == {"qiusuo_broken:tools", "qiusuo_broken:more", "qiusuo_broken:routers"}
        assert "it returned 7 where list[ToolSpec] is wanted" in told["qiusuo_broken:tools"]
        assert "ZeroDivisionError: division by zero (__init__.py:7)" in told["qiusuo_broken:more"]
        assert "it returned 'router' where list[APIRouter] is wanted" in told["qiusuo_broken:routers"]
        assert "Traceback" not in done.stderr
        assert "Traceback" in qiusuo(site, "--verbose", "doctor").stderr

    def test_routes_and_tools_that_are_none_are_left_out_and_ours_stay(self, tmp_path: Path) -> None:
        source = (
            f"{self.IMPORT}def routes(backend):\n    return [42]\n"
            "def tools(service):\n    return [42]\n"
            "def stolen(service):\n"
            "    from qiusuo.pages import PageReader\n"
            "    from qiusuo.tools.specs import Toolbox\n"
            "    return [Toolbox(service, PageReader()).specs['web_search']]\n"
            "plugin = Plugin('broken', routes=(routes,), tools=(tools, stolen))"
        )
        code = (
            "from qiusuo import SearchService\n"
            "from qiusuo.tools.specs import plugin_tools\n"
            "from qiusuo.web.app import create_app\n"
            "service = SearchService()\n"
            "create_app(service)\n"
            "print(*(tool.name for tool in plugin_tools(service)))"
        )
        done = python(self.put(tmp_path, source), "-c", code)
        assert (done.returncode, "web_search" in done.stdout) == (0, False), done.stderr
        assert "'broken' brings 'web_search'" in done.stderr

    @pytest.mark.parametrize(
        ("name", "words", "told"),
        [
            ("broken.toml", "[[[", "line 1"),
            ("broken.toml", '[one]\nen = "One"', "broken.one: zh.what is missing"),
            ("broken.toml", '[one]\nen = "{count}"\nzh = "{number}"', "other values"),
            ("broken.toml", '[one]\nen = "{"\nzh = "一"', "broken.one: "),
            ("broken.toml", 'one = "One"', "broken.one: has no words"),
            ("query.toml", '[one]\nen = "One"\nzh = "一"', "query is a name of somebody else's words"),
        ],
    )
    def test_words_that_are_wrong_are_found_by_the_doctor(
        self, tmp_path: Path, name: str, words: str, told: str
    ) -> None:
        site = self.put(tmp_path, f"{self.IMPORT}plugin = Plugin('broken')")
        (site / "qiusuo_broken" / "words").mkdir()
        (site / "qiusuo_broken" / "words" / name).write_text(words, "utf-8")
        findings = json.loads(qiusuo(site, "doctor", "--json").stdout)["findings"]
        (found,) = (found["values"] for found in findings if found["code"] == "plugin.words")
        assert found["file"].endswith(name)
        assert told in found["message"]

    def test_it_cannot_take_the_place_of_a_command_of_ours(self, tmp_path: Path) -> None:
        source = (
            "from qiusuo.plugins import Plugin\n"
            "def token():\n    print('stolen')\n"
            "plugin = Plugin('broken', commands={'token': token})"
        )
        assert "stolen" not in qiusuo(self.put(tmp_path, source), "token").stdout

"""The doctor as a person meets it: the command, its words, and the look at an address."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import qiusuo
from qiusuo.cli.app import app
from qiusuo.doctor import Finding, Level, worst_level
from qiusuo.doctor.findings import anchor
from qiusuo.doctor.wire import Reach, reach
from qiusuo.testing import ProviderServer
from qiusuo.testing.providers.searxng import Searxng
from qiusuo.words.catalogue import entry

DOCS = Path(__file__).parents[2] / "docs"


def found_by_the_doctor() -> set[str]:
    """Every code that a check may find, read off the files of the doctor and of the faults of SearXNG."""
    root = Path(qiusuo.__file__).parent
    files = [*(root / "doctor").glob("*.py"), root / "kit" / "commands.py", root / "engines" / "searxng_faults.py"]
    text = "\n".join(file.read_text("utf-8") for file in files)
    named, codes = set(re.findall(r'Finding\(\s*"(\w+\.\w+)"', text)), set(re.findall(r'"(\w+\.\w+)"', text))
    prefixes = {"searxng", "search", "provider", "redis", "chrome", "legal", "database", "model", "settings", "files"}
    return named | {code for code in codes if code.partition(".")[0] in {*prefixes, "clock", "check"} and entry(code)}


pytestmark = pytest.mark.usefixtures("own_data_folder")


class TestCommand:
    def run(self, *arguments: str) -> tuple[int, Any]:
        result = CliRunner().invoke(app, ["doctor", *arguments])
        return result.exit_code, json.loads(result.stdout) if "--json" in arguments else result.output

    def test_exit_codes_and_json(self, monkeypatch: pytest.MonkeyPatch, server: ProviderServer) -> None:
        provider = server.provider
        assert isinstance(provider, Searxng)
        monkeypatch.setenv("SEARXNG_URL", server.url)
        code, data = self.run("--json")
        assert (code, data["level"] in {"ok", "note"}, data["exitCode"]) == (0, True, 0)
        monkeypatch.setenv("SEARCH_TIMEOUT", "soon")
        code, data = self.run("--json")
        assert (code, data["level"], data["exitCode"]) == (0, "warning", 0), "it works"
        provider.json_on = False
        code, data = self.run("--json")
        assert (code, data["level"]) == (3, "problem")
        (finding,) = [one for one in data["findings"] if one["level"] == "problem"]
        assert finding.keys() == {
            "check",
            "code",
            "values",
            "level",
            "what",
            "why",
            "fix",
            "commands",
            "guide",
            "docsUrl",
        }
        assert finding["guide"] == "docs/troubleshooting.md#searxng-json-off"
        assert finding["docsUrl"].startswith("https://docs.searxng.org/")
        assert self.run("--settings-file", "/nowhere/settings.yml")[0] == 2

    def test_text_in_both_languages(self, monkeypatch: pytest.MonkeyPatch, server: ProviderServer) -> None:
        provider = server.provider
        assert isinstance(provider, Searxng)
        provider.json_on = False
        monkeypatch.setenv("SEARXNG_URL", server.url)
        assert "its JSON API is off (HTTP 403)" in self.run()[1]
        monkeypatch.setenv("QIUSUO_LANG", "zh")
        code, output = self.run()
        assert code == 3
        assert "没有开启 JSON 接口" in output
        assert "$ qiusuo doctor --fix\n" in output
        assert "docs/troubleshooting.zh-CN.md#searxng-json-off" in output
        monkeypatch.delenv("QIUSUO_LANG")
        monkeypatch.setenv("LC_ALL", "zh_TW.UTF-8")
        output = self.run()[1]
        assert "沒有開啟 JSON 介面" in output
        assert "docs/troubleshooting.zh-CN.md#searxng-json-off" in output

    def test_fix(self, monkeypatch: pytest.MonkeyPatch, server: ProviderServer, tmp_path: Path) -> None:
        provider = server.provider
        assert isinstance(provider, Searxng)
        monkeypatch.setenv("SEARXNG_URL", server.url)
        assert "nothing that can be repaired" in self.run("--fix")[1]
        provider.json_on = False
        assert self.run("--fix")[0] == 2  # which file?
        file = tmp_path / "settings.yml"
        file.write_text("use_default_settings: true\nsearch:\n  formats: [html]\n")
        code, output = self.run("--fix", "--settings-file", str(file))
        assert code == 3  # it is not green before the restart
        assert "backup" in output
        assert file.read_text() == 'use_default_settings: true\nsearch:\n  formats: ["html", "json"]\n'
        (backup,) = tmp_path.glob("settings.yml.*.bak")
        assert "formats: [html]" in backup.read_text()


class TestWords:
    @pytest.mark.parametrize("page", ["troubleshooting.md", "troubleshooting.zh-CN.md"])
    def test_the_guide_treats_every_cause(self, page: str) -> None:
        text = (DOCS / page).read_text()
        silent = {
            "searxng.ok", "searxng.ready", "searxng.none", "searxng.some_silent", "searxng.old", "search.ok",
            "provider.ok", "provider.usage", "provider.not_probed", "provider.keyless", "redis.ok", "chrome.ok",
            "legal.ok", "legal.none", "database.ok", "signin.ok", "model.ok", "model.none", "model.not_asked",
            "model.others",
            "model.room_assumed",
            # Clauses of other findings.
            "searxng.and_more", "searxng.or_failed", "searxng.in_english", "searxng.in_chinese",
            "provider.late", "redis.silent",
            "database.late", "check.late", "search.engine_broke", "search.late", "search.late_here",
        }  # fmt: skip
        causes = found_by_the_doctor()
        assert len(causes) > 50
        wanted = [f'### <a id="{anchor(code)}"></a>' for code in sorted(causes - silent)]
        missing = [heading for heading in wanted if heading.removeprefix("### ") not in text]
        assert missing == [], f"docs/{page} wants these headings, each with a title behind it"

    def test_the_worst_level(self) -> None:
        assert worst_level([]) is Level.OK
        assert (
            worst_level([Finding("redis.failed", Level.WARNING), Finding("search.off", Level.PROBLEM)]) is Level.PROBLEM
        )


class TestReach:
    @pytest.mark.parametrize(
        ("error", "expected"),
        [
            (ConnectionRefusedError(111, "Connection refused"), Reach.REFUSED),
            (OSError("Multiple exceptions: [Errno 111] Connect call failed ('::1', 1), [Errno 111] …"), Reach.REFUSED),
            (OSError("Multiple exceptions: [Errno 99] Cannot assign, [Errno 111] Connect call failed"), Reach.REFUSED),
            (OSError(113, "No route to host"), Reach.UNREACHABLE),
            (TimeoutError(), Reach.UNREACHABLE),
            (socket.gaierror(-2, "Name or service not known"), Reach.DNS),
        ],
    )
    async def test_errors_of_the_network_are_told_apart(
        self, monkeypatch: pytest.MonkeyPatch, error: OSError, expected: Reach
    ) -> None:
        def fail(*_: object) -> None:
            raise error

        monkeypatch.setattr(socket, "create_connection", fail)
        assert await reach("http://host:1") is expected

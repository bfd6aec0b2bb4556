"""The command line as people and scripts run it: real processes against loopback providers."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qiusuo.cli.exits import Exit
from qiusuo.testing import Answer, Fault, ProviderServer, Seen
from qiusuo.testing.providers.brave import Brave
from qiusuo.testing.providers.tavily import Tavily

pytestmark = pytest.mark.programs

QIUSUO = [sys.executable, "-m", "qiusuo"]


class Terminal:
    """Runs ``qiusuo`` with an environment of its own, in which Tavily and Brave are on loopback."""

    def __init__(self, tavily: ProviderServer, brave: ProviderServer, home: Path) -> None:
        self.tavily, self.brave = tavily, brave
        self.env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "HOME": str(home),
            "TAVILY_API_KEY": tavily.key,
            "BRAVE_API_KEY": brave.key,
            "QIUSUO_ENGINES__TAVILY__BASE_URL": tavily.base_url,
            "QIUSUO_ENGINES__BRAVE__BASE_URL": brave.base_url,
            "SEARCH_PROVIDER_PRIORITY": "tavily,brave",
        }

    def run(
        self, *arguments: str | bytes, code: int = 0, **environment: str | None
    ) -> subprocess.CompletedProcess[bytes]:
        env = {name: value for name, value in (self.env | environment).items() if value is not None}
        done = subprocess.run([*QIUSUO, *arguments], env=env, capture_output=True, timeout=60, check=False)  # noqa: S603
        assert done.returncode == code, done.stderr.decode()
        for stream in (done.stdout, done.stderr):
            text = stream.decode("utf-8")
            assert "Traceback" not in text
            assert self.tavily.key not in text
        return done

    def text(self, *arguments: str | bytes, code: int = 0, **environment: str | None) -> tuple[str, str]:
        done = self.run(*arguments, code=code, **environment)
        return done.stdout.decode(), done.stderr.decode()

    def json(self, *arguments: str, code: int = 0, **environment: str | None) -> Any:
        out, err = self.text(*arguments, "--json", code=code, **environment)
        assert err == ""
        return json.loads(out)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    with ProviderServer(Tavily()) as tavily, ProviderServer(Brave()) as brave:
        yield Terminal(tavily, brave, tmp_path)


class TestSearch:
    def test_results_go_to_stdout_and_all_else_to_stderr(self, terminal: Terminal) -> None:
        out, err = terminal.text("search", "open", "source")
        lines = out.splitlines()
        assert lines[:4] == [
            "1. open source & result 1",
            "   https://site1.example.com/page/1",
            '   About open source: text 1 "quoted" 中文 <ok>.',
            "   site1.example.com",
        ]
        assert out.count("https://") == 10
        assert "Results: 10 · tavily" in err
        assert "Results:" not in out
        assert "Searching" not in out

    def test_json_has_the_shape_of_the_specification(self, terminal: Terminal) -> None:
        data = terminal.json("search", "中文 查询", "-n", "3")
        assert list(data) == [
            "query", "type", "results", "totalResults", "searchTime", "cached", "stale", "provider", "attempts",
        ]  # fmt: skip
        assert data["query"] == "中文 查询"
        assert (data["totalResults"], len(data["results"])) == (3, 3)
        assert {"title", "url", "snippet", "source"} <= set(data["results"][0])
        assert (data["provider"], data["cached"]) == ("tavily", False)
        assert [(one["engine"], one["outcome"]) for one in data["attempts"]] == [("tavily", "ok")]

    def test_options_reach_the_engine(self, terminal: Terminal) -> None:
        terminal.run(
            "search", "elections", "--type", "news", "--engine", "brave", "--count", "5", "--lang", "de",
            "--region", "de", "--freshness", "week", "--site", "example.com", "--exclude-site", "example.org",
        )  # fmt: skip
        (seen,) = terminal.brave.seen
        assert seen.path == "/res/v1/news/search"
        asked = dict(seen.params)
        goggles = asked.pop("goggles")
        assert asked == {"q": "elections", "count": "5", "country": "DE", "search_lang": "de", "freshness": "pw"}
        assert "$site=example.com" in goggles
        assert "$discard,site=example.org" in goggles
        assert terminal.tavily.seen == []

    def test_explain_shows_the_receipt(self, terminal: Terminal) -> None:
        terminal.tavily.fault = Fault.RATE_LIMITED
        out, err = terminal.text("search", "x", "--explain")
        assert "site1.example.com" in out
        assert "Receipt" not in out
        receipt = err[err.index("Receipt") :]
        assert "tavily" in receipt
        assert "rate limited" in receipt
        assert "HTTP 429" in receipt.replace("\n", "")
        assert "brave" in receipt

    def test_merge_names_who_found_each_result(self, terminal: Terminal) -> None:
        out, err = terminal.text("search", "x", "--merge")
        assert "· tavily, brave" in out
        assert "Results: 10 · merged" in err

    @pytest.mark.parametrize(
        ("environment", "chinese"),
        [
            ({"LANG": "zh_CN.UTF-8"}, True),
            ({"LANG": "en_US.UTF-8", "QIUSUO_LANG": "zh"}, True),
            ({"LANG": "zh_CN.UTF-8", "QIUSUO_LANG": "en"}, False),
            ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, False),
        ],
    )
    def test_the_language_is_the_terminals_or_the_one_set(
        self, environment: dict[str, Any], chinese: bool, terminal: Terminal
    ) -> None:
        _, err = terminal.text("search", "x", **environment)
        assert ("10 条结果 · tavily" in err) is chinese
        assert ("Results: 10 · tavily" in err) is not chinese

    def test_a_settings_value_that_is_not_valid_does_no_harm(self, terminal: Terminal) -> None:
        _, err = terminal.text("-v", "search", "x", SEARCH_TIMEOUT="soon")
        assert "SEARCH_TIMEOUT: 'soon' is not valid" in err

    @pytest.mark.parametrize(
        "environment", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
    )
    def test_chinese_passes_a_pipe_of_any_locale(self, environment: dict[str, Any], terminal: Terminal) -> None:
        out, _ = terminal.text("search", "量子计算".encode(), **environment)
        assert "量子计算 & result 1" in out
        assert terminal.tavily.seen[0].json["query"] == "量子计算"

    def test_bytes_that_are_no_text_are_no_trouble(self, terminal: Terminal) -> None:
        terminal.run("search", b"caf\xe9 au lait")
        assert terminal.tavily.seen[0].json["query"].endswith(" au lait")

    def test_control_sequences_of_a_page_do_not_reach_the_terminal(self, terminal: Terminal) -> None:
        evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"

        def answer(seen: Seen) -> Answer:  # noqa: ARG001 - the same for all
            row = {"title": f"A{evil} title", "url": f"https://a.example/{evil}x", "content": f"B{evil} &#27;[31m"}
            return Answer({"results": [row]})

        terminal.tavily.provider.answer = answer  # type: ignore[method-assign]
        for arguments in (("search", "x"), ("search", "x", "--json"), ("search", "x", "--explain")):
            out, err = terminal.text(*arguments)
            assert "a.example" in out
            assert not [char for char in out + err if char in evil and char in "\x1b\x07\x9b\u202e"]

    def test_markup_in_texts_is_shown_as_it_is(self, terminal: Terminal) -> None:
        out, _ = terminal.text("search", "[bold]not bold[/bold] :smile:")
        assert "1. [bold]not bold[/bold] :smile: & result 1" in out


class TestExitCodes:
    def test_every_code_is_in_the_help(self, terminal: Terminal) -> None:
        for arguments in (["--help"], ["search", "--help"]):
            out = " ".join(terminal.text(*arguments)[0].split())
            for code in Exit:
                assert f"{code.value} " in out[out.index("Exit codes:") :]

    def test_nothing_found(self, terminal: Terminal) -> None:
        terminal.tavily.empty = terminal.brave.empty = True
        out, err = terminal.text("search", "x", code=Exit.NOTHING_FOUND)
        assert out == ""
        assert "Nothing was found." in err
        assert terminal.json("search", "x", code=Exit.NOTHING_FOUND)["results"] == []

    @pytest.mark.parametrize(
        "arguments",
        [
            ("search",),
            ("search", "   "),
            ("search", "x", "--nonsense"),
            ("search", "x", "--count", "0"),
            ("search", "x", "--count", "51"),
            ("search", "x", "--type", "images"),
            ("search", "x", "--freshness", "decade"),
            ("search", "x", "--timeout", "0"),
            ("search", "x", "--site", "not a domain"),
            ("sarch", "x"),
        ],
    )
    def test_wrong_usage_says_what_and_makes_no_request(self, arguments: tuple[str, ...], terminal: Terminal) -> None:
        out, err = terminal.text(*arguments, code=Exit.USAGE)
        assert out == ""
        assert err.strip()
        assert terminal.tavily.seen == []

    def test_not_set_up(self, terminal: Terminal, tmp_path: Path) -> None:
        code = Exit.NOT_CONFIGURED
        _, err = terminal.text("search", "x", code=code, TAVILY_API_KEY=None, BRAVE_API_KEY=None)
        assert "TAVILY_API_KEY" in err
        assert "BRAVE_API_KEY" in err
        assert "EXA_API_KEY" in terminal.text("search", "x", "--engine", "exa", code=code)[1]
        assert "altavista" in terminal.text("search", "x", "--engine", "altavista", code=code)[1]
        (tmp_path / "broken.toml").write_text("timeout =")
        assert "broken.toml" in terminal.text("search", "x", code=code, QIUSUO_CONFIG=str(tmp_path / "broken.toml"))[1]
        error = terminal.json("search", "x", "--engine", "exa", code=code)
        assert (error["error"], error["engine"]) == ("EngineNotConfigured", "exa")

    def test_every_engine_failed(self, terminal: Terminal) -> None:
        terminal.tavily.fault, terminal.brave.fault = Fault.AUTH, Fault.SERVER_ERROR
        out, err = terminal.text("search", "x", "--explain", code=Exit.ALL_FAILED)
        assert out == ""
        assert "tavily: key refused" in err
        assert "→ Check the key of tavily." in err
        assert "brave: unavailable" in err
        assert "Receipt" in err
        error = terminal.json("search", "x", code=Exit.ALL_FAILED)
        assert error["error"] == "AllEnginesFailed"
        assert [attempt["engine"] for attempt in error["attempts"]] == ["tavily", "brave"]

    def test_a_wait_that_a_provider_names_is_told(self, terminal: Terminal) -> None:
        terminal.tavily.fault, terminal.brave.fault = Fault.RATE_LIMITED, Fault.SERVER_ERROR
        terminal.tavily.retry_after = "300"
        _, err = terminal.text("search", "x", code=Exit.ALL_FAILED)
        assert err.count("It may be tried again in 300 s.") == 1

    @pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
    def test_over_the_rate_limit(self, terminal: Terminal, tmp_path: Path) -> None:
        from tests.support.redis_process import RedisProcess

        redis = RedisProcess(tmp_path)
        try:
            shared: Any = {"QIUSUO_REDIS_URL": redis.url, "SEARCH_RATE_LIMIT": "1"}
            terminal.run("search", "one", **shared)
            _, err = terminal.text("search", "two", code=Exit.RATE_LIMITED, **shared)
            assert "Wait" in err
            assert len(terminal.tavily.seen) == 1
        finally:
            redis.stop()


class TestEnding:
    def test_an_interrupt_ends_it_at_once_and_quietly(self, terminal: Terminal) -> None:
        terminal.tavily.fault = Fault.HANG
        process = subprocess.Popen(  # noqa: S603 - our own command
            [*QIUSUO, "search", "x", "--timeout", "60"],
            env=terminal.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        while not terminal.tavily.seen:
            assert process.poll() is None
            time.sleep(0.01)
        asked = time.perf_counter()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert time.perf_counter() - asked < 8
        assert process.returncode == 130
        assert out == b""
        assert b"Traceback" not in err

    def test_a_reader_that_goes_away_is_no_error(self, terminal: Terminal) -> None:
        process = subprocess.Popen(  # noqa: S603 - our own command
            [*QIUSUO, "search", "x"], env=terminal.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
        process.stderr.close()
        process.wait(timeout=60)
        assert b"Traceback" not in err
        assert b"BrokenPipe" not in err


class TestEngines:
    def test_the_table_tells_state_and_what_to_do(self, terminal: Terminal) -> None:
        out, err = terminal.text("engines", COLUMNS="70", QIUSUO_ENGINES__TAVILY__MONTHLY_QUOTA="50")
        rows = {line.split()[0]: line for line in out.splitlines() if line.strip()}
        assert "ready" in rows["tavily"]
        assert "50" in rows["tavily"]
        assert "not set up" in rows["exa"]
        assert "EXA_API_KEY" in rows["exa:"]
        assert rows["exa:"].endswith("https://dashboard.exa.ai"), "whole, however narrow the terminal is"
        assert out.rstrip().endswith("in order: tavily, brave")
        assert err == ""

    def test_two_lines_are_enough_for_a_start(self, terminal: Terminal) -> None:
        ready, add = terminal.text("engines", "--short", QIUSUO_LANG="en")[0].splitlines()
        assert ready == "Search engines that are ready: Tavily, Brave Search"
        assert "qiusuo searxng up" in add

    def test_json_and_the_code_for_search_that_is_off(self, terminal: Terminal) -> None:
        data = terminal.json("engines")
        assert data["order"] == ["tavily", "brave"]
        assert {"name", "label", "state", "reason", "fix", "quota", "quota_used"} <= set(data["engines"][0])
        off = terminal.json("engines", code=Exit.NOT_CONFIGURED, TAVILY_API_KEY=None, BRAVE_API_KEY=None)
        assert off["order"] == []

    def test_chinese(self, terminal: Terminal) -> None:
        out, _ = terminal.text("engines", COLUMNS="200", QIUSUO_LANG="zh")
        assert "就绪" in out
        assert "参与自动搜索的引擎（按顺序）：tavily、brave" in out

    def test_version_and_help(self, terminal: Terminal) -> None:
        from qiusuo import __version__

        assert terminal.text("--version")[0] == f"qiusuo {__version__}\n"
        assert "search" in terminal.text("--help")[0]

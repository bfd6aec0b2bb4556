"""The examples in the documents run as they stand there."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from qiusuo import Attempt, Outcome, SearchResponse, SearchResultItem, SearchService, errors
from qiusuo.cli.app import app
from qiusuo.config import EngineSettings, Settings
from qiusuo.engines import discover_engines
from qiusuo.plugins import GROUP
from qiusuo.testing import Fault, Provider, ProviderServer
from qiusuo.testing.providers.brave import Brave
from qiusuo.testing.providers.ddgs import DuckDuckGo
from qiusuo.testing.providers.searxng import Searxng
from qiusuo.testing.providers.tavily import Tavily
from qiusuo.words import Fact
from tests.support.documents import PAIRS, WITH_EXAMPLES, blocks, file_name

PROVIDERS: dict[str, type[Provider]] = {"tavily": Tavily, "brave": Brave, "searxng": Searxng, "ddgs": DuckDuckGo}


@pytest.fixture
def providers(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ProviderServer]]:
    """Providers on loopback that the environment makes known, as a reader would set his own."""
    with ExitStack() as stack:
        servers = {name: stack.enter_context(ProviderServer(kind())) for name, kind in PROVIDERS.items()}
        for name, server in servers.items():
            monkeypatch.setenv(f"QIUSUO_ENGINES__{name.upper()}__BASE_URL", server.base_url)
        for name in ("tavily", "brave"):
            monkeypatch.setenv(discover_engines()[name].key_env[0], servers[name].key)
        monkeypatch.setenv("SEARXNG_URL", servers["searxng"].base_url)
        yield servers


class TestExamples:
    @pytest.mark.usefixtures("providers")
    @pytest.mark.parametrize("page", WITH_EXAMPLES)
    def test_python_runs(self, page: str) -> None:
        run_examples(page)

    @pytest.mark.parametrize("page", PAIRS[1])
    def test_the_errors_are_caught_as_shown(
        self, page: str, providers: dict[str, ProviderServer], capsys: pytest.CaptureFixture[str]
    ) -> None:
        (example,) = (text for _, text in blocks(page, "python") if "except UserRateLimited" in text)
        for server in providers.values():
            server.fault = Fault.SERVER_ERROR
        with SearchService.from_settings() as service:
            exec(example, {"service": service})  # noqa: S102 - our own page
        shown = capsys.readouterr().out
        assert all(f"{name} unavailable" in shown for name in ("tavily", "brave", "searxng"))

        class Full:
            def search(self, *_words: object, **_options: object) -> None:
                raise errors.UserRateLimited("too often", retry_after=12.0)

        exec(example, {"service": Full()})  # noqa: S102 - our own page
        assert "12" in capsys.readouterr().out

    @pytest.mark.usefixtures("providers")
    @pytest.mark.parametrize("page", PAIRS[0])
    def test_commands_run(self, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("QIUSUO_LANG", "en")
        # Those that serve until stopped, or look at the machine, have tests of their own.
        lines = [
            line
            for _, text in blocks(page, "sh")
            for line in text.splitlines()
            if line.startswith(("qiusuo search ", "qiusuo engines"))
        ]
        assert lines
        for line in lines:
            done = CliRunner().invoke(app, shlex.split(line)[1:])
            assert done.exit_code == 0, f"{line}: {done.output}"

    @pytest.mark.programs
    def test_an_engine_of_ones_own_passes_the_table(self, tmp_path: Path) -> None:
        english, chinese = (
            {name: text for _, text in blocks(page, "python") if (name := file_name(text))} for page in PAIRS[1]
        )
        assert english == chinese
        for name, text in english.items():
            (tmp_path / name).write_text(text)
        run_tests(tmp_path)

    @pytest.mark.parametrize("page", [*PAIRS[1], "docs/configuration.md"])
    def test_configuration_is_valid(self, page: str, tmp_path: Path) -> None:
        found = blocks(page, "toml")
        assert found
        for _, text in found:
            data = tomllib.loads(text)
            if "project" in data:
                assert list(data["project"]["entry-points"]) == [GROUP]
                continue
            (tmp_path / "config.toml").write_text(text, "utf-8")
            settings = Settings.load(tmp_path / "config.toml")
            # Keys that nobody knows are ignored when read, so they are looked at here.
            assert set(data) <= set(Settings.model_fields)
            for name, table in data.pop("engines", {}).items():
                assert name in discover_engines()
                assert set(table) <= set(EngineSettings.model_fields)
            for name, value in data.items():
                assert plain(getattr(settings, name)) == value

    @pytest.mark.parametrize("page", PAIRS[1])
    def test_json_has_the_true_shape(self, page: str) -> None:
        ((_, text),) = blocks(page, "json")
        item = SearchResultItem("t", "https://example.com", "s", published_at="2026-10-02", score=1.0, engines=("x",))
        paced = Fact("search.paced", seconds="7.0", engine="x")
        attempt = Attempt("x", Outcome.RATE_LIMITED, 0, paced, retry_after=7.0, skipped=True)
        true = SearchResponse("q", (item,), "x", (attempt,)).to_dict()
        shown = json.loads(text)
        assert list(shown) == list(true)
        assert list(shown["results"][0]) == list(true["results"][0])
        assert list(shown["attempts"][0]) == list(true["attempts"][0])
        assert SearchResponse.from_dict(shown).to_dict() == shown


def run_tests(folder: Path) -> None:
    """Run the tests in a folder, as somebody would who has written them."""
    (folder / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100, check=False)  # noqa: S603 - this interpreter
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout


def run_examples(page: str) -> None:
    """Run the Python blocks of a page in their order, as a reader would type them one after the other."""
    namespace: dict[str, Any] = {}
    found = [(line, text) for line, text in blocks(page, "python") if not file_name(text)]
    assert found
    for line, text in found:
        code = compile("\n" * (line - 1) + text, page, "exec")
        exec(code, namespace)  # noqa: S102 - our own page


def plain(value: object) -> object:
    """Return a setting as a file would hold it."""
    if isinstance(value, tuple):
        return list(value)
    return value.get_secret_value() if hasattr(value, "get_secret_value") else value

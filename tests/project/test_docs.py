"""What the documents say is true: generated pages are up to date, links lead somewhere, examples run."""

from __future__ import annotations

import importlib.util
import inspect
import json
import re
import shlex
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from qiusuo import Attempt, Outcome, SearchResponse, SearchResultItem, SearchService, errors
from qiusuo.cli.app import app
from qiusuo.cli.exits import Exit
from qiusuo.config import EngineSettings, Settings, variable_name
from qiusuo.engines import ENTRY_POINT_GROUP, discover_engines
from qiusuo.http import MAX_BODY_BYTES
from qiusuo.pipeline.cooldown import RULES
from qiusuo.pipeline.request import SearchOptions
from qiusuo.server_settings import SHORTEST_TOKEN
from qiusuo.testing import Fault, Provider, ProviderServer
from qiusuo.testing.providers.brave import Brave
from qiusuo.testing.providers.ddgs import DuckDuckGo
from qiusuo.testing.providers.searxng import Searxng
from qiusuo.testing.providers.tavily import Tavily
from qiusuo.words import Fact

ROOT = Path(__file__).resolve().parents[2]
PAIRS = (("README.md", "README.zh-CN.md"), ("docs/usage.md", "docs/usage.zh-CN.md"))
CONTRIBUTING = ("CONTRIBUTING.md", "CONTRIBUTING.zh-CN.md")
WITH_EXAMPLES = [name for pair in PAIRS for name in pair]
PAGES = sorted(
    str(path.relative_to(ROOT))
    for folder in ("*.md", "docs/**/*.md", ".github/**/*.md")
    for path in ROOT.glob(folder)
    if path.stat().st_size
)
PROVIDERS: dict[str, type[Provider]] = {"tavily": Tavily, "brave": Brave, "searxng": Searxng, "ddgs": DuckDuckGo}
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_{1,2}[A-Z0-9]+)+\b")


def load_script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"scripts_{name}", ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def blocks(page: str, language: str) -> list[tuple[int, str]]:
    """Return the fenced blocks of a language with the line on which each begins."""
    text = text_of(page)
    return [
        (text.count("\n", 0, found.start(2)) + 1, found[2]) for found in FENCE.finditer(text) if found[1] == language
    ]


def file_name(block: str) -> str | None:
    """Return the name of the file that an example shows, if its first line says so."""
    found = re.match(r"# ([\w/]+\.py)\n", block)
    return found[1] if found else None


@pytest.fixture(scope="module")
def docs() -> ModuleType:
    return load_script("docs")


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


class TestGeneratedPages:
    def test_are_up_to_date(self, docs: ModuleType) -> None:
        assert docs.stale_files() == []

    def test_the_check_names_what_is_stale(
        self, docs: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert docs.stale_files(tmp_path) == list(docs.generated())
        monkeypatch.setattr(docs, "stale_files", lambda: ["docs/engines.md"])
        assert docs.main(["--check"]) == 1
        assert "docs/engines.md" in capsys.readouterr().out

    def test_do_not_depend_on_the_terminal(self, docs: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        before = docs.generated()
        monkeypatch.setenv("COLUMNS", "40")
        monkeypatch.setenv("LANG", "zh_CN.UTF-8")
        monkeypatch.setenv("SEARCH_TIMEOUT", "9")
        assert docs.generated() == before

    def test_name_every_engine_option_and_setting(self, docs: ModuleType) -> None:
        engines, cli, configuration = docs.engine_table(), docs.cli_reference(), docs.configuration_reference()
        for kind in discover_engines().values():
            assert f"| `{kind.name}` |" in engines
            assert all(f"`{name}`" in configuration for name in (*kind.key_env, *kind.url_env))
        for name in Settings.model_fields:
            assert name == "engines" or re.search(rf"`{variable_name(name)}(__\w+)?`", configuration)
        assert all(f"`engines.NAME.{name}`" in configuration for name in EngineSettings.model_fields)
        for command, options in commands().items():
            assert f"## qiusuo {command}" in cli
            assert all(option in cli for option in options)

    def test_keys_of_single_engines_are_parameters_of_theirs(self) -> None:
        for engine in discover_engines().values():
            assert set(engine.own_settings) <= set(inspect.signature(engine.__init__).parameters)

    def test_other_variables_are_read_by_the_code(self, docs: ModuleType) -> None:
        # The usual proxy variables are read by the standard library.
        assert {name for name in docs.OTHER_VARIABLES if not in_source(name)} <= {"HTTPS_PROXY"}


class TestPictures:
    @pytest.mark.parametrize("name", ["search.svg", "search.zh-CN.svg"])
    def test_are_whole_and_load_nothing_from_elsewhere(self, name: str) -> None:
        text = text_of(f"docs/images/{name}")
        assert ET.fromstring(text).tag.endswith("svg")  # noqa: S314 - our own file
        assert "@font-face" not in text
        assert "href" not in text
        assert not re.search(r"url\((?!#)", text)


class TestLinks:
    @pytest.mark.parametrize("page", PAGES)
    def test_relative_links_lead_somewhere(self, page: str) -> None:
        prose = FENCE.sub("", text_of(page))
        for target in re.findall(r"\]\(([^)\s]+)\)", prose):
            if target.startswith(("https://", "http://")):
                continue
            path, _, anchor = target.partition("#")
            file = (ROOT / page).parent / path if path else ROOT / page
            assert file.exists(), f"{page}: {target}"
            if anchor:
                assert anchor in anchors(file), f"{page}: {target}"


class TestNamesInTheReadme:
    @pytest.mark.parametrize("page", [*WITH_EXAMPLES, "SECURITY.md"])
    def test_every_variable_exists(self, page: str) -> None:
        text = "".join(
            text
            for text in re.split(r"(^```python\n.*?^```$)", text_of(page), flags=re.MULTILINE | re.DOTALL)
            if not file_name(text.removeprefix("```python\n"))
        )
        for name in set(VARIABLE.findall(text)):
            assert is_variable(name), f"{page}: {name}"

    @pytest.mark.parametrize("page", WITH_EXAMPLES)
    def test_every_command_and_option_exists(self, page: str) -> None:
        known = commands()
        for line in named_commands(page, "qiusuo"):
            words = [word for word in shlex.split(line)[1:] if word != "-v"]
            if words == ["…"]:
                continue
            assert words[0] in known, f"{page}: {line}"
            for word in words[1:]:
                assert not word.startswith("-") or word in known[words[0]], f"{page}: {line}"

    @pytest.mark.parametrize("page", WITH_EXAMPLES)
    def test_every_make_target_script_and_extra_exists(self, page: str) -> None:
        targets = re.findall(r"^(\w+):", text_of("Makefile"), re.MULTILINE)
        for line in named_commands(page, "make"):
            assert line.split()[1] in targets, f"{page}: {line}"
        for script in re.findall(r"scripts/\w+\.py", text_of(page)):
            assert (ROOT / script).is_file()
        extras = tomllib.loads(text_of("pyproject.toml"))["project"]["optional-dependencies"]
        assert set(re.findall(r"qiusuo\[(\w+)\]", text_of(page))) <= set(extras)

    @pytest.mark.parametrize("page", PAIRS[0])
    def test_is_short_and_names_every_engine(self, page: str) -> None:
        text = text_of(page)
        own = [kind.name for kind in discover_engines().values() if kind.__module__.startswith("qiusuo.")]
        assert [name for name in own if f"`{name}`" not in text] == []
        assert len(text.splitlines()) <= 130

    def test_every_exit_code_is_named(self) -> None:
        line = next(line for line in text_of("docs/cli.md").splitlines() if line.startswith("Exit codes:"))
        for told in line.split("退出码"):
            assert [int(code) for code in re.findall(r"\d+", told)] == list(Exit)

    @pytest.mark.parametrize("page", PAIRS[1])
    def test_every_option_and_outcome_is_named(self, page: str) -> None:
        text = text_of(page)
        assert all(f"`{name}`" in text for name in SearchOptions.__annotations__)
        rows = re.findall(r"^\| `(\w+)` \|", text[text.index("| `ok` |") :], re.MULTILINE)
        assert rows[: len(Outcome)] == list(Outcome)

    def test_every_error_of_the_architecture_exists(self) -> None:
        tree = next(text for _, text in blocks("docs/architecture.md", "text") if "SearchError" in text)
        names = re.findall(r"\b[A-Z]\w+", re.sub(r"  .*", "", tree, flags=re.MULTILINE))
        assert "AllEnginesFailed" in names
        assert [name for name in names if not hasattr(errors, name)] == []

    def test_the_architecture_names_who_reads_the_environment(self) -> None:
        text = text_of("docs/architecture.md")
        part = re.search(r"^## Who reads the environment\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)
        assert part
        source = ROOT / "src/qiusuo"
        readers = {
            path.relative_to(source).as_posix()
            for path in source.rglob("*.py")
            if re.search(r"\bos\.(environ|getenv)\b|\bgetproxies\(", path.read_text("utf-8"))
        }
        assert set(re.findall(r"`([\w/]+\.py)`", part[1])) == readers

    def test_figures_are_those_of_the_code(self) -> None:
        rows = re.findall(
            r"^\| ([a-z_, ]+) \| (\d).* \| (.+) \| (.+) \|$", text_of("docs/architecture.md"), re.MULTILINE
        )
        shown = {name: row[1:] for row in rows for name in row[0].split(", ")}
        assert shown == {
            outcome.value: (str(rule.failures), duration(rule.first), duration(rule.longest))
            for outcome, rule in RULES.items()
        }
        for page in PAIRS[0]:
            delay = Settings.model_fields["hedge_delay"].get_default()
            assert re.search(rf"\b{delay} (s|秒)", text_of(page))
        security = text_of("SECURITY.md")
        assert f"{MAX_BODY_BYTES // 2**20} MiB" in security
        assert f"{SHORTEST_TOKEN} characters" in security
        for name in ("max_connections", "max_connections_per_address"):
            assert f"{Settings.model_fields[name].get_default():,}" in security

    @pytest.mark.parametrize("pair", [*PAIRS, CONTRIBUTING])
    def test_both_languages_have_the_same_parts(self, pair: tuple[str, str]) -> None:
        english, chinese = (
            ([len(marks) for marks in re.findall(r"^(#+) ", FENCE.sub("", text_of(page)), re.MULTILINE)], kinds(page))
            for page in pair
        )
        assert english == chinese


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

    def test_an_engine_of_ones_own_passes_the_table(self, tmp_path: Path) -> None:
        english, chinese = (
            {name: text for _, text in blocks(page, "python") if (name := file_name(text))} for page in PAIRS[1]
        )
        assert english == chinese
        for name, text in english.items():
            (tmp_path / name).write_text(text)
        run_tests(tmp_path)

    def test_the_engine_of_the_contributors_passes_the_table(self, tmp_path: Path) -> None:
        english, chinese = (
            {name: text for _, text in blocks(page, "python") if (name := file_name(text))} for page in CONTRIBUTING
        )
        assert english == chinese
        assert all(compile(text, name, "exec") for name, text in english.items())
        for name in ("src/qiusuo/engines/acme.py", "tests/engines/test_acme.py"):
            (tmp_path / Path(name).name).write_text(english[name])
        # As if the file lay among the others.
        where = "import pathlib, qiusuo.engines\nqiusuo.engines.__path__.append(str(pathlib.Path(__file__).parent))\n"
        (tmp_path / "conftest.py").write_text(where)
        run_tests(tmp_path)

    @pytest.mark.parametrize("page", [*PAIRS[1], "docs/configuration.md"])
    def test_configuration_is_valid(self, page: str, tmp_path: Path) -> None:
        found = blocks(page, "toml")
        assert found
        for _, text in found:
            data = tomllib.loads(text)
            if "project" in data:
                assert list(data["project"]["entry-points"]) == [ENTRY_POINT_GROUP]
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


def anchors(page: Path) -> set[str]:
    prose = FENCE.sub("", page.read_text("utf-8"))
    headings = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    named = set(re.findall(r'<a id="([\w.-]+)"></a>', prose))
    return named | {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def kinds(page: str) -> list[str]:
    return [found[1] for found in FENCE.finditer(text_of(page))]


def named_commands(page: str, program: str) -> list[str]:
    """Return the command lines of a program in shell blocks and in code within sentences."""
    shell = [line.split("#")[0].strip() for _, text in blocks(page, "sh") for line in text.splitlines()]
    spans = re.findall(r"`([^`\n]+)`", FENCE.sub("", text_of(page)))
    return [line for line in (*shell, *spans) if line.startswith(f"{program} ")]


def commands() -> dict[str, set[str]]:
    """Return the options of every command."""
    group: Any = typer.main.get_command(app)
    context = group.make_context("qiusuo", [], resilient_parsing=True)
    return {
        name: {option for parameter in group.get_command(context, name).params for option in parameter.opts}
        for name in group.list_commands(context)
    }


def is_variable(name: str) -> bool:
    if name.startswith("QIUSUO_ENGINES__"):
        _, engine, key = name.lower().split("__")
        return engine in discover_engines() and key in EngineSettings.model_fields
    settings = {variable_name(field) for field in Settings.model_fields}
    engines = {variable for kind in discover_engines().values() for variable in (*kind.key_env, *kind.url_env)}
    return name in settings | engines or in_source(name)


def in_source(name: str) -> bool:
    whole = re.compile(rf"\b{name}\b")
    return any(whole.search(path.read_text("utf-8")) for path in (ROOT / "src").glob("**/*.py"))


def duration(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"


def plain(value: object) -> object:
    """Return a setting as a file would hold it."""
    if isinstance(value, tuple):
        return list(value)
    return value.get_secret_value() if hasattr(value, "get_secret_value") else value

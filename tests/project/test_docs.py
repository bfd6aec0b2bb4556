"""What the documents say is true: generated pages are up to date, links lead somewhere, names exist."""

from __future__ import annotations

import importlib.util
import inspect
import re
import shlex
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer.main

from qiusuo import Outcome, errors
from qiusuo.cli.app import app
from qiusuo.cli.exits import Exit
from qiusuo.config import EngineSettings, Settings, variable_name
from qiusuo.config.server import SHORTEST_TOKEN
from qiusuo.engines import discover_engines
from qiusuo.http import MAX_BODY_BYTES
from qiusuo.pipeline.cooldown import RULES
from qiusuo.pipeline.request import SearchOptions
from tests.support.documents import CONTRIBUTING, FENCE, PAGES, PAIRS, ROOT, WITH_EXAMPLES, blocks, file_name, text_of

VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_{1,2}[A-Z0-9]+)+\b")


def load_script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"scripts_{name}", ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def docs() -> ModuleType:
    return load_script("docs")


class TestGeneratedPages:
    def test_are_up_to_date(self, docs: ModuleType) -> None:
        assert docs.stale_files() == [], "run make docs"

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
        assert [name for name in own if f"`{name}`" not in text] == [], f"name it in the table of engines of {page}"
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

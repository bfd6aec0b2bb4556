"""What holds the project together: one version, and files for contributors that name what is there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml

import qiusuo
from clients.catalogue import CLIENTS
from qiusuo.service import SearchService
from qiusuo.web.app import create_app

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
TARGETS = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


class TestTheVersion:
    @pytest.mark.programs
    def test_is_the_same_everywhere(self) -> None:
        command = [str(Path(sys.executable).with_name("qiusuo")), "--version"]
        told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout  # noqa: S603 - ours
        lock = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))["package"]
        releases = re.findall(r"^## \[(\d[^\]]*)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
        versions = {
            "pyproject.toml": PROJECT["version"],
            "uv.lock": next(package["version"] for package in lock if package["name"] == "qiusuo"),
            "the package's metadata": metadata("qiusuo")["Version"],
            "qiusuo.__version__": qiusuo.__version__,
            "qiusuo --version": told.strip().removeprefix("qiusuo "),
            "/openapi.json": create_app(SearchService([])).openapi()["info"]["version"],
            "the newest release in CHANGELOG.md": releases[0],
        }
        assert set(versions.values()) == {PROJECT["version"]}, versions

    def test_costs_nothing_until_it_is_read(self) -> None:
        code = "import sys, qiusuo; assert 'importlib.metadata' not in sys.modules; assert qiusuo.__version__"
        subprocess.run([sys.executable, "-c", code], timeout=60, check=True)  # noqa: S603 - ours


class TestFilesForContributors:
    def test_one_address_of_the_project(self) -> None:
        home = PROJECT["urls"]["Homepage"]
        pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *(ROOT / ".github").rglob("*.*")]
        named = {url for page in pages for url in re.findall(r"https://[\w./-]*/qiusuo\b", page.read_text("utf-8"))}
        named.discard("https://example.com/qiusuo")  # a server below a path
        assert named == {home}
        assert all(url.startswith(home) for url in PROJECT["urls"].values())

    def test_hooks_run_what_the_lock_pins(self) -> None:
        (repository,) = read(".pre-commit-config.yaml")["repos"]
        assert repository["repo"] == "local"
        programs = {Path(shlex.split(hook["entry"])[0]).name for hook in repository["hooks"]}
        assert programs == {"ruff", "python"}
        assert all(hook["language"] == "system" for hook in repository["hooks"])

    def test_the_workflow_runs_make_test(self) -> None:
        (job,) = read(".github/workflows/test.yml")["jobs"].values()
        assert [step["run"] for step in job["steps"] if "run" in step] == ["make test"]

    @pytest.mark.parametrize("name", ["bug", "idea", "engine"])
    def test_templates_have_a_head(self, name: str) -> None:
        _, head, body = (ROOT / f".github/ISSUE_TEMPLATE/{name}.md").read_text("utf-8").split("---\n", 2)
        assert {"name", "about", "labels"} == set(yaml.safe_load(head))
        assert body.strip()

    @pytest.mark.parametrize("page", ["CONTRIBUTING.md", "CONTRIBUTING.zh-CN.md", "SECURITY.md"])
    def test_what_is_named_exists(self, page: str) -> None:
        text = (ROOT / page).read_text("utf-8")
        for target in re.findall(r"\bmake (\w+)`", text) + re.findall(r"^make (\w+)", text, re.MULTILINE):
            assert target in TARGETS, target
        for path in re.findall(r"`((?:src|tests|scripts|docs|bench|eval)/[\w./-]*)`", text):
            assert (ROOT / path).exists(), path


class TestClients:
    """``make clients`` needs what only its own run installs; what it rests on is looked at here."""

    def test_every_program_has_its_client_and_every_client_its_program(self) -> None:
        there = {path.name for path in (ROOT / "clients" / "programs").iterdir() if path.suffix in {".py", ".mjs"}}
        named = [client.program for client in CLIENTS]
        assert sorted(named) == sorted(there - {"common.py", "common.mjs"})

    @pytest.mark.parametrize("page", ["docs/clients.md", "docs/clients.zh-CN.md"])
    def test_the_guide_names_each_of_them(self, page: str) -> None:
        text = (ROOT / page).read_text("utf-8").lower()
        assert f" {len(CLIENTS)} " in text
        names = {client.name.removeprefix("npm:").removesuffix("-ai") for client in CLIENTS}
        assert [name for name in names if name.replace("-", "") not in text.replace("-", "").replace(" ", "")] == []


@pytest.mark.programs
@pytest.mark.parametrize(("beside", "ahead", "code"), [(0, 0, 0), (1, 0, 1), (0, 5, 5), (1, 5, 5)])
def test_types_are_checked_beside_the_tests(beside: int, ahead: int, code: int) -> None:
    """Whichever fails, the run fails; what the silent one says comes when the other has ended."""
    programs = [[sys.executable, "-c", f"print('{name}'); exit({end})"] for name, end in (("B", beside), ("A", ahead))]
    command = [sys.executable, str(ROOT / "scripts/beside.py"), *programs[0], "--", *programs[1]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - ours
    assert done.returncode == code
    assert [line for line in done.stdout.splitlines() if line in {"A", "B"}] == ["A", "B"]

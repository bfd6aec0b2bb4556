"""Every command that the program prints works in the state in which it is printed.

Each test brings a state about, takes the commands that a surface prints in it and runs them as they are. A command that
is added to the program and run by no test here fails ``test_advised_commands.py``.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from typer.main import get_command

from qiusuo import commands as advice
from qiusuo.cli.app import app
from qiusuo.commands import install_command, install_program, typed
from qiusuo.config import Settings
from qiusuo.doctor import Finding, examine
from qiusuo.doctor.system import clock_findings
from qiusuo.errors import AllEnginesFailed
from qiusuo.kit.commands import KitCommands
from qiusuo.kit.files import KitFolder
from qiusuo.service import SearchService
from qiusuo.storage.private import PACKAGES
from qiusuo.testing import Answer, ProviderServer
from qiusuo.testing.providers.searxng import Searxng
from tests.support.doctor_support import Canned
from tests.support.machine import Machine
from tests.support.scripted_model import Reply, ScriptedModel
from tests.support.searxng_process import free_port
from tests.support.terminal import PseudoTerminal

pytestmark = pytest.mark.programs
ROOT = Path(__file__).parents[2]
# Run by tests of their own subject, which need a display, or the statutes.
ELSEWHERE = {
    "qiusuo google solve": ("tests/browser/test_solve.py", '["google", "solve"]'),
    "qiusuo legal install": ("tests/legal/test_legal_cli.py", 'run("install")'),
    "qiusuo legal install --yes": ("tests/legal/test_legal_cli.py", 'run("install", "--yes")'),
    "qiusuo legal install --pack lawrefbook": (
        "tests/legal/test_legal_packs.py",
        'run("install", "--pack", "lawrefbook"',
    ),
    "qiusuo search --type {} --engine {} {}": ("tests/legal/test_legal_cli.py", "shlex.split(command)[1:]"),
    "qiusuo search --engine {} qiusuo": ("tests/doctor/test_doctor_untried.py", "shlex.split(command)[1:]"),
    "qiusuo legal stats --files": ("tests/legal/test_legal_cli.py", 'run("stats", "--files")'),
    "qiusuo legal rebuild": ("tests/legal/test_legal_cli.py", 'run("rebuild")'),
}
NO_ADVICE = {"qiusuo {}"}  # the version
RUN_HERE: set[str] = set()


def runs(*templates: str) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Note which commands a test runs."""
    RUN_HERE.update(templates)
    return lambda test: test


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    made = Machine(tmp_path, monkeypatch)
    yield made
    made.close()


def failed_search() -> tuple[str, ...]:
    with SearchService.from_settings() as service, pytest.raises(AllEnginesFailed) as caught:
        service.search("tea")
    return caught.value.commands


def search_works() -> bool:
    with SearchService.from_settings() as service:
        return bool(service.search("tea").results)


def found(code: str, **options: object) -> Finding:
    findings = asyncio.run(examine(Settings.load(), quick=True, **options))  # type: ignore[arg-type]
    [finding] = [one for one in findings if one.code == code]
    return finding


@runs("qiusuo searxng {}{}", "qiusuo doctor --fix{}", "export SEARXNG_URL=http://localhost:{}", "qiusuo searxng {}")
def test_from_nothing_to_a_search_without_docker(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.install_searxng()
    to_8080 = ("qiusuo searxng init", "qiusuo searxng up --no-docker", "export SEARXNG_URL=http://localhost:8080")
    for address in ("http://localhost", "http://localhost:9"):  # where only root may listen
        assert KitCommands().start_at(address) == to_8080
    port = free_port()
    monkeypatch.setenv("SEARXNG_URL", f"http://localhost:{port}")
    commands = failed_search()
    assert commands == (f"qiusuo searxng init --port {port}", "qiusuo searxng up --no-docker")
    machine.run(*commands)
    assert search_works()
    # Both once more: the files stay, and the one that runs goes on.
    for command in (f"qiusuo searxng init --port {port} && qiusuo searxng up --no-docker", "qiusuo searxng init"):
        machine.run(command)
    kit = KitFolder(machine.data / "qiusuo" / "searxng")
    settings = yaml.safe_load(kit.settings.read_text())
    settings["search"]["formats"] = ["html"]
    kit.settings.write_text(yaml.safe_dump(settings))
    machine.run("qiusuo searxng up --no-docker")  # it has changed: restarted
    commands = failed_search()
    assert commands == ("qiusuo doctor --fix", "qiusuo searxng restart")
    machine.run(*commands)
    assert search_works()
    machine.run("qiusuo searxng logs", "qiusuo searxng down")
    monkeypatch.setenv("SEARXNG_URL", f"http://localhost:{free_port()}")
    commands = failed_search()  # the files say another port than the address
    assert commands == ("qiusuo searxng up --no-docker", f"export SEARXNG_URL=http://localhost:{port}")
    machine.run(*commands)
    assert search_works()


def test_the_doctor_asks_for_a_file_that_it_does_not_know(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "own" / "settings.yml"
    file.parent.mkdir()
    file.write_text("use_default_settings: true\n")
    provider = Searxng()
    provider.json_on = False
    with ProviderServer(provider) as server:
        monkeypatch.setenv("SEARXNG_URL", server.url)
        [command] = failed_search()  # who has started it is not known: no command restarts it
        with PseudoTerminal(["/bin/sh", "-c", command], os.environ) as terminal:
            terminal.wait_for("Where is SearXNG's settings.yml?")
            terminal.enter(str(file))
            terminal.wait()
    assert "json" in file.read_text()
    assert machine.bin.is_dir()


@runs("docker compose -f {}", "docker compose -f {} {}", "systemctl start docker", "sudo {}")
def test_with_docker(machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    notes, state = tmp_path / "calls.txt", tmp_path / "ps.txt"
    state.write_text("docker.io/searxng/searxng:latest\tqiusuo-searxng\tExited (1) 2 minutes ago\n")
    machine.program(
        "docker",
        f'echo "$@" >> {notes}\ncase "$1" in version) echo 28;; ps) cat {state};; inspect) cat {state}.at;; esac',
    )
    monkeypatch.setenv("DOCKER_HOST", "unix:///run/own.sock")
    port = free_port()
    monkeypatch.setenv("SEARXNG_URL", f"http://localhost:{port}")
    machine.run(*failed_search())
    assert "up --detach" in notes.read_text()
    assert len(found("searxng.container_stopped").commands) == 2
    machine.run(*found("searxng.container_stopped").commands)
    # It runs since before the settings were changed: up makes it read them.
    state.write_text("docker.io/searxng/searxng:latest\tqiusuo-searxng\tUp 2 minutes\n")
    Path(f"{state}.at").write_text("2026-01-01T00:00:00.123456789Z\n")
    notes.write_text("")
    machine.run("qiusuo searxng up")
    assert re.search(r"up --detach\n(.*\n)*.*restart", notes.read_text())
    Path(f"{state}.at").write_text("2099-01-01T00:00:00.123456789Z\n")
    notes.write_text("")
    machine.run("qiusuo searxng up")
    assert "restart" not in notes.read_text()
    kit = KitFolder(machine.data / "qiusuo" / "searxng")
    machine.run(*KitCommands().update(f"http://localhost:{port}"))
    assert f"compose -f {kit.compose} pull" in notes.read_text()
    # The engine is off, and systemd can start it.
    monkeypatch.setattr(advice, "_SYSTEMD", tmp_path)
    machine.program("systemctl", f"echo systemctl $@ >> {notes}; touch {tmp_path}/on")
    machine.program("sudo", 'exec "$@"')
    machine.program("touch", f": > {tmp_path}/on")
    machine.program("docker", f'case "$1" in version) [ -f {tmp_path}/on ];; esac')
    commands = found("searxng.docker_off").commands
    assert commands[-1] == "qiusuo searxng up"
    machine.program("docker", 'case "$1" in version) echo 28;; esac')
    machine.run(*commands)
    assert "systemctl start docker" in notes.read_text()


@runs("timedatectl set-ntp true")
def test_a_wrong_clock(machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    [finding] = clock_findings("Thu, 01 Jan 1970 00:00:00 GMT")
    assert finding.commands == () or shutil.which("timedatectl")
    monkeypatch.setattr(advice, "_SYSTEMD", tmp_path)
    machine.program("timedatectl", "exit 0")
    machine.program("sudo", 'exec "$@"')
    [finding] = clock_findings("Thu, 01 Jan 1970 00:00:00 GMT")
    assert finding.commands
    machine.run(*finding.commands)


def test_another_service_has_the_port(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.install_searxng()
    kit = KitFolder(machine.data / "qiusuo" / "searxng")
    with ProviderServer(Canned(Answer("<!doctype html><title>Films</title>"))) as other:
        monkeypatch.setenv("SEARXNG_URL", other.url)
        commands = failed_search()
        assert len(commands) == 3
        assert "--force" not in commands[0], "there is nothing to write over"
        assert found("searxng.other_service").commands == commands
        machine.run(*commands)
        assert search_works()
        monkeypatch.setenv("SEARXNG_URL", other.url)
        assert failed_search() == commands[1:], "the files of another port are there"
        machine.run("qiusuo searxng down", *commands[1:])
        assert search_works()
        machine.run("qiusuo searxng down")
        # The files have the very port that the other one has taken.
        kit.write(port=urlsplit(other.url).port or 0, force=True)
        monkeypatch.setenv("SEARXNG_URL", other.url)
        commands = failed_search()
        assert commands[0].endswith(" --force")
        machine.run(*commands)
        assert search_works()


def test_a_file_of_somebodys_own_is_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / "settings.yml"
    file.write_text("use_default_settings: true\nserver:\n  port: 9321\n")
    commands = KitCommands(file, {"XDG_DATA_HOME": str(tmp_path / "data")}).start_beside("http://localhost:9321")
    assert not any(str(file.parent) in command or "--force" in command for command in commands)


@runs("export SEARXNG_URL={}", "export {}={}")
def test_another_address(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARXNG_URL", "http://searxng.invalid:8080")
    machine.run(*failed_search())
    assert os.environ["SEARXNG_URL"] == "http://localhost:8080"
    monkeypatch.setenv("SEARXNG_URL", "localhost:8080")
    machine.run(*found("searxng.address").commands)
    assert os.environ["SEARXNG_URL"] == "http://localhost:8080"
    monkeypatch.delenv("SEARXNG_URL")
    monkeypatch.setenv("QIUSUO_SEARXNG_URL", "localhost:8080")  # its second name
    machine.run(*found("searxng.address").commands)
    assert os.environ["QIUSUO_SEARXNG_URL"] == "http://localhost:8080"
    monkeypatch.delenv("QIUSUO_SEARXNG_URL")
    with ProviderServer(Searxng()) as right, ProviderServer(Canned(Answer("", 301, {"Location": right.url}))) as moved:
        monkeypatch.setenv("SEARXNG_URL", moved.url)
        machine.run(*failed_search())
        assert search_works()


@runs('export NO_PROXY="$NO_PROXY,{}"')
def test_a_proxy_in_between(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    with ProviderServer(Searxng()) as server, ProviderServer(Canned(Answer("no", 502))) as proxy:
        # This machine, but not by a name for which proxies are never used.
        monkeypatch.setenv("SEARXNG_URL", server.url.replace("127.0.0.1", "0.0.0.0"))  # noqa: S104 - nothing is bound
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "")
        machine.run(*found("searxng.proxy").commands)
        assert search_works()


@runs("unset {}")
def test_a_value_that_is_none(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_TIMEOUT", "soon")
    machine.run(*found("settings.invalid").commands)
    assert "SEARCH_TIMEOUT" not in os.environ


@runs("{}chmod {} {}", "{}chmod 700 {}")
def test_files_that_others_can_read(machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('tokens = ["0123456789abcdef0123"]\n')
    file.chmod(0o644)
    monkeypatch.setenv("QIUSUO_CONFIG", str(file))
    machine.run(*found("files.readable").commands)
    assert file.stat().st_mode & 0o077 == 0
    kit = KitFolder(tmp_path / "kit")
    kit.write()
    kit.settings.write_text("server:\n  secret_key: mine-alone\n")
    kit.path.chmod(0o755)
    machine.run(*found("files.readable", settings_file=kit.settings).commands)
    assert kit.path.stat().st_mode & 0o077 == 0


@runs("ollama serve", "ollama pull {}")
def test_ollama(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIUSUO_MODEL", "ollama:qwen3")
    with ScriptedModel(models=["llama3:latest"]) as server:
        monkeypatch.setenv("QIUSUO_MODEL_BASE_URL", server.base_url)
        monkeypatch.setenv("QIUSUO_MODEL_API_KEY", server.key)
        assert found("model.missing").commands == ()  # there is no such program here
        machine.program("ollama", '[ "$*" = "pull qwen3" ] || [ "$*" = "serve" ]')
        machine.run(*found("model.missing").commands)
    assert found("model.unreachable").commands == ("ollama serve",)
    machine.run("ollama serve")


@runs("redis-server --port {} --daemonize yes")
@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
def test_redis(machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    port = free_port()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("QIUSUO_REDIS_URL", f"redis://127.0.0.1:{port}/0")
    machine.run(*found("redis.failed").commands)
    try:
        deadline = time.monotonic() + 20
        while not any(one.code == "redis.ok" for one in asyncio.run(examine(Settings.load(), quick=True))):
            assert time.monotonic() < deadline
    finally:
        machine.run(f"redis-cli -p {port} shutdown nosave")


@runs("qiusuo chat --session {}")
def test_a_conversation_goes_on(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedModel() as model:
        model.add(Reply.text("Paris."), Reply.text("Two million."))
        monkeypatch.setenv("QIUSUO_MODEL", "scripted")
        monkeypatch.setenv("QIUSUO_MODEL_BASE_URL", model.base_url)
        monkeypatch.setenv("QIUSUO_MODEL_API_KEY", model.key)
        asked = subprocess.run(
            ["/bin/sh", "-c", "qiusuo chat 'capital of France'"], capture_output=True, text=True, check=True
        )
        printed = re.search(r"qiusuo chat --session .*", asked.stderr)
        assert printed, asked.stderr
        machine.run(f"echo 'and its people' | {printed[0]}")
        assert "Paris." in [message["content"] for message in model.requests[1].messages]


@runs("qiusuo doctor", "qiusuo engines")
def test_looking_around(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    with ProviderServer(Searxng()) as server:
        monkeypatch.setenv("SEARXNG_URL", server.url)
        machine.run("qiusuo doctor", "qiusuo engines")


@runs(
    "pip install {}", "{} -m pip install {}", "uv pip install --python {} {}", "{} -m ensurepip && {} -m pip install {}"
)
def test_packages_are_installed_for_the_python_that_runs(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    notes = tmp_path / "calls.txt"
    for name in ("python", "pip", "uv"):
        machine.program(name, f'echo {name} "$@" >> {notes}')
    # A pip of another Python: it would install where nobody looks.
    ours = tmp_path / "ours"
    ours.mkdir()
    shutil.copy2(machine.bin / "python", ours / "python")
    monkeypatch.setattr(sys, "executable", str(ours / "python"))
    for there, expected in ((True, "python -m pip install"), (False, f"uv pip install --python {ours}/python")):
        monkeypatch.setattr(advice, "find_spec", lambda _name, there=there: there or None)
        machine.run(install_command("qiusuo[server]"))
        assert notes.read_text().splitlines()[-1] == f"{expected} qiusuo[server]"
    (machine.bin / "uv").unlink()
    machine.run(install_command("qiusuo[server]"))
    assert notes.read_text().splitlines()[-2:] == ["python -m ensurepip", "python -m pip install qiusuo[server]"]
    monkeypatch.setattr(sys, "executable", str(machine.bin / "python"))
    assert install_command("qiusuo[server]") == "pip install 'qiusuo[server]'"
    machine.run(install_command("qiusuo[server]"))
    extras = metadata("qiusuo").get_all("Provides-Extra") or []
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "src" / "qiusuo").rglob("*.py"))
    assert set(re.findall(r'install_command\("qiusuo\[(\w+)\]', sources)) <= set(extras)


@runs("brew install valkey")
@pytest.mark.parametrize("manager", PACKAGES)
def test_a_program_is_installed_by_what_the_machine_has(machine: Machine, manager: str, tmp_path: Path) -> None:
    assert install_program(PACKAGES) == ()
    notes = tmp_path / "calls.txt"
    machine.program(manager, f'echo {manager} "$@" >> {notes}')
    machine.program("sudo", '"$@"')
    machine.run(*install_program(PACKAGES))
    assert notes.read_text().strip() == PACKAGES[manager]


@runs("{} -m {}")
def test_our_own_command_is_told_by_its_path_where_it_must_be(machine: Machine) -> None:
    assert typed("qiusuo token") == "qiusuo token"
    (machine.bin / "qiusuo").unlink()
    assert typed("qiusuo token") != "qiusuo token"
    machine.run(typed("qiusuo token"))
    assert shlex.split(typed("qiusuo token"))[-1] == "token"


def test_who_runs_it_in_another_way_says_how(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.program("as-server", f'exec {sys.executable} -m qiusuo "$@"')
    monkeypatch.setenv("QIUSUO_COMMAND", "env as-server")
    assert typed("qiusuo token") == "env as-server token"
    machine.run(typed("qiusuo token"))


def test_sentences_name_only_commands_that_there_are() -> None:
    texts = [*(ROOT / "src/qiusuo/words/texts").glob("*.toml"), *(ROOT / "src/qiusuo/legal/words").glob("*.toml")]
    named = set(re.findall(r"qiusuo((?: [a-z][a-z-]*)+)", "\n".join(path.read_text("utf-8") for path in texts)))
    known = command_paths(get_command(app))
    for words in named:
        first, *rest = words.split()
        assert first in known or first in {"is", "chat"}, words
        assert not known.get(first) or (rest and rest[0] in known[first]), words
    assert not [path.name for path in texts if re.search(r"qiusuo [a-z ]*(?:PATH|/path)", path.read_text("utf-8"))]


def command_paths(group: Any) -> dict[str, set[str]]:
    """Return the commands, those that are groups with their own."""
    return {name: set(getattr(command, "commands", {})) for name, command in group.commands.items()}

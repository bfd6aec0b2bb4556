"""Files with keys that others can read, and the command that mends it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from qiusuo.commands import at_hand
from qiusuo.config import Settings
from qiusuo.doctor import Finding, Level, examine
from qiusuo.kit.files import KitFolder
from qiusuo.words import Language

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")


@pytest.fixture(autouse=True)
def _own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("SEARXNG_URL", "http://127.0.0.1:1")


async def readable(settings_file: Path | None = None) -> list[Finding]:
    found = await examine(Settings.load(), quick=True, settings_file=settings_file)
    return [finding for finding in found if finding.code == "files.readable"]


def run(command: str) -> None:
    """Do what the doctor says."""
    subprocess.run(["/bin/sh", "-c", command], check=True)  # noqa: S603 - ours


SECRETS = {
    "config.toml": 'tokens = ["ada:0123456789abcdef"]',
    "keys.toml": '[engines.tavily]\napi_key = "tvly-0123456789"',
    "login.toml": '[engines.searxng]\nbasic_auth = "me:geheim"',
    "headers.toml": '[engines.searxng.headers]\nX-Login = "geheim"',
    "redis.yaml": "redis_url: redis://:geheim@db/0",
    "old.json": '{"web_search": {"apiKey": "BSA-0123456789"}}',
}


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
async def test_a_configuration_file_with_secrets(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, mode: int
) -> None:
    file = tmp_path / "a folder" / name
    file.parent.mkdir()
    file.write_text(SECRETS[name])
    file.chmod(mode)
    monkeypatch.setenv("QIUSUO_CONFIG", str(file))
    [finding] = await readable()
    assert finding.level is Level.WARNING
    for language in Language:
        words = finding.wording(language)
        assert str(file) in words.what
        assert f"{mode:04o}" in words.what
        assert words.fix
        assert "geheim" not in str(words)
        assert "0123456789" not in str(words)
    [command] = finding.commands
    assert command.startswith("chmod 600 ")
    run(command)
    assert await readable() == []


async def test_in_the_usual_place(tmp_path: Path) -> None:
    file = tmp_path / "config" / "qiusuo" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(SECRETS["keys.toml"])
    file.chmod(0o644)
    [finding] = await readable()
    assert finding.values["file"] == file


async def test_what_is_no_secret_may_be_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('max_results = 5\ncase_keyword = "裁判"\nhistory_tokens = 4000\n[engines.tavily]\napi_key = ""\n')
    file.chmod(0o644)
    monkeypatch.setenv("QIUSUO_CONFIG", str(file))
    assert await readable() == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a file away")
async def test_a_file_that_its_owner_gives_a_group_to_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(SECRETS["config.toml"])
    os.chown(file, 12345, 0)
    monkeypatch.setenv("QIUSUO_CONFIG", str(file))
    file.chmod(0o640)  # for a service that is in the group: not to be closed to it
    assert await readable() == []
    file.chmod(0o644)
    [finding] = await readable()
    assert finding.commands == at_hand(f"{'' if os.geteuid() == 0 else 'sudo '}chmod o= {file}")


async def test_searxngs_files(tmp_path: Path) -> None:
    kit = KitFolder(tmp_path / "data" / "qiusuo" / "searxng")
    kit.write()
    assert await readable() == []
    kit.secrets.chmod(0o644)
    [finding] = await readable()
    assert finding.commands == (f"chmod 600 {kit.secrets}",)
    kit.secrets.unlink()
    # As it was written by older versions: the container's user must read the file, so its folder is closed.
    kit.settings.write_text("use_default_settings: true\nserver:\n  secret_key: geheim\n")
    assert await readable() == []
    kit.path.chmod(0o755)
    [finding] = await readable(kit.settings)
    [command] = finding.commands
    assert command == f"chmod 700 {kit.path}"
    run(command)
    assert await readable(kit.settings) == []
    assert kit.settings.stat().st_mode & 0o777 == 0o644

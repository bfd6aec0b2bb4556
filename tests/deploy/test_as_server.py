"""``deploy/systemd/qiusuo-as-server``: commands work on the server's database, with the server's settings."""

from __future__ import annotations

import os
import pwd
import re
import subprocess
import sys
from pathlib import Path

import pytest

SYSTEMD = Path(__file__).resolve().parents[2] / "deploy" / "systemd"
SCRIPT = SYSTEMD / "qiusuo-as-server"
ME = pwd.getpwuid(os.geteuid()).pw_name

pytestmark = [pytest.mark.programs, pytest.mark.skipif(sys.platform != "linux", reason="systemd runs on Linux")]


def installed(folder: Path, settings: str, **places: str) -> Path:
    """Return a copy of the script that finds everything in a folder."""
    (folder / "settings.env").write_text(settings)
    (folder / "lib" / "qiusuo").mkdir(parents=True)
    values = {
        "user": ME,
        "settings": str(folder / "settings.env"),
        "program": "/usr/bin/env",
        "home": str(folder / "lib" / "qiusuo"),
        "data": str(folder / "lib"),
        "cache": str(folder / "cache"),
        **places,
    }
    text = SCRIPT.read_text("utf-8")
    for name, value in values.items():
        text, found = re.subn(rf"^{name}=.*$", f"{name}='{value}'", text, flags=re.MULTILINE)
        assert found == 1
    copy = folder / SCRIPT.name
    copy.write_text(text)
    copy.chmod(0o755)
    return copy


def run(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "QIUSUO_DATABASE_URL": "sqlite:///somebody-elses.db", "XDG_DATA_HOME": "/elsewhere"}
    command = [str(script), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - ours


def test_settings_are_those_of_the_file_and_of_nobody_else(tmp_path: Path) -> None:
    lines = [
        "# a comment",
        "",
        "QIUSUO_TOKENS=me:0123456789abcdef:operator",
        'QIUSUO_MODEL="a model with $blanks"',
        "QIUSUO_REDIS_URL='redis://:pa$$`word@127.0.0.1:6379/0'",
        "SEARXNG_URL=http://127.0.0.1:8080",  # the last line has no end
    ]
    done = run(installed(tmp_path, "\n".join(lines)))
    assert done.returncode == 0, done.stderr
    seen = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert seen["QIUSUO_TOKENS"] == "me:0123456789abcdef:operator"
    assert seen["QIUSUO_MODEL"] == "a model with $blanks"
    assert seen["QIUSUO_REDIS_URL"] == "redis://:pa$$`word@127.0.0.1:6379/0"
    assert seen["SEARXNG_URL"] == "http://127.0.0.1:8080"
    assert "QIUSUO_DATABASE_URL" not in seen
    assert seen["PWD"] == seen["HOME"] == f"{seen['XDG_DATA_HOME']}/qiusuo" == str(tmp_path / "lib" / "qiusuo")


def test_places_are_those_of_the_unit() -> None:
    text, unit = SCRIPT.read_text("utf-8"), (SYSTEMD / "qiusuo.service").read_text("utf-8")
    value = dict(re.findall(r"^(user|settings|program|home|data|cache)=(.+)$", text, re.MULTILINE))
    environment = (
        f"HOME={value['home']} XDG_DATA_HOME={value['data']}"
        f" XDG_CONFIG_HOME={value['home']}/config XDG_CACHE_HOME={value['cache']}"
    )
    for line in (
        f"User={value['user']}",
        f"EnvironmentFile=-{value['settings']}",
        f"ExecStart={value['program']} serve",
        f"WorkingDirectory={value['home']}",
        f"Environment={environment}",
    ):
        assert f"\n{line}\n" in unit


@pytest.mark.parametrize("line", ["export QIUSUO_PORT=1", "QIUSUO_PORT", "QIUSUO_MODEL=a\\nb"])
def test_what_systemd_would_read_otherwise_is_refused(line: str, tmp_path: Path) -> None:
    done = run(installed(tmp_path, f"{line}\n"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "settings.env" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody else")
def test_it_runs_as_the_servers_user(tmp_path: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    named = {"user": "nobody", "home": "/", "program": "/usr/bin/id"}
    script = installed(tmp_path, "QIUSUO_PORT=1\n", **named)
    # Debian's nobody has a group of another name.
    script.write_text(script.read_text().replace('--regid="$user"', f"--regid={nobody.pw_gid}"))
    assert run(script, "-u").stdout.strip() == str(nobody.pw_uid)


def test_a_command_works_on_the_servers_database(tmp_path: Path) -> None:
    script = installed(tmp_path, f"QIUSUO_DATABASE_URL=sqlite:///{tmp_path / 'served.db'}\n", program=sys.executable)
    done = run(script, "-m", "qiusuo", "tokens", "add", "ann")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "served.db").stat().st_mode & 0o077 == 0
    assert "ann" in run(script, "-m", "qiusuo", "tokens", "list").stdout

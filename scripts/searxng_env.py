"""Make ``.cache/searxng-env``: a real SearXNG for the tests, in an environment of its own.

Where it cannot be had the tests that need it are skipped. How it is installed: :mod:`qiusuo.kit.environment`.

Exit code: 0 it is there, 3 it cannot be had here, 4 what came is not the pinned file.
"""

from __future__ import annotations

import sys
from pathlib import Path

from qiusuo.kit.environment import PACKAGE, InstallFailed, NotThePinnedFile, install

ENVIRONMENT = Path(__file__).resolve().parents[1] / ".cache" / "searxng-env"

OK, NOT_TO_BE_HAD, NOT_THE_PINNED_FILE = 0, 3, 4


def main() -> int:
    """Make the environment unless it is there."""
    try:
        install(ENVIRONMENT, lambda step: print(f"searxng-env: {step}", flush=True))
    except NotThePinnedFile as error:
        shout(str(error))
        return NOT_THE_PINNED_FILE
    except InstallFailed as error:
        shout(f"{PACKAGE} cannot be had here, the tests against a real SearXNG will be SKIPPED.\n{error}")
        return NOT_TO_BE_HAD
    print(f"searxng-env: {PACKAGE} is in {ENVIRONMENT}")
    return OK


def shout(text: str) -> None:
    """Say it so that it is not overlooked."""
    line = "!" * 100
    print(f"{line}\nsearxng-env: {text}\n{line}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

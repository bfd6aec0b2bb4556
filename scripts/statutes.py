"""Bring the default statutes for the tests into ``.cache/legal``, as ``qiusuo legal install`` does for users (MIT).

Where they cannot be had the tests that need them are skipped.

    python scripts/statutes.py [path of uv]

Exit code: 0 they are there, 3 they cannot be had here.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from qiusuo.errors import ConfigurationError
from qiusuo.legal.building.install import statutes_file
from qiusuo.legal.index.folder import IndexFolder

FOLDER = Path(__file__).resolve().parents[1] / ".cache" / "legal"


def main() -> int:
    """Bring the file unless it is there."""
    environ = {**os.environ, "UV": sys.argv[1]} if len(sys.argv) > 1 else os.environ
    try:
        print(f"statutes: they are in {statutes_file(IndexFolder(FOLDER), environ)}")
    except ConfigurationError as error:
        print(f"!! statutes: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())

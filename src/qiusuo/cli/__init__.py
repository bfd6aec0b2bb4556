"""The command line: ``qiusuo``.

This module imports nothing heavy; each command loads what it needs when it runs.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    from qiusuo.cli.app import app  # noqa: PLC0415 - so that importing the package stays free

    # Chinese must come out right whatever the terminal's code page is.
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")
    app(prog_name="qiusuo")

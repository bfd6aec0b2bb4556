"""Where Qiusuo keeps what it stores on this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def data_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the user's data folder for Qiusuo."""
    if os.name == "nt" and environ.get("LOCALAPPDATA"):
        return Path(environ["LOCALAPPDATA"]) / "qiusuo"
    return Path(environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "qiusuo"

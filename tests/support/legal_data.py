"""Where the installed statutes and the shared collections are on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from qiusuo.legal.building.install import FILE
from qiusuo.legal.index.folder import legal_folder

# What scripts/statutes.py has brought, else the user's own (read before the fixtures hide their settings).
FOLDERS = (Path(__file__).parents[2] / ".cache" / "legal", legal_folder(os.environ))
STATUTES = next((file for folder in FOLDERS if (file := folder / "downloads" / FILE).is_file()), None)
SHARED = Path(__file__).resolve().parents[3] / "shared" / "legal"

"""The legal tools under the name that programs know them by; the plug-in that brings them has them now."""

from __future__ import annotations

import sys
from typing import Any

from qiusuo import plugins


def __getattr__(name: str) -> Any:
    for plugin in plugins.installed():
        if plugin.name == "legal":
            made_by = plugins.load(plugin, plugin.tools[0])
            return getattr(sys.modules[made_by.__module__], name)
    raise AttributeError(name)

"""Where the configuration file is, and its reading: TOML, JSON and YAML."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from qiusuo.errors import ConfigurationError
from qiusuo.words import Fact

MAX_FILE_BYTES: Final = 1024 * 1024


def read_config_file(path: Path) -> dict[str, Any]:
    """Read a TOML, JSON or YAML file.

    Raises:
        ConfigurationError: it is missing, too large, of another kind, or cannot be parsed.
    """
    if path.suffix.lower() not in KINDS_OF_FILES:
        raise ConfigurationError(Fact("settings.file_kind", file=str(path)))
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ConfigurationError(Fact("settings.file_too_large", file=str(path)))
        data = parsed(path, path.read_text("utf-8"))
    except OSError as error:
        unreadable = Fact("settings.file_unreadable", file=str(path), words=error.strerror or type(error).__name__)
        raise ConfigurationError(unreadable) from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(Fact("settings.file_not_parsed", file=str(path), words=str(error))) from None
    return data


def parsed(path: Path, text: str) -> dict[str, Any]:
    """Return what the text of a configuration file holds.

    Raises:
        ConfigurationError: it cannot be parsed, or holds no table.
    """
    try:
        data = KINDS_OF_FILES[path.suffix.lower()](text)
    except (ValueError, RecursionError) as error:  # JSON and TOML errors
        raise ConfigurationError(Fact("settings.file_not_parsed", file=str(path), words=str(error))) from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ConfigurationError(Fact("settings.file_no_table", file=str(path)))
    return data


def _read_yaml(text: str) -> Any:
    import yaml  # noqa: PLC0415 - only those who use YAML pay for it

    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        # Not its whole text: that quotes the line, in which a key may stand.
        mark = error.problem_mark
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise ValueError(f"{error.problem}{where}") from None
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


KINDS_OF_FILES: Final[Mapping[str, Callable[[str], Any]]] = {
    ".toml": tomllib.loads,
    ".json": json.loads,
    ".yaml": _read_yaml,
    ".yml": _read_yaml,
}


def config_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the user's configuration folder for Qiusuo."""
    if os.name == "nt" and environ.get("APPDATA"):
        return Path(environ["APPDATA"]) / "qiusuo"
    return Path(environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "qiusuo"


def find_config_file(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the configuration file: the one that is named (it must be there), else the user's, else None."""
    named = environ.get("QIUSUO_CONFIG")
    if named:
        return Path(named).expanduser()
    for suffix in KINDS_OF_FILES:
        path = config_folder(environ) / f"config{suffix}"
        if path.is_file():
            return path
    return None

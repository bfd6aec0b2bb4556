"""Files of settings in every kind that is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml


def toml(values: dict[str, Any]) -> str:
    tables = {name: value for name, value in values.items() if isinstance(value, dict)}
    # JSON's texts, numbers and lists are TOML's too.
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items() if name not in tables]
    for name, engines in tables.items():
        for engine, options in engines.items():
            lines += [f"[{name}.{engine}]", *(f"{key} = {json.dumps(value)}" for key, value in options.items())]
    return "\n".join(lines)


WRITERS: dict[str, Callable[[dict[str, Any]], str]] = {
    ".toml": toml,
    ".json": json.dumps,
    ".yaml": yaml.safe_dump,
    ".yml": yaml.safe_dump,
}
KINDS = pytest.mark.parametrize("kind", list(WRITERS))


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Write a configuration file and name it in QIUSUO_CONFIG."""

    def write_file(content: dict[str, Any] | str | bytes, kind: str = ".toml") -> Path:
        path = tmp_path / f"settings{kind}"
        text = WRITERS[kind](content) if isinstance(content, dict) else content
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        monkeypatch.setenv("QIUSUO_CONFIG", str(path))
        return path

    return write_file

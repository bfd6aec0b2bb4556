"""SearXNG's ``settings.yml``: reading what matters to us, and changing single values without touching the rest.

A change is made in the text, at the place that the YAML parser names, so that comments and order stay. The result is
parsed again and must differ from the old content in that value alone, otherwise nothing is written.
"""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import yaml

from qiusuo.words import Fact

DEFAULT_SECRET: Final = "ultrasecretkey"  # noqa: S105 - the one everybody knows; SearXNG refuses it
_DEFAULT_FORMATS: Final = ("html",)
_DEFAULT_PORT: Final = 8888


class SettingsFileError(Exception):
    """The file cannot be read, parsed or changed; ``fact`` says why."""

    def __init__(self, fact: Fact) -> None:
        super().__init__(fact)
        self.fact = fact


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """What a ``settings.yml`` says; the defaults are SearXNG's own."""

    path: Path
    text: str
    content: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> SettingsFile:
        """Read a file.

        Raises:
            SettingsFileError: it cannot be read or is not YAML.
        """
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            words = error.strerror if isinstance(error, OSError) else ""
            fact = Fact("settings_file.unreadable", words=words) if words else Fact("settings_file.not_utf8")
            raise SettingsFileError(fact) from None
        return cls(path, text, _parse(text))

    @property
    def formats(self) -> tuple[str, ...]:
        value = self._get("search", "formats")
        return tuple(str(entry) for entry in value) if isinstance(value, list) else _DEFAULT_FORMATS

    @property
    def has_default_secret(self) -> bool:
        return (self._get("server", "secret_key") or DEFAULT_SECRET) == DEFAULT_SECRET

    @property
    def uses_defaults(self) -> bool:
        return bool(self.content.get("use_default_settings"))

    @property
    def port(self) -> int:
        value = self._get("server", "port")
        return value if isinstance(value, int) else _DEFAULT_PORT

    @property
    def limiter(self) -> bool:
        return bool(self._get("server", "limiter"))

    def with_value(self, section: str, key: str, value: Any) -> SettingsFile:
        """Return the file with one value of one section set.

        Raises:
            SettingsFileError: it cannot be done without touching other lines.
        """
        expected = copy.deepcopy(dict(self.content))
        if not isinstance(expected.get(section) or {}, dict):
            raise SettingsFileError(Fact("settings_file.no_table", section=section))
        expected[section] = {**(expected.get(section) or {}), key: value}
        text = _set(self.text, section, key, json.dumps(value, ensure_ascii=False))
        if _parse(text) != expected:
            raise SettingsFileError(Fact("settings_file.by_hand", name=f"{section}.{key}"))
        return SettingsFile(self.path, text, expected)

    def save(self) -> Path:
        """Write the file and return the backup of what it was.

        Raises:
            SettingsFileError: it cannot be written.
        """
        now = datetime.now().astimezone()
        backup = self.path.with_name(f"{self.path.name}.{now:%Y%m%d-%H%M%S}.bak")
        try:
            shutil.copy2(self.path, backup)
            # Not replaced by a new file: a container that has mounted this one would go on with the old.
            self.path.write_text(self.text, encoding="utf-8")
        except OSError as error:
            raise SettingsFileError(Fact("settings_file.unwritable", words=error.strerror or "")) from None
        return backup

    def _get(self, section: str, key: str) -> Any:
        found = self.content.get(section)
        return found.get(key) if isinstance(found, dict) else None


def _parse(text: str) -> dict[str, Any]:
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        # Not its whole text, which quotes the line: the secret may stand there.
        fact = Fact("settings_file.bad_line", line=mark.line + 1) if mark else Fact("settings_file.not_yaml")
        raise SettingsFileError(fact) from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise SettingsFileError(Fact("settings_file.empty"))
    return content


def _set(text: str, section: str, key: str, value: str) -> str:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if root is None:
        return f"{text}{section}:\n  {key}: {value}\n"
    parent = _child(root, section)
    if parent is None or (isinstance(parent, yaml.ScalarNode) and not parent.value):
        if parent is not None:  # "search:" with nothing below it
            return _insert(text, parent.start_mark.index, f"\n  {key}: {value}")
        if root.flow_style:
            return _insert(text, root.start_mark.index + 1, f'"{section}": {{"{key}": {value}}}, ')
        end = "" if text.endswith("\n") else "\n"
        return f"{text}{end}\n{section}:\n  {key}: {value}\n"
    if not isinstance(parent, yaml.MappingNode):
        return text
    current = _child(parent, key)
    if current is not None:
        start, stop = current.start_mark.index, current.end_mark.index
        # The end of a block list lies behind the line breaks and comments that follow it.
        kept = "" if _is_flow(current) else _trailing(text[start:stop])
        before = text[:start]
        if not _is_flow(current):
            before = before.rstrip(" \n") + " "
        return before + value + kept + text[stop:]
    if parent.flow_style:
        return _insert(text, parent.start_mark.index + 1, f'"{key}": {value}, ')
    column = parent.start_mark.column
    return _insert(text, parent.start_mark.index, f"{key}: {value}\n{' ' * column}")


def _child(node: yaml.Node, key: str) -> yaml.Node | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((value for name, value in node.value if name.value == key), None)


def _is_flow(node: yaml.Node) -> bool:
    return not isinstance(node, yaml.CollectionNode) or bool(node.flow_style)


def _trailing(block: str) -> str:
    """Return the part of a block list's text behind its last entry's line."""
    lines = block.splitlines(keepends=True)
    last = max((number for number, line in enumerate(lines) if line.lstrip().startswith("-")), default=0)
    kept = "".join(lines[last + 1 :])
    return "\n" + kept if lines[last].endswith("\n") else kept


def _insert(text: str, index: int, addition: str) -> str:
    return text[:index] + addition + text[index:]

"""Changes of single values in the text of a configuration file; comments and everything else stay as they are."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Callable, Mapping, MutableMapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from qiusuo.config.files import parsed
from qiusuo.errors import ConfigurationError
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

Keys = tuple[str, ...]
"""The way to a value: the names of its tables, and its own."""


class _Unset:
    """Stands for a value that is to be taken out."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = _Unset()
Changes = Mapping[Keys, Any]

_INDENTED_LIST: Final = re.compile(r"^( *)[^\s#-][^\n]*:[^\n]*\n\1 +- ", re.MULTILINE)
_INDENT: Final = re.compile(r"\{\r?\n([ \t]+)")


def edited(path: Path, text: str, changes: Changes) -> str:
    """Return the text of a file with values set or, where they are ``UNSET``, taken out.

    Raises:
        ConfigurationError: it cannot be done without touching something else; or the text cannot be parsed.
    """
    before = parsed(path, text)
    for edit in _EDITORS[path.suffix.lower()]:
        try:
            new = edit(text, changes)
            # Whatever an odd file makes of it: nothing else may be different.
            if _without_empty(parsed(path, new)) == _without_empty(changed(before, changes)):
                return new
        except Exception as fault:  # noqa: BLE001 - each library has errors of its own; their words may quote a key
            logger.info("%s cannot be edited in one way: %s", path, type(fault).__name__)
    names = [".".join(keys) for keys in changes]
    raise ConfigurationError(Fact("settings.by_hand", file=str(path), names=names))


def changed(values: Mapping[str, Any], changes: Changes) -> dict[str, Any]:
    """Return values with some of them set or taken out."""
    result: dict[str, Any] = _copied(values)
    for keys, value in changes.items():
        _put(result, keys, value, dict)
    return result


def _copied(value: Any) -> Any:
    """Return a copy in which nothing stands in two places, as what YAML's aliases name does."""
    if isinstance(value, Mapping):
        return {key: _copied(each) for key, each in value.items()}
    return [_copied(each) for each in value] if isinstance(value, list) else value


def value_at(values: Any, keys: Keys) -> Any:
    """Return a value, ``UNSET`` where there is none."""
    for key in keys:
        if not isinstance(values, Mapping) or key not in values:
            return UNSET
        values = values[key]
    return values


def _put(root: MutableMapping[str, Any], keys: Keys, value: Any, table: Callable[[], Any]) -> None:
    *tables, name = keys
    for key in tables:
        if key not in root:
            if value is UNSET:
                return
            root[key] = table()
        root = root[key]
        if not isinstance(root, MutableMapping):
            raise TypeError(key)
    if value is not UNSET:
        root[name] = value
    elif name in root:
        del root[name]


def _edit_toml(text: str, changes: Changes, *, inline: bool = False) -> str:
    import tomlkit  # noqa: PLC0415 - only who writes settings needs it
    from tomlkit.items import InlineTable, Table  # noqa: PLC0415 - the same

    document = tomlkit.parse(text)
    for (*tables, name), value in changes.items():
        parent: Any = document
        for depth, key in enumerate(tables, 1):
            if key not in parent and value is not UNSET:
                within = inline or isinstance(parent, InlineTable)
                # Only the innermost has a heading: [engines.tavily], not [engines] as well.
                parent[key] = tomlkit.inline_table() if within else tomlkit.table(is_super_table=depth < len(tables))
            parent = parent.get(key, {})
        if value is UNSET:
            parent.pop(name, None)
        elif name in parent or not isinstance(parent, Table):
            parent[name] = value
        else:
            # Behind the last value: comments at the end of a table mostly belong to the next one.
            body, comments = parent.value.body, []
            while body and body[-1][0] is None:
                comments.append(body.pop())
            parent[name] = value
            body.extend(reversed(comments))
    return tomlkit.dumps(document)


def _edit_json(text: str, changes: Changes) -> str:
    values = json.loads(text)
    found = _INDENT.search(text)
    indent = found[1] if found else 2
    return json.dumps(changed(values, changes), ensure_ascii=False, indent=indent) + "\n"


def _edit_yaml(text: str, changes: Changes) -> str:
    from ruamel.yaml import YAML  # noqa: PLC0415 - only who writes settings needs it
    from ruamel.yaml.comments import CommentedMap  # noqa: PLC0415 - the same
    from ruamel.yaml.representer import RoundTripRepresenter  # noqa: PLC0415 - the same
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString  # noqa: PLC0415 - the same

    def quoted(value: Any) -> Any:
        # In quotes: `on`, `12:30` and `1_000` are texts to one version of YAML and something else to another.
        if isinstance(value, str):
            return DoubleQuotedScalarString(value)
        return [quoted(each) for each in value] if isinstance(value, list) else value

    def with_point(representer: Any, value: float) -> Any:
        # 1e-09 is a number to one version of YAML and a text to another, 1.0e-09 is a number to both.
        number = repr(value)
        if "." in number or "e" not in number:
            return representer.represent_float(value)
        return representer.represent_scalar("tag:yaml.org,2002:float", number.replace("e", ".0e"))

    class Representer(RoundTripRepresenter):
        pass

    Representer.add_representer(float, with_point)
    yaml = YAML()
    yaml.Representer = Representer
    yaml.preserve_quotes = True
    yaml.width = 1_000_000
    if _INDENTED_LIST.search(text):
        yaml.indent(mapping=2, sequence=4, offset=2)
    document = yaml.load(text)
    before = ""
    if document is None:  # nothing but comments
        document, before = CommentedMap(), text if not text or text.endswith("\n") else f"{text}\n"
    for keys, value in changes.items():
        _put(document, keys, quoted(value), CommentedMap)
    written = io.StringIO()
    if document or not before:
        yaml.dump(document, written)
    return before + written.getvalue()


# One after the other: beside dotted keys (engines.tavily.api_key = "…") no table may stand.
_EDITORS: Final[Mapping[str, tuple[Callable[[str, Changes], str], ...]]] = {
    ".toml": (_edit_toml, partial(_edit_toml, inline=True)),
    ".json": (_edit_json,),
    ".yaml": (_edit_yaml,),
    ".yml": (_edit_yaml,),
}


def _without_empty(value: Any) -> Any:
    """Return values without empty tables, which mean nothing."""
    if not isinstance(value, Mapping):
        return value
    kept = {key: _without_empty(each) for key, each in value.items()}
    return {key: each for key, each in kept.items() if each != {}}

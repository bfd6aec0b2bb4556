"""Which version of the file a browser has seen, so that nobody overwrites what somebody else has just changed.

A version is a mark for each value, so any process can tell which of them are different by now. The marks are made with
a secret and tell nobody what the values are.
"""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from qiusuo.config.editing import UNSET, Keys, value_at

_NAME_BYTES: Final = 6
_VALUE_BYTES: Final = 9


def version_of(values: Mapping[str, Any], salt: bytes) -> str:
    """Return the version of what a file holds."""
    marks = sorted(name + value for name, value in (_marks(keys, value, salt) for keys, value in _leaves(values)))
    return base64.urlsafe_b64encode(b"".join(marks)).decode()


def changed_since(version: str, values: Mapping[str, Any], keys: Keys, salt: bytes) -> bool:
    """Tell whether a value, or anything of a table, is not what it was in a version."""
    known = _read(version)
    found = value_at(values, keys)
    if isinstance(found, Mapping):
        marks = (_marks((*keys, *inner), value, salt) for inner, value in _leaves(found))
        return any(known.get(name) != value for name, value in marks)
    name, value = _marks(keys, found, salt)
    return known.get(name) != (None if found is UNSET else value)


def _leaves(values: Mapping[str, Any], above: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    for key, value in values.items():
        keys = (*above, str(key))
        if isinstance(value, Mapping):
            yield from _leaves(value, keys)
        else:
            yield keys, value


def _marks(keys: Keys, value: Any, salt: bytes) -> tuple[bytes, bytes]:
    written = json.dumps(value, sort_keys=True, default=str)
    name = hmac.digest(salt, json.dumps(keys).encode(), "sha256")[:_NAME_BYTES]
    return name, hmac.digest(salt, json.dumps([keys, written]).encode(), "sha256")[:_VALUE_BYTES]


def _read(version: str) -> dict[bytes, bytes]:
    try:
        data = base64.urlsafe_b64decode(version.encode())
    except ValueError:
        return {}
    size = _NAME_BYTES + _VALUE_BYTES
    marks = (data[start : start + size] for start in range(0, len(data), size))
    return {mark[:_NAME_BYTES]: mark[_NAME_BYTES:] for mark in marks}

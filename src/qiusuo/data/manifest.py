"""What a backup says about itself."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Final

from qiusuo.errors import ConfigurationError
from qiusuo.words import Fact

FORMAT: Final = "qiusuo-backup"
FORMAT_VERSION: Final = 1
MANIFEST: Final = "manifest.json"
DATABASE: Final = "chat.db"
LARGEST: Final = 1024 * 1024
"""Bytes of a manifest."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """``schema`` is the state of the tables, ``counts`` the rows of each, ``sha256`` that of the database inside."""

    created_at: str
    qiusuo: str
    schema: str
    sha256: str
    size: int
    counts: dict[str, int]

    def to_json(self) -> str:
        """Return it as it stands in the file."""
        return json.dumps({"format": FORMAT, "version": FORMAT_VERSION, **asdict(self)}, ensure_ascii=False, indent=2)

    @classmethod
    def from_json(cls, text: bytes) -> Manifest:
        """Read what ``to_json`` wrote.

        Raises:
            ConfigurationError: it is none, or of a version that is not known here.
        """
        try:
            data: dict[str, Any] = json.loads(text)
            known = data.pop("format") == FORMAT
            version = int(data.pop("version"))
            if known and version > FORMAT_VERSION:
                raise ConfigurationError(Fact("data.newer_backup"))
            counts = {str(name): int(count) for name, count in data.pop("counts").items()}
            made = cls(**data, counts=counts)
            known = known and type(made.size) is int and type(made.schema) is str
        except (ValueError, TypeError, KeyError, AttributeError):
            known = False
        if not known:
            raise ConfigurationError(Fact("data.no_backup"))
        return made

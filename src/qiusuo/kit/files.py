"""The files of a SearXNG: where they are, and how they are written from the templates."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Template
from typing import Final

from qiusuo.folders import data_folder

COMPOSE: Final = "docker-compose.yml"
SETTINGS: Final = "settings.yml"
LIMITER: Final = "limiter.toml"
SECRETS: Final = "searxng.env"
SECRET_VARIABLE: Final = "SEARXNG_SECRET"  # noqa: S105 - its name
DEFAULT_PORT: Final = 8080
_SECRET_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class KitFolder:
    """A folder with the files of one SearXNG."""

    path: Path

    @property
    def compose(self) -> Path:
        return self.path / COMPOSE

    @property
    def settings(self) -> Path:
        return self.path / SETTINGS

    @property
    def secrets(self) -> Path:
        return self.path / SECRETS

    @property
    def secret(self) -> str | None:
        """SearXNG's secret, where it stands in a file of its own."""
        try:
            lines = self.secrets.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return None
        found = (line.partition("=") for line in lines)
        return next((value.strip() for name, _, value in found if name.strip() == SECRET_VARIABLE), None) or None

    @property
    def exists(self) -> bool:
        return self.settings.is_file()

    @property
    def paths(self) -> tuple[Path, ...]:
        """All files of a SearXNG."""
        return tuple(self.path / name for name in (COMPOSE, SETTINGS, LIMITER, SECRETS))

    @property
    def is_whole(self) -> bool:
        return all(path.is_file() for path in self.paths)

    def write(self, *, port: int = DEFAULT_PORT, limiter: bool = False, force: bool = False) -> tuple[Path, ...]:
        """Write the files out of the templates and return the paths of those written.

        A file that is there stays as it is, unless ``force`` is set.

        Raises:
            OSError: the folder cannot be written.
        """
        paths = tuple(path for path in self.paths if force or not path.exists())
        values = {
            "port": str(port),
            "secret": secrets.token_hex(_SECRET_BYTES),
            "limiter": "true" if limiter else "false",
            "valkey_url": "valkey://valkey:6379/0" if limiter else "false",
            # A service without a profile is always started, one with a profile only when that is asked for.
            "valkey_profiles": "[]" if limiter else "[limiter]",
        }
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in paths:
            # The secret is for its owner alone, who starts the container; the container's own user must read the rest.
            mode = 0o600 if path.name == SECRETS else 0o644
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8") as out:
                path.chmod(mode)  # also where the file was there already, or the umask is strict
                out.write(Template(template(path.name)).substitute(values))
        return paths


def template(name: str) -> str:
    """Return the text of a template."""
    return (resources.files("qiusuo.kit") / "templates" / name).read_text("utf-8")


def default_folder(environ: Mapping[str, str] = os.environ) -> KitFolder:
    """Return the folder that is used where none is named."""
    return KitFolder(data_folder(environ) / "searxng")


def environment_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return where a SearXNG without Docker is installed."""
    return data_folder(environ) / "searxng" / "env"

"""A server whose settings are read from a file, with loopback providers, to be set up over HTTP."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from qiusuo.config import Settings
from qiusuo.service import SearchService
from qiusuo.web.backend import Extend
from tests.support.web_server import WebServer


class SettingsServer(WebServer):
    """Serves the configuration that stands in the file ``QIUSUO_CONFIG`` names, or in the user's folder."""

    def settings(self, **headers: str) -> dict[str, Any]:
        answer = self.client.get("/api/settings", headers=headers)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def patch(
        self,
        values: dict[str, Any] | None = None,
        unset: Sequence[str] = (),
        *,
        version: str | None = None,
        **headers: str,
    ) -> httpx.Response:
        body = {"set": values or {}, "unset": list(unset), **({} if version is None else {"version": version})}
        return self.client.patch("/api/settings", json=body, headers=headers)

    def saved(self, values: dict[str, Any] | None = None, unset: Sequence[str] = ()) -> dict[str, Any]:
        """Change settings that can be changed."""
        answer = self.patch(values, unset)
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told


@contextmanager
def settings_server(extensions: Sequence[Extend] = (), **arguments: Any) -> Iterator[SettingsServer]:
    """Serve what the configuration says."""
    settings = Settings.load(**arguments)
    with SettingsServer(SearchService.from_settings(settings), settings, extensions=extensions) as server:
        yield server


def config_path() -> Path:
    """Where the file is, or will be."""
    named = os.environ.get("QIUSUO_CONFIG")
    return Path(named) if named else Path(os.environ["XDG_CONFIG_HOME"]) / "qiusuo" / "config.toml"

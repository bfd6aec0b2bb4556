"""``qiusuo chat`` in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from qiusuo.testing import ProviderServer
from qiusuo.testing.providers.searxng import Searxng
from tests.support.scripted_model import ScriptedModel
from tests.support.terminal import PseudoTerminal

CHAT = [sys.executable, "-m", "qiusuo", "chat"]


class ChatTerminal:
    """Runs ``qiusuo chat`` with an environment of its own: SearXNG and a scripted model on loopback."""

    def __init__(self, stack: ExitStack, home: Path) -> None:
        self.searxng = stack.enter_context(ProviderServer(Searxng()))
        self.model = stack.enter_context(ScriptedModel())
        self.home = home
        self._stack = stack
        self.env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "HOME": str(home),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "SEARXNG_URL": self.searxng.base_url,
            "SEARCH_PROVIDER_PRIORITY": "searxng",
            "QIUSUO_MODEL": "openai:scripted",
            "QIUSUO_MODEL_BASE_URL": self.model.base_url,
            "QIUSUO_MODEL_API_KEY": self.model.key,
            "QIUSUO_LANG": "zh",
            "QIUSUO_DEPTH": "snippets",
        }

    def _environment(self, changes: dict[str, str | None]) -> dict[str, str]:
        return {name: value for name, value in (self.env | changes).items() if value is not None}

    def pipe(self, *arguments: str, question: str = "", code: int = 0, **environment: str | None) -> tuple[str, str]:
        """Ask through a pipe; return what came to standard output and standard error."""
        done = subprocess.run(  # noqa: S603 - our own command
            [*CHAT, *arguments],
            input=question.encode(),
            env=self._environment(environment),
            capture_output=True,
            timeout=100,
            check=False,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        assert done.returncode == code, (out, err)
        assert "Traceback" not in err
        assert self.model.key not in out + err
        assert "\x1b" not in out + err
        return out, err

    def events(self, *arguments: str, code: int = 0, **environment: Any) -> list[dict[str, Any]]:
        out, err = self.pipe(*arguments, "--json", code=code, **environment)
        assert err == ""
        return [json.loads(line) for line in out.splitlines()]

    def screen(self, *arguments: str, **environment: str | None) -> PseudoTerminal:
        """Begin a conversation in a terminal."""
        screen = PseudoTerminal([*CHAT, *arguments], self._environment(environment))
        return self._stack.enter_context(screen)

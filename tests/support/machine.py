"""A machine of a test's own, on which printed commands are typed."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from qiusuo.kit.environment import SHA256

TOOLS = ("sh", "env", "curl", "chmod", "redis-server", "redis-cli", "sleep", "cat", "uname", "dirname")
# Plays the SearXNG that is started without Docker: it reads its settings at its start, as the real one.
STAND_IN = """
import json, os, sys, yaml
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
formats = (yaml.safe_load(open(os.environ["SEARXNG_SETTINGS_PATH"])).get("search") or {}).get("formats", ["html"])
ROW = {"title": "Tea", "url": "https://tea.example/", "content": "About tea", "engine": "one", "engines": ["one"]}
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        search = self.path.startswith("/search")
        body = {"results": [ROW], "unresponsive_engines": [], "version": "2026.11.1", "engines": [], "categories": [],
                "plugins": [], "instance_name": "x", "locales": {}, "default_locale": "", "limiter": {"enabled": False}}
        refused = search and "json" not in formats
        text = b"OK" if self.path == "/healthz" else json.dumps(body).encode()
        text = b"<!doctype html><title>403 Forbidden</title>" if refused else text
        self.send_response(403 if refused else 200)
        self.send_header("Content-Type", "text/html" if refused else "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *_): print("asked", flush=True)
ThreadingHTTPServer(("127.0.0.1", int(os.environ["SEARXNG_PORT"])), Handler).serve_forever()
"""


class Machine:
    """A machine of one's own: its data folder and its programs."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bin = folder / "bin"
        self.data = folder / "data"
        self._patch = monkeypatch
        self._left: list[subprocess.Popen[str]] = []
        self.bin.mkdir()
        for tool in filter(shutil.which, TOOLS):
            (self.bin / tool).symlink_to(str(shutil.which(tool)))
        self.program("qiusuo", f'exec {sys.executable} -m qiusuo "$@"')
        for name in ("DOCKER_HOST", "XDG_RUNTIME_DIR"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"PATH": self.bin, "XDG_DATA_HOME": self.data, "HOME": folder, "QIUSUO_LANG": "en"}.items():
            monkeypatch.setenv(name, str(value))
        monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "searxng")

    def program(self, name: str, script: str) -> None:
        """Put a program on this machine."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def install_searxng(self) -> None:
        """Install the stand-in where SearXNG is installed without Docker."""
        folder = self.data / "qiusuo" / "searxng" / "env"
        (folder / "bin").mkdir(parents=True)
        (folder / "wheel.sha256").write_text(SHA256)
        (folder / "stand_in.py").write_text(STAND_IN)
        (folder / "bin" / "python").write_text(f"#!/bin/sh\nexec {sys.executable} {folder}/stand_in.py\n")
        (folder / "bin" / "python").chmod(0o755)

    def run(self, *commands: str) -> None:
        """Type commands one after the other; each must succeed, or serve."""
        for command in commands:
            if command.startswith(("export ", "unset ")):
                self._change_environment(command)
            elif re.match(r"qiusuo searxng (up|restart)", command) and not (self.bin / "docker").exists():
                self._serve(command)
            else:
                done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)  # noqa: S603 - what is tested
                # The doctor's codes tell what it has found before it repairs; 2 is wrong usage.
                accepted = {0, 1, 3} if command.startswith("qiusuo doctor") else {0}
                assert done.returncode in accepted, f"{command}\n{done.stdout}{done.stderr}"

    def _change_environment(self, command: str) -> None:
        name = re.sub(r"=.*", "", command.split()[1])
        done = subprocess.run(["/bin/sh", "-c", f"{command} && env"], capture_output=True, text=True, check=True)  # noqa: S603 - what is tested
        found = dict(line.partition("=")[::2] for line in done.stdout.splitlines()).get(name)
        self._patch.setenv(name, found) if found is not None else self._patch.delenv(name)

    def _serve(self, command: str) -> None:
        process = subprocess.Popen(  # noqa: S603 - what is tested
            ["/bin/sh", "-c", f"exec {command}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._left.append(process)
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            if "listens on" in line:
                return
        raise AssertionError(f"{command}\n{said}")

    def close(self) -> None:
        for process in self._left:
            process.send_signal(signal.SIGTERM)
        for process in self._left:
            process.communicate(timeout=20)

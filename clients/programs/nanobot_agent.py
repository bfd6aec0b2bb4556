"""nanobot in the terminal: Qiusuo as its model, as its search (SearXNG's shape) and as an MCP server."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from common import BASE, KEY, QUESTION, URL, cited

NANOBOT = str(Path(sys.executable).with_name("nanobot"))
HOST = URL.removeprefix("http://")


def ask(tools: dict[str, object], extra: dict[str, object]) -> str:
    provider = {"apiKey": KEY, "apiBase": BASE, "extraBody": extra}
    with tempfile.TemporaryDirectory() as home:
        config = Path(home, "config.json")
        agents = {"defaults": {"model": "qiusuo-chat", "provider": "custom", "workspace": f"{home}/work"}}
        config.write_text(json.dumps({"agents": agents, "providers": {"custom": provider}, "tools": tools}), "utf-8")
        done = subprocess.run(
            [NANOBOT, "agent", "--config", str(config), "--no-markdown", "-m", QUESTION],
            env={**os.environ, "HOME": home, "COLUMNS": "1000"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout, done.stderr)
    return done.stdout


no_web = {"enable": False}
cited(ask({"web": no_web}, {}))
loopback = ["127.0.0.0/8"]
searxng = {"enable": True, "search": {"provider": "searxng", "baseUrl": f"http://me:{KEY}@{HOST}"}}
assert "in March" in ask({"web": searxng, "ssrfWhitelist": loopback}, {"search": False})
server = {"type": "streamableHttp", "url": f"{URL}/mcp", "headers": {"Authorization": f"Bearer {KEY}"}}
tools = {"web": no_web, "mcpServers": {"qiusuo": server}, "ssrfWhitelist": loopback}
assert "in March" in ask(tools, {"search": False})

"""Dashboard and alerts name what ``/metrics`` of a running server has, and the alerts come when they should."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from qiusuo.chat.stores.opening import open_store
from qiusuo.testing import Fault
from qiusuo.web.chat.routes import chat_extension
from tests.support.chat_world import scripted
from tests.support.scripted_model import Reply, ScriptedModel
from tests.support.web_server import WebServer

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "observability"
ALERTS = FOLDER / "alerts.yml"
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "dashboard.json").read_text("utf-8"))
PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed (Debian: prometheus)")
# What Prometheus itself adds, and what histograms have.
GIVEN = {"instance", "job", "le"}
# Labels of refused connections and wrong tokens, of which there are none here.
UNSEEN = {"reason", "limited"}


def queries() -> Iterator[tuple[str, str]]:
    for panel in DASHBOARD["panels"]:
        yield from ((panel["title"], target["expr"]) for target in panel["targets"])
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["query"]
    for group in yaml.safe_load(ALERTS.read_text("utf-8"))["groups"]:
        yield from ((rule["alert"], rule["expr"]) for rule in group["rules"])


@pytest.fixture(scope="module")
def told() -> dict[str, set[str]]:
    """Every sample that a server can tell by its name, with its labels as far as they were seen."""
    options: dict[str, Any] = {"engines": {"tavily": {"monthly_quota": 50}}, "hedge_delay": 0}
    with ScriptedModel(otherwise=Reply.error(401)) as model:
        chat = chat_extension(scripted(model), open_store("sqlite://"))
        with WebServer.over("tavily", "brave", extensions=[chat], **options) as server:
            return _told(server)


def _told(server: WebServer) -> dict[str, set[str]]:
    session = server.client.post("/api/chat/sessions", json={}).json()["id"]
    server.client.post(f"/api/chat/sessions/{session}/turns", json={"text": "hello"}).read()
    server.search("one")
    server.search("one")
    server.world["tavily"].fault = Fault.SERVER_ERROR
    server.search("two", engine="tavily")
    server.search("")
    families = list(text_string_to_metric_families(server.metrics()))
    endings = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum"), "gauge": ("",)}
    return {
        f"{family.name}{ending}": {name for sample in family.samples for name in sample.labels}
        for family in families
        for ending in endings[family.type]
    }


@pytest.mark.parametrize(("where", "query"), list(queries()))
def test_every_query_names_what_is_told(told: dict[str, set[str]], where: str, query: str) -> None:
    named = set(re.findall(r"\bqiusuo_\w+", query))
    assert named or query.startswith("up{"), where
    assert named <= told.keys(), where
    labels = set(re.findall(r"(\w+)(?:=~|!~|!=|=)\"", query))
    for inside in re.findall(r"\bby \(([^)]*)\)", query):
        labels |= {name.strip() for name in inside.split(",")}
    seen = set().union(*(told[name] for name in named)) or UNSEEN
    assert labels <= seen | GIVEN, where


def test_every_number_is_shown_somewhere(told: dict[str, set[str]]) -> None:
    shown = " ".join(query for _, query in queries())
    hidden = {re.sub(r"_(bucket|count|sum|created)$", "", name) for name in told if name not in shown}
    assert not {name for name in hidden if name not in shown}


@pytest.mark.programs
@needs_promtool
def test_the_alerts_come_when_they_should() -> None:
    assert PROMTOOL is not None
    for arguments in (
        ["check", "rules", "alerts.yml"],
        ["test", "rules", "alerts_test.yml"],
        ["check", "config", "--syntax-only", "prometheus.yml"],
    ):
        command = [PROMTOOL, *arguments]
        done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - promtool
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.programs
@needs_promtool
def test_prometheus_understands_every_query_of_the_dashboard(tmp_path: Path) -> None:
    assert PROMTOOL is not None
    rules = [
        {
            "record": f"panel:{panel['id']}:{target['refId']}",
            "expr": target["expr"].replace("$__rate_interval", "5m").replace("$instance", ".*"),
        }
        for panel in DASHBOARD["panels"]
        for target in panel["targets"]
    ]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    done = subprocess.run([PROMTOOL, "check", "rules", file], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - promtool
    assert done.returncode == 0, done.stdout + done.stderr

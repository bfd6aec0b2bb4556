"""A research whose server is killed: what was planned, found and written is there, and only the rest is done."""

from __future__ import annotations

import json
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from qiusuo.testing import ProviderServer
from tests.support.research_world import PARTS, QUESTION, is_plan, part_of, writer
from tests.support.scripted_model import Gate, ScriptedModel
from tests.support.server_process import server_process
from tests.support.small_web import SmallWeb

pytestmark = pytest.mark.programs


def searched(web: ProviderServer) -> list[str]:
    return [seen.params["q"] for seen in web.seen if "q" in seen.params and seen.params.get("pageno", "1") == "1"]


def wait_until_kept(file: Path, words: str) -> None:
    """Wait until the section is in the database: what is new is written every two seconds."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        with closing(sqlite3.connect(file)) as database:
            records = [json.loads(row[0]) for row in database.execute("SELECT record FROM qiusuo_turns")]
        if any(words in step["section"] for record in records for step in (record["kept"] or {"steps": ()})["steps"]):
            return
        time.sleep(0.1)
    pytest.fail("the section was never saved")


def test_killed_and_gone_on(tmp_path: Path) -> None:
    database, gate = f"sqlite:///{tmp_path / 'chat.db'}", Gate()
    with ProviderServer(SmallWeb()) as web, ScriptedModel(otherwise=writer(gate, PARTS[1])) as model:
        reach = {"SEARXNG_URL": web.url, "QIUSUO_READ_PRIVATE": f"127.0.0.1:{web.port}"}
        with server_process(model, database, port=0, **reach) as first:
            session = first.new()
            with first.asking(session, QUESTION, research=True, language="zh") as events:
                for event in events:
                    if event["type"] == "research" and event["steps"] and event["steps"][1]["state"] == "writing":
                        break
                wait_until_kept(tmp_path / "chat.db", "1196米")
                first.process.send_signal(signal.SIGKILL)
                first.process.wait()
        asked, before = len(model.requests), searched(web)
        assert before, "the web was searched"
        model.otherwise = writer()
        with server_process(model, database, port=0, **reach) as again:
            [turn] = again.show(session)["turns"]
            assert (turn["state"], turn["finish"], turn["canGoOn"]) == ("failed", "server_restart", True)
            assert "1196米" in turn["answer"], "the section that was finished"
            assert [step["question"] for step in turn["research"]["steps"]] == list(PARTS)
            assert "kept" not in turn
            last = again.ask(session, "", goesOn=turn["id"])[-1]
            assert last["state"] == "done"
            [turn] = again.show(session)["turns"]
            refused = again.client.post(f"/api/chat/sessions/{session}/turns", json={"goesOn": turn["id"]})
            assert refused.json()["code"] == "session.nothing_to_go_on"
    assert turn["question"] == QUESTION
    assert turn["canGoOn"] is False
    assert [line for line in turn["answer"].splitlines() if line.startswith("## ")] == [
        *(f"## {part}" for part in PARTS),
        "## 小结",
    ]
    assert turn["answer"].count("1196米") == 1
    assert turn["check"]["report"]["counts"]["supported"] >= 2
    assert searched(web) == before, "nothing is searched for again"
    later = model.requests[asked:]
    assert not any(is_plan(each) for each in later), "nothing is planned again"
    assert [part_of(each) for each in later] == [PARTS[1], PARTS[2], ""]
    assert turn["research"]["used"]["searches"] == len(before)

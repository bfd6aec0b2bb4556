"""Conversations shared by a link: what it shows, to whom, and how it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from qiusuo.web.entrance import door
from tests.support.chat_page import Page, page
from tests.support.scripted_model import Gate, Reply, Step

ALICE, BOB = "tok-alice-0123456789", "tok-bob-0123456789ab"


@contextmanager
def sharing(*script: Step, **settings: Any) -> Iterator[Page]:
    with page(*script, sharing=True, **settings) as it:
        yield it


def share(it: Page, session: str, **body: Any) -> httpx.Response:
    return it.client.post(f"/api/chat/sessions/{session}/shares", json=body)


def listed(it: Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = it.client.get("/api/chat/shares").json()["shares"]
    return found


def stranger(it: Page, path: str, **headers: str) -> httpx.Response:
    """Open a link as somebody else does, from a link on another site."""
    navigation = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    return httpx.get(it.server.url + path, headers={**navigation, **headers}, trust_env=False)


def test_it_is_off_unless_somebody_switches_it_on() -> None:
    with page(Reply.text("好。")) as it:
        session = it.new()
        it.ask(session, "问")
        answer = share(it, session)
        assert (answer.status_code, answer.json()["code"]) == (403, "sharing.off")
        assert it.client.get("/api/chat/shares").json() == {"sharing": False, "shares": []}
        assert stranger(it, "/share/anything").status_code == 404


def test_a_link_shows_what_was_there_and_nothing_of_the_owner() -> None:
    script = "<script>alert(1)</script>"
    replies = (Reply.text(f"见 [1]。{script}"), Reply.text("Second."), Reply.text("Third."))
    with sharing(*replies, tokens=f"alice:{ALICE}") as it:
        it.client.headers["Authorization"] = f"Bearer {ALICE}"
        session = it.new(search=True)
        it.ask(session, "今天的新闻")
        it.ask(session, f"private? {script}")
        until = it.show(session)["turns"][0]["id"]
        made = share(it, session, until=until)
        assert made.status_code == 201
        path = made.json()["path"]
        assert len(path.removeprefix("/share/")) >= 32
        got = stranger(it, path)
        assert got.status_code == 200
        assert "<h1>今天的新闻</h1>" in got.text
        assert "<h2>今天的新闻</h2>" not in got.text, "said once"
        assert "@media screen and (prefers-color-scheme: dark)" in got.text
        assert 'href="https://site1.example.com/page/1"' in got.text
        for hidden in ("private?", "Second", "alice", session, until, "scripted", "searxng", "<script"):
            assert hidden not in got.text
        assert "default-src 'none'" in got.headers["content-security-policy"]
        assert "script-src" not in got.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in got.headers["content-security-policy"]
        assert "noindex" in got.headers["x-robots-tag"]
        assert got.headers["cache-control"] == "no-store"
        assert got.headers["referrer-policy"] == "no-referrer"
        # Not in a frame; and what comes later stays the owner's.
        assert (
            "frame-ancestors" in stranger(it, path, **{"Sec-Fetch-Dest": "iframe"}).headers["content-security-policy"]
        )
        before = got.text
        it.ask(session, "more")
        it.client.patch(f"/api/chat/sessions/{session}", json={"title": "secret title"})
        assert stranger(it, path).text == before
        # The secret is told once.
        assert path.removeprefix("/share/") not in it.client.get("/api/chat/shares").text


def test_it_ends_at_once_and_with_its_conversation() -> None:
    with sharing(Reply.text("好。"), Reply.text("好。")) as it:
        session = it.new()
        it.ask(session, "问")
        first, second = (share(it, session).json() for _ in range(2))
        assert [one["id"] for one in listed(it)] == [second["id"], first["id"]]
        assert it.client.delete(f"/api/chat/shares/{first['id']}").status_code == 204
        gone = stranger(it, first["path"])
        assert (gone.status_code, gone.headers["cache-control"]) == (404, "no-store")
        assert gone.headers["content-type"].startswith("text/html")
        assert stranger(it, second["path"]).status_code == 200
        it.client.delete(f"/api/chat/sessions/{session}")
        assert stranger(it, second["path"]).status_code == 404
        assert listed(it) == []


def test_others_can_neither_share_nor_see_nor_end_it() -> None:
    with sharing(Reply.text("好。"), tokens=f"alice:{ALICE},bob:{BOB}") as it:
        it.client.headers["Authorization"] = f"Bearer {ALICE}"
        session = it.new()
        it.ask(session, "问")
        made = share(it, session).json()
        it.client.headers["Authorization"] = f"Bearer {BOB}"
        assert share(it, session).status_code == 404
        assert listed(it) == []
        it.client.delete(f"/api/chat/shares/{made['id']}")
        assert stranger(it, made["path"]).status_code == 200
        del it.client.headers["Authorization"]
        assert it.client.get("/api/chat/shares").status_code == 401


def test_what_is_not_there_cannot_be_shared() -> None:
    gate = Gate()
    with sharing(Reply.text("开头", gate, "结尾")) as it:
        session = it.new()
        assert share(it, session).json()["code"] == "sharing.nothing"
        with it.asking(session, "问") as events:
            for event in events:
                if event["type"] == "delta":
                    break
            assert share(it, session).status_code == 400  # it is being answered
            gate.open()
            list(events)
        assert share(it, session, until="none").status_code == 404
        for wrong in ({"days": 0}, {"days": 99_999}, {"days": "7"}, {"forever": True}):
            assert share(it, session, **wrong).status_code == 400
        ends = share(it, session, days=7).json()["endsAt"]
        assert ends > listed(it)[0]["createdAt"]


def test_guesses_are_slowed_down_as_wrong_tokens_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "LATE_SECONDS", 0.0)
    with sharing(Reply.text("好。")) as it:
        session = it.new()
        it.ask(session, "问")
        path = share(it, session).json()["path"]
        with httpx.Client(base_url=it.server.url, trust_env=False) as guesser:
            answers = [guesser.get(f"/share/guess{number}") for number in range(door.MOST + 5)]
        assert [answer.status_code for answer in answers] == [404] * door.MOST + [429] * 5
        assert int(answers[-1].headers["retry-after"]) > 0
        # Who has the link gets in all the same.
        assert stranger(it, path).status_code == 200

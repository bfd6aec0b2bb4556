"""An earlier question asked in other words, over the API: a branch with what came before, and links both ways."""

from __future__ import annotations

from tests.support.chat_page import page
from tests.support.scripted_model import Reply


def test_a_branch_goes_on_without_what_came_after() -> None:
    with page(*(Reply.text(f"Answer {number}.") for number in range(4)), language="en") as it:
        old = it.new()
        for question in ("Tea?", "Green?", "Black?"):
            it.ask(old, question)
        before = it.show(old)
        second = before["turns"][1]["id"]
        made = it.client.post(f"/api/chat/sessions/{old}/branches", json={"turn": second})
        assert made.status_code == 201
        branch = made.json()["id"]
        assert made.json()["removed"] == []
        it.ask(branch, "White?")
        shown = it.show(branch)
        assert [turn["question"] for turn in shown["turns"]] == ["Tea?", "White?"]
        assert shown["branchedFrom"] == {"session": old, "title": "Tea?", "turn": second}
        told = it.model.requests[-1].prompt
        assert "Answer 0." in told
        assert "Green" not in told
        after = it.show(old)
        assert after["turns"] == before["turns"]
        assert after["branches"] == [{"session": branch, "title": "White?", "turn": second}]
        exported = it.client.get(f"/api/chat/sessions/{branch}/export.json").json()
        assert [turn["question"] for turn in exported["turns"]] == ["Tea?", "White?"]
        assert old not in str(exported)
        brought = it.client.post("/api/chat/import", json=exported).json()
        assert it.show(brought["id"])["branchedFrom"] is None
        wrong = it.client.post(f"/api/chat/sessions/{old}/branches", json={"turn": "none"})
        assert (wrong.status_code, wrong.json()["code"]) == (400, "session.no_such_turn")

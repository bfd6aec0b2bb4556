"""What readers think of answers: kept with the conversation, read by who runs the server, deleted with it."""

from __future__ import annotations

import csv
import io

import httpx

from tests.support.chat_page import Page, page
from tests.support.scripted_model import Reply

ALICE, BOB = "tok-alice-0123456789", "tok-bob-0123456789ab"


def table(it: Page, token: str = ALICE) -> httpx.Response:
    return it.client.get("/api/board/feedback.csv", headers={"Authorization": f"Bearer {token}"})


def rows(it: Page) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table(it).text.removeprefix("\ufeff"))))


def test_it_is_kept_for_operators_and_goes_with_the_conversation() -> None:
    replies = [Reply.text(f"Answer {number}.") for number in range(3)]
    with page(*replies, tokens=f"alice:{ALICE},bob:{BOB}", operators="alice") as it:
        it.client.headers["Authorization"] = f"Bearer {BOB}"
        session = it.new(search=True)
        it.ask(session, "Something private?")
        it.ask(session, "And more?")
        first, second = (turn["id"] for turn in it.show(session)["turns"])
        at = f"/api/chat/sessions/{session}/turns"
        bad = {"verdict": "bad", "reasons": ["sources", "slow", "slow"], "text": " =1+1 太慢 "}
        assert it.client.post(f"{at}/{first}/feedback", json={"verdict": "good"}).status_code == 204
        assert it.client.post(f"{at}/{first}/feedback", json=bad).status_code == 204
        assert it.client.post(f"{at}/{second}/feedback", json={"verdict": "good"}).status_code == 204
        shown = it.show(session)["turns"]
        assert shown[0]["feedback"] == {"verdict": "bad", "reasons": ["sources", "slow"], "text": "=1+1 太慢"}
        found = {row["verdict"]: row for row in rows(it)}
        assert found["bad"]["text"] == "'=1+1 太慢"
        assert (found["bad"]["reasons"], found["bad"]["engines"]) == ("sources slow", "searxng")
        assert found["bad"]["model"] == "openai:scripted"
        assert "private" not in table(it).text
        assert "bob" not in table(it).text
        assert table(it, BOB).status_code == 403
        exported = it.client.get(f"/api/chat/sessions/{session}/export.json").text
        assert "太慢" not in exported
        # Taken back; gone with a turn that is replaced; gone with the conversation.
        assert it.client.post(f"{at}/{first}/feedback", json={"verdict": None}).status_code == 204
        assert "feedback" not in it.show(session)["turns"][0]
        it.ask(session, "And more, please?", replaces=second)
        assert rows(it) == []
        last = it.show(session)["turns"][1]["id"]
        it.client.post(f"{at}/{last}/feedback", json={"verdict": "good"})
        assert len(rows(it)) == 1
        it.client.delete(f"/api/chat/sessions/{session}")
        assert rows(it) == []


def test_what_cannot_be_is_refused() -> None:
    with page(Reply.text("好。"), tokens=f"alice:{ALICE},bob:{BOB}") as it:
        it.client.headers["Authorization"] = f"Bearer {BOB}"
        session = it.new()
        it.ask(session, "问")
        at = f"/api/chat/sessions/{session}/turns"
        turn = it.show(session)["turns"][0]["id"]
        for wrong in (
            {},
            {"verdict": "fine"},
            {"verdict": "bad", "reasons": ["x"]},
            {"verdict": "bad", "text": "x" * 1001},
        ):
            assert it.client.post(f"{at}/{turn}/feedback", json=wrong).status_code in {400, 422}
        assert it.client.post(f"{at}/none/feedback", json={"verdict": "good"}).status_code == 404
        others = {"Authorization": f"Bearer {ALICE}"}
        assert it.client.post(f"{at}/{turn}/feedback", json={"verdict": "good"}, headers=others).status_code == 404

"""What readers think of answers: taken for who runs the server, who has it as a table."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qiusuo.chat.live.conversations import Conversations
from qiusuo.chat.sessions.feedback import MAX_TEXT, Feedback, Reason, Told, Verdict
from qiusuo.usage.sheets import sheet
from qiusuo.web.backend import Backend
from qiusuo.web.chat.requests import answered, owner_of
from qiusuo.web.errors import Refusal
from qiusuo.web.route import read_body
from qiusuo.words import Fact


class GivenFeedback(BaseModel):
    """Good or bad, and why; without a verdict what was said before is taken back."""

    model_config = ConfigDict(extra="forbid")

    verdict: Verdict | None
    reasons: list[Reason] = Field(default=[], max_length=len(Reason))
    text: str = Field(default="", max_length=MAX_TEXT)


@dataclass(frozen=True, slots=True)
class FeedbackRoutes:
    """The endpoints over the feedback of one server."""

    backend: Backend
    conversations: Conversations

    def routes(self) -> list[Route]:
        """Return the routes."""
        turn = "/api/chat/sessions/{session}/turns/{turn}"
        return [
            Route(f"{turn}/feedback", answered(self.take), methods=["POST"]),
            Route("/api/board/feedback.csv", answered(self.table), methods=["GET"]),
        ]

    async def take(self, request: Request) -> Response:
        """Take what a reader thinks of an answer."""
        body, path = await read_body(request, GivenFeedback), request.path_params
        given = None
        if body.verdict is not None:
            given = Feedback(body.verdict, tuple(dict.fromkeys(body.reasons)), body.text.strip())
        await self.conversations.store.feedback.put(owner_of(request), path["session"], path["turn"], given)
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def table(self, request: Request) -> Response:
        """Return all that was given as CSV: of what kind the answers were, neither whose nor what was asked."""
        if not self.backend.is_run_by(request.scope):
            raise Refusal(HTTPStatus.FORBIDDEN, Fact("usage.for_operators"))
        rows = [_row(each) for each in await self.conversations.store.feedback.all()]
        headers = {
            "Cache-Control": "no-store",
            "Content-Disposition": 'attachment; filename="qiusuo-board-feedback.csv"',
            "X-Content-Type-Options": "nosniff",
        }
        return Response(sheet({"feedback": rows}, "feedback"), headers=headers, media_type="text/csv; charset=utf-8")


def _row(told: Told) -> dict[str, Any]:
    given = told.feedback
    return {
        "at": told.at,
        "verdict": given.verdict.value,
        "reasons": " ".join(given.reasons),
        "text": given.text,
        "mode": told.mode,
        "model": told.model,
        "engines": " ".join(told.engines),
    }

"""The JSON of answers about conversations, as the OpenAPI document has it. No answer is made or checked by it."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from qiusuo.chat.depth import Depth
from qiusuo.chat.sessions.feedback import Reason, Verdict
from qiusuo.chat.sessions.session import Mode, SwitchState
from qiusuo.files import FileKind
from qiusuo.models import Freshness
from qiusuo.web.schemas import CamelModel, EngineAnswer, ProblemAnswer


class ChatSettingsAnswer(CamelModel):
    """What is set for a conversation."""

    mode: Mode
    search: bool
    engine: str | None = Field(description="The only engine; null: the usual order.")
    results: int = Field(description="How many results go into the prompt.")
    depth: Depth | None = Field(description="Null: what the server is set to.")
    model: str | None = Field(description="Null: the first.")
    focus: str
    sites: list[str]
    freshness: Freshness | None
    switch: SwitchState = Field(description="How the search switch looks.")
    note: str = Field(description="Why it looks so, in words.")


class SessionAnswer(CamelModel):
    """A conversation without its turns."""

    id: str
    title: str
    settings: ChatSettingsAnswer
    created_at: str
    updated_at: str
    running: str | None = Field(description="The id of the turn that is being answered just now.")


class SessionsAnswer(CamelModel):
    """Conversations, the last used first."""

    sessions: list[SessionAnswer]
    more: bool
    total: int
    most: int = Field(description="How many are kept.")
    when_full: str = Field(description="`refuse`, or `delete_oldest`.")
    of_this_machine: int = Field(description="Conversations from before there were tokens, told to operators.")


class RemovedAnswer(CamelModel):
    """A conversation that made room for a new one."""

    id: str
    title: str


class BegunAnswer(SessionAnswer):
    """A new conversation."""

    removed: list[RemovedAnswer]


class FileAnswer(CamelModel):
    """A file of a conversation."""

    id: str
    name: str
    kind: FileKind
    size: int
    pages: int
    chars: int
    cut: bool = Field(description="Not all of its text is kept.")
    added_at: str
    state: str = Field(description="`ready`.")


class FileReadAnswer(CamelModel):
    """A file that is being read."""

    name: str
    page: int
    pages: int
    state: str = Field(description="`reading`.")


class FilesAnswer(CamelModel):
    """The files of a conversation."""

    files: list[FileAnswer | FileReadAnswer]
    most: int


class FileTextAnswer(CamelModel):
    """The text of one page of a file."""

    name: str
    page: int
    pages: int
    heading: str
    text: str


class BranchAnswer(CamelModel):
    """Another conversation, and the question at which the two part."""

    session: str
    title: str
    turn: str


class FeedbackAnswer(CamelModel):
    """What the reader thinks of an answer."""

    verdict: Verdict
    reasons: list[Reason]
    text: str


class ShareAnswer(CamelModel):
    """A link to a conversation."""

    id: str
    session: str
    title: str
    created_at: str
    ends_at: str | None


class NewShareAnswer(ShareAnswer):
    """A new link."""

    path: str = Field(description="The link on this server, told this once.")


class SharesAnswer(CamelModel):
    """The links of a person."""

    sharing: bool = Field(description="Whether there can be any.")
    shares: list[ShareAnswer]


class ForgottenAnswer(CamelModel):
    """What was deleted."""

    deleted: dict[str, int]
    usage_rows: int
    no_trace: bool = Field(description="The database file keeps nothing of it either.")


class EngineInUseAnswer(CamelModel):
    """The engine that the next search asks first."""

    name: str
    label: str
    web: bool
    untried: bool
    failed: ProblemAnswer | None = Field(description="Why the last search with it failed; null where it did not.")


class SearchStateAnswer(CamelModel):
    """Whether anything can be searched."""

    available: bool
    engine: EngineInUseAnswer | None
    problem: ProblemAnswer | None


class ChatConfigAnswer(CamelModel):
    """What the page shows of the set-up."""

    model: dict[str, Any]
    models: list[dict[str, Any]]
    search: SearchStateAnswer
    engines: list[EngineAnswer]
    examples: dict[str, list[str]]
    settings: ChatSettingsAnswer = Field(description="What a new conversation begins with.")
    focuses: list[dict[str, Any]]
    freshness: list[dict[str, Any]]
    depth: Depth
    operator: bool
    person: dict[str, Any] | None
    budget: dict[str, Any] | None
    program: str
    version: str
    limits: dict[str, int] = Field(description="`maxQuestion`: characters in a question.")
    files: dict[str, int] | None = Field(description="`atOnce`, `maxBytes`; null where files cannot be added.")
    research: dict[str, int]

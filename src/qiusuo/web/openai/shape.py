"""Answers as OpenAI gives them: completions, and the chunks of a stream.

``annotations`` are OpenAI's, ``citations`` and ``search_results`` Perplexity's, ``event`` is Open WebUI's; ``qiusuo``
has what none of them has.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from langchain_core.messages import AIMessage, messages_from_dict

from qiusuo.chat.chat import Turn
from qiusuo.chat.events.turn import SERVER_STOPPING, Done
from qiusuo.chat.sessions.session import Mode
from qiusuo.chat.turns import prompts
from qiusuo.chat.turns.agent.client_tools import TOOL_CALLS
from qiusuo.chat.turns.context import Ask
from qiusuo.chat.turns.history import estimate_tokens, message_tokens
from qiusuo.citations.checking.verdict import Support
from qiusuo.citations.linking.references import LINK, escape_markdown
from qiusuo.text import clean, truncate
from qiusuo.urls import link_url
from qiusuo.web.openai.earlier import NOTICE_MARK
from qiusuo.web.openai.open_webui import source_events
from qiusuo.web.openai.request import MODELS
from qiusuo.web.openai.tools import call_shape
from qiusuo.words import Fact, Language, sentences

DONE: Final = b"data: [DONE]\n\n"
PING: Final = b": ping\n\n"

_DAY: Final = len("2026-01-31")
_FINISHES: Final = frozenset({"stop", "length", "content_filter"})
_CLAIMS_QUOTED: Final = 3
_CLAIM_CHARS: Final = 60
# The day on which these models came to be; programs only want a number.
_CREATED: Final = 1_761_955_200


def model_shape(name: str) -> dict[str, Any]:
    """Return the entry of a model."""
    return {"id": name, "object": "model", "created": _CREATED, "owned_by": "qiusuo"}


def models_shape(names: Iterable[str]) -> dict[str, Any]:
    """Return the list of the models: ours, and by their names those behind them."""
    return {"object": "list", "data": [model_shape(name) for name in dict.fromkeys((*MODELS, *names))]}


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer on its way to the client. Offsets count characters, as OpenAI's do."""

    model: str
    ask: Ask
    turn: Turn
    references: bool = True
    include_usage: bool = False
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, done: Done) -> dict[str, Any]:
        """Return the answer at once."""
        tail = self.tail(done)
        message = {
            "role": "assistant",
            "content": done.answer + tail or None,
            "refusal": None,
            "annotations": self.annotations(done.answer),
            **self._calls(),
        }
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self.finish(done)}
        return {**self._head("chat.completion"), "choices": [choice], "usage": self.usage(done), **self.found()}

    def beginning(self) -> bytes:
        """Return the first chunk, which says who speaks."""
        return self._chunk({"role": "assistant", "content": ""})

    def piece(self, text: str) -> bytes:
        """Return a chunk with the next piece of the answer."""
        return self._chunk({"content": text})

    def ending(self, streamed: str, done: Done) -> list[bytes]:
        """Return the chunks after the text that was streamed."""
        tail = self.tail(done)
        last = {"annotations": self.annotations(streamed)}
        chunks = [self.piece(tail)] if tail else []
        if calls := self._calls():
            numbered = [{"index": index, **call} for index, call in enumerate(calls["tool_calls"])]
            chunks.append(self._chunk({"tool_calls": numbered}))
        chunks += [self._chunk({}, event=event) for event in source_events(streamed + tail, self._sources())]
        chunks.append(self._chunk(last, self.finish(done), **self.found()))
        if self.include_usage:
            head = self._head("chat.completion.chunk")
            chunks.append(_event({**head, "choices": [], "usage": self.usage(done)}))
        return [*chunks, DONE]

    def failed(self, error: dict[str, Any]) -> bytes:
        """Return an error that comes in the middle of a stream."""
        return _event(error)

    def finish(self, done: Done) -> str:
        """Return why the answer ended, in OpenAI's words."""
        if self.turn.calls:
            return TOOL_CALLS
        return _finish(done)

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": f"chatcmpl-{self.ask.id}", "object": kind, "created": self.created, "model": self.model}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        chunk = {**self._head("chat.completion.chunk"), "choices": [choice], **more}
        return _event({**chunk, "usage": None} if self.include_usage else chunk)

    def tail(self, done: Done) -> str:
        """Return what stands below the answer: the references, what they do not bear out, and why a search failed."""
        if self.ask.client.form or self.turn.calls:
            return ""
        language = self.turn.language
        parts = [done.references] if self.references and done.references else []
        # Most programs show the text and nothing else; nobody shall take a number that its source does not have for
        # one that was checked, nor an answer without search for one with it.
        unfound = _unfound(self.turn.record.check)
        parts += [f"{NOTICE_MARK}{unfound.text(language)}"] if unfound else []
        parts += [
            NOTICE_MARK + _told(notice, language)
            for notice in self.turn.record.notices
            if _is_failure(notice) or notice["code"] in {"model_not_configured", SERVER_STOPPING}
        ]
        return "".join(f"\n\n{part}" for part in parts)

    def annotations(self, text: str) -> list[dict[str, Any]]:
        """Return where ``text`` cites what.

        Citations that were added after the text was out (the model had written none) are told of by their sentences.
        """
        record, sources = self.turn.record, self._sources()
        found = [
            _annotation(source, place.start(), place.end())
            for place in LINK.finditer(text)
            if (source := sources.get(int(place[1]))) and link_url(source["url"]) == place[2]
        ]
        if found:
            return found
        position = 0
        for added in (record.check or {}).get("added", ()):
            start = text.find(added["sentence"], position)
            if start >= 0 and added["number"] in sources:
                position = start + len(added["sentence"])
                found.append(_annotation(sources[added["number"]], start, position))
        return found

    def _sources(self) -> dict[int, dict[str, Any]]:
        earlier = {reference.number: reference.to_dict() for reference in self.turn.memory.registry.sources}
        return earlier | {source["number"]: source for source in self.turn.record.sources}

    def _calls(self) -> dict[str, Any]:
        return {"tool_calls": [call_shape(call) for call in self.turn.calls]} if self.turn.calls else {}

    def found(self) -> dict[str, Any]:
        """Return what was found, as Perplexity and as we have it."""
        record = self.turn.record
        sources = sorted(record.sources, key=lambda source: int(source["number"]))
        return {
            "citations": [source["url"] for source in sources],
            "search_results": [
                {
                    "number": source["number"],
                    "title": source["title"],
                    "url": source["url"],
                    "snippet": source["snippet"],
                    "date": (source["publishedAt"] or "")[:_DAY] or None,
                }
                for source in sources
            ],
            "qiusuo": {
                "finish": record.finish,
                "notices": record.notices,
                "rounds": record.rounds,
                "check": record.check,
            },
        }

    def usage(self, done: Done) -> dict[str, int]:
        """Return the tokens that were used; estimates where the model does not tell."""
        told = self.turn.record.usage or {}
        asked, answered = told.get("inputTokens"), told.get("outputTokens")
        asked = self._estimate() if asked is None else asked
        answered = estimate_tokens(done.answer) if answered is None else answered
        return {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered}

    def _estimate(self) -> int:
        """Return about how many tokens the model was sent."""
        language = prompts.language_of(self.ask.question, self.ask.language)
        agent = self.ask.settings.mode is Mode.AGENT
        rules = prompts.agent_system(language) if agent else prompts.chat_system(language)
        messages = messages_from_dict(self.turn.memory.messages)
        if messages and isinstance(messages[-1], AIMessage):
            messages.pop()  # the answer
        return estimate_tokens(rules + self.ask.system) + sum(map(message_tokens, messages))


def _annotation(source: dict[str, Any], start: int, end: int) -> dict[str, Any]:
    citation = {"start_index": start, "end_index": end, "url": source["url"], "title": source["title"]}
    return {"type": "url_citation", "url_citation": citation}


def _is_failure(notice: Mapping[str, Any]) -> bool:
    return notice["level"] == "warning" and str(notice["code"]).startswith(("search_", "user_"))


def _told(notice: Mapping[str, Any], language: Language) -> str:
    """Return a notice in one line; of a failure also what to do about it, which most programs show nowhere else."""
    told = f"**{notice['title']}** {clean(notice['message'])}"
    if not _is_failure(notice):
        return told
    commands = "".join(f" `{clean(command)}`" for command in notice["commands"])
    return sentences(language, told, clean(notice["fix"])) + commands


def _unfound(check: dict[str, Any] | None) -> Fact | None:
    """Return which cited statements were not found in their sources; None where there are none.

    A claim in other words than its source's is sometimes not found either: nobody is told that it is wrong.
    """
    claims = [
        (claim["claim"], "".join(f"[{citation['number']}]" for citation in claim["citations"]))
        for claim in (check["report"]["claims"] if check else ())
        if claim["support"] == Support.NOT_FOUND
    ]
    if not claims:
        return None
    quoted = [
        Fact("openai.unfound_claim", claim=escape_markdown(truncate(clean(claim), _CLAIM_CHARS)), numbers=numbers)
        for claim, numbers in claims[:_CLAIMS_QUOTED]
    ]
    further = dict.fromkeys(numbers for _, numbers in claims[_CLAIMS_QUOTED:])
    return Fact("openai.unfound", claims=[*quoted, *further])


def _finish(done: Done) -> str:
    if done.finish == SERVER_STOPPING:
        # The one of OpenAI's reasons that says "incomplete"; strict clients throw an answer away whose reason is new.
        return "length"
    return done.finish if done.finish in _FINISHES else "stop"


def _event(data: dict[str, Any]) -> bytes:
    return b"data: %b\n\n" % orjson.dumps(data)

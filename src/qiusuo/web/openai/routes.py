"""OpenAI's endpoints under ``/v1``, so that programs can use Qiusuo as a model.

Every request brings its conversation along; what is kept beside it only makes the next answer better.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from qiusuo.chat.chat import Turn
from qiusuo.chat.events.turn import SERVER_STOPPING, Delta, Done, Event, Retraction, TurnState
from qiusuo.chat.live.conversations import Conversations
from qiusuo.chat.live.running import RunningTurn
from qiusuo.chat.models.tuned import knows_json, tuned
from qiusuo.chat.sessions.session import Memory
from qiusuo.chat.turns.context import Ask
from qiusuo.errors import SearchError
from qiusuo.web.backend import Backend, Extension
from qiusuo.web.chat.choices import Choices
from qiusuo.web.chat.requests import owner_of
from qiusuo.web.entrance.guard import MAX_BODY_BYTES
from qiusuo.web.entrance.hangup import ClientGone, HangUp
from qiusuo.web.errors import CLIENT_GONE, headers_of, status_of
from qiusuo.web.openai.document import PATHS
from qiusuo.web.openai.earlier import THOUGHT_END
from qiusuo.web.openai.errors import (
    ApiError,
    error_shape,
    language_for,
    stopping,
    turn_failed,
    unknown_model,
    unsupported,
)
from qiusuo.web.openai.pending import Pending
from qiusuo.web.openai.request import CompletionBody, is_model, read_conversation
from qiusuo.web.openai.responses import KeptItems, read_responses
from qiusuo.web.openai.responses_shape import ResponsesAnswer
from qiusuo.web.openai.shape import PING, Completion, model_shape, models_shape
from qiusuo.web.route import json_answer, user_of
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

PING_SECONDS: Final = 10.0
"""How long a client hears nothing. Until then a failure still has a status of its own."""
_STREAM_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

Handler = Callable[[Request], Awaitable[Response]]
Read = Callable[[bytes], tuple[CompletionBody, Ask, Memory]]
Shape = Completion | ResponsesAnswer


def openai_extension(backend: Backend, *, ping_seconds: float = PING_SECONDS) -> Extension:
    """Return the endpoints; they answer with the chat that ``chat_extension`` has left behind."""
    api = OpenAiRoutes(backend, ping_seconds)
    return Extension(api.routes(), stop=api.stop, answering=lambda: api.answering, paths=PATHS)


class OpenAiRoutes:
    """The endpoints over the chat of one server."""

    def __init__(self, backend: Backend, ping_seconds: float) -> None:
        self._backend = backend
        self._conversations: Conversations = backend.parts["conversations"]
        self._ping_seconds = ping_seconds
        self._running: set[Following] = set()
        self._pending = Pending(backend.service.pipeline.shared)
        self._items = KeptItems()

    def routes(self) -> list[Route]:
        """Return the routes."""
        table: list[tuple[str, str, Handler]] = [
            ("/v1/chat/completions", "POST", self.complete),
            ("/v1/responses", "POST", self.respond),
            ("/v1/models", "GET", self.models),
            ("/v1/models/{model}", "GET", self.model),
        ]
        return [Route(path, answered(handler), methods=[method]) for path, method, handler in table]

    def _names(self, request: Request) -> tuple[str, ...]:
        """Return the names of the models behind ours, as far as they are for this user."""
        choices = Choices(self._backend.service, self._conversations.chat)
        return tuple(name for name in choices.model_names(user_of(request)) if name)

    @property
    def answering(self) -> bool:
        """Whether a turn runs."""
        return bool(self._running)

    def stop(self) -> None:
        """Break off every turn that runs; its client gets what there is of the answer."""
        for following in tuple(self._running):
            following.break_off()

    async def models(self, request: Request) -> Response:
        """List the models."""
        return json_answer(models_shape(self._names(request)))

    async def model(self, request: Request) -> Response:
        """Return one model."""
        name = request.path_params["model"]
        if not is_model(name, self._names(request)):
            raise unknown_model(name)
        return json_answer(model_shape(name))

    async def complete(self, request: Request) -> Response:
        """Answer the last message of a conversation."""
        read = partial(read_conversation, user=user_of(request), names=self._names(request))
        return await self._respond(request, read, lambda answer: answer)

    async def respond(self, request: Request) -> Response:
        """Answer in the shape of Responses."""
        user, owner = user_of(request), owner_of(request)
        read = partial(read_responses, user=user, kept=self._items, owner=owner, names=self._names(request))
        return await self._respond(
            request, read, lambda answer: ResponsesAnswer(answer, partial(self._items.keep, owner))
        )

    async def _respond(self, request: Request, read: Read, shaped: Callable[[Completion], Shape]) -> Response:
        if self._backend.is_closed_to(request):
            raise stopping()
        raw, owner = await request.body(), owner_of(request)
        # Megabytes take a while to read, in which the streams of others must not stand still.
        large = len(raw) > MAX_BODY_BYTES
        body, ask, memory = await asyncio.to_thread(read, raw) if large else read(raw)
        ask = await self._pending.resumed(owner, ask, memory)
        chat = self._conversations.chat
        if ask.client.form and not await knows_json(chat.chosen(ask).model):
            raise unsupported(Fact("openai.no_json"), "response_format")
        turn = tuned(chat, body.wishes).turn(ask, memory)
        usage = bool(body.stream_options and body.stream_options.include_usage)
        shape = shaped(Completion(body.model, ask, turn, references=body.references is not False, include_usage=usage))
        following = self._follow(turn, owner)
        try:
            with HangUp(request.receive):
                if not body.stream:
                    return json_answer(shape.whole(await _answer(following)))
                begun = await _begun(following, self._ping_seconds)
        except BaseException:  # whatever it is, a hang-up too, nobody will read the answer any more
            await following.aclose()
            raise
        return TurnStream(following, _chunks(shape, following, begun, self._ping_seconds, request.scope))

    def _follow(self, turn: Turn, owner: str) -> Following:
        """Begin a turn.

        Raises:
            SearchError: too many are being answered.
        """
        places = self._conversations.places
        places.take(owner)
        following = Following(turn)
        self._running.add(following)

        def ended() -> None:
            self._running.discard(following)
            places.give_back(owner)
            self._pending.keep(owner, turn)

        following.when_ended(ended)
        return following


class Following(RunningTurn):
    """A turn that one client follows to its end, or as long as the client is there."""

    def __init__(self, turn: Turn) -> None:
        super().__init__(turn)
        self._heard = 0

    async def next(self, seconds: float | None = None) -> list[Event]:
        """Return what has happened since the last call, nothing if that is nothing for so many seconds."""
        events = await self.news(self._heard, seconds)
        self._heard += len(events)
        return events


class TurnStream(StreamingResponse):
    """Streams an answer; however that ends, the turn does not go on without it."""

    def __init__(self, following: Following, chunks: AsyncIterator[bytes]) -> None:
        super().__init__(chunks, media_type="text/event-stream", headers=_STREAM_HEADERS)
        self._following = following

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._following.aclose()


async def _answer(following: Following) -> Done:
    """Wait for the whole answer.

    Raises:
        ApiError: there is none.
    """
    while True:
        for event in await following.next():
            if isinstance(event, Done):
                return _good(event, following)


async def _begun(following: Following, seconds: float) -> list[Event]:
    """Return the events up to the first text; fewer where that takes so long that the client must hear something.

    Raises:
        ApiError: the turn has failed before it had any text.
    """
    events: list[Event] = []
    try:
        async with asyncio.timeout(seconds):
            while not any(isinstance(event, Delta | Done) for event in events):
                events += await following.next()
    except TimeoutError:
        return events
    if not any(isinstance(event, Delta) for event in events):
        _good(next(event for event in events if isinstance(event, Done)), following)
    return events


async def _chunks(
    shape: Shape, following: Following, begun: list[Event], ping_seconds: float, scope: Scope
) -> AsyncGenerator[bytes]:
    yield shape.beginning()
    events, streamed, news, clock = begun, list[str](), News(), asyncio.get_running_loop().time
    next_sign = clock() + ping_seconds
    while True:
        text = news.of(events)
        if text:
            streamed.append(text)
            yield shape.piece(text)
        elif clock() >= next_sign:  # also where much happens of which this stream tells nothing
            yield PING
        if text or clock() >= next_sign:
            next_sign = clock() + ping_seconds
        done = next((event for event in events if isinstance(event, Done)), None)
        if done is not None:
            break
        events = await following.next(max(next_sign - clock(), 0))
    try:
        _good(done, following)
    except ApiError as error:
        yield shape.failed(error_shape(error, language_for(error, scope)))
        return
    for chunk in shape.ending("".join(streamed), done):
        yield chunk


class News:
    """What a stream has to go on with.

    A thought that is retracted before it was sent is left out. One that is out already ends as it would have ended in
    the stream of the model's own server.
    """

    def __init__(self) -> None:
        self._sent = 0  # of the answer: thoughts that were sent and then retracted are no part of it

    def of(self, events: list[Event]) -> str:
        """Return the text that the events add to the stream: pieces that came together go in one chunk."""
        thought_end = text = ""
        for event in events:
            match event:
                case Delta():
                    text += event.text
                case Retraction():
                    if self._sent > len(event.answer):
                        thought_end, self._sent = THOUGHT_END, len(event.answer)
                    text = event.answer[self._sent :]
        self._sent += len(text)
        return thought_end + text


def _good(done: Done, following: Following) -> Done:
    if done.finish == SERVER_STOPPING and not done.answer:
        raise stopping()  # clients ask again by themselves then, and another server answers
    if done.state is TurnState.FAILED:
        raise turn_failed(following.turn.record.notices, following.turn.language)
    return done


def answered(handler: Handler) -> Handler:
    """Return the handler with its errors in OpenAI's shape."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except SearchError as error:
            language = language_for(error, request.scope)
            return json_answer(error_shape(error, language), status_of(error), headers_of(error), language=language)
        except ClientGone:
            return Response(status_code=CLIENT_GONE)

    return answer

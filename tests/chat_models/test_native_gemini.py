"""Search with Google, by the real ChatGoogleGenerativeAI."""

from __future__ import annotations

from itertools import pairwise

import pytest

from qiusuo.chat.models.port import NativeSource
from qiusuo.errors import ModelAuthFailed, ModelBroken, ModelError, ModelRateLimited, ModelRejected, ModelUnavailable
from tests.support.native_servers import (
    failure,
    gemini,
    gemini_model,
    google_error,
    grounding,
    hear,
    models_are_closed,
    search_of,
    support,
)
from tests.support.scripted_model import Reply, ScriptedModel

__all__ = ["models_are_closed"]  # a fixture

pytestmark = [
    # The package derives a class from one of aiohttp's, which aiohttp does not like.
    pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning"),
    # langchain-core takes json() of an error's response, which is a coroutine with aiohttp; nobody awaits it.
    pytest.mark.filterwarnings("ignore:coroutine 'ClientResponse.json':RuntimeWarning"),
]

SEARCH = search_of("gemini")
REDIRECT = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/"
TEXT = "上海今天晴☀️，18 度。北京有风。\n出门请带伞。"
PAGES = ((f"{REDIRECT}a", "weather.com.cn"), (f"{REDIRECT}b", "bbc.com"), (f"{REDIRECT}c", "unused.example"))
GROUNDED = grounding(
    ["上海 天气", "北京 天气"],
    PAGES,
    [support(TEXT, "北京有风。", 1, 0), support(TEXT, "上海今天晴☀️，18 度。", 0), support(TEXT, "北京有风。", 1)],
)
EXPECTED = "上海今天晴☀️，18 度。[1]北京有风。[1][2]\n出门请带伞。"


class TestAnswers:
    async def test_the_request_has_the_tool(self) -> None:
        with ScriptedModel(gemini("晴。"), gemini("晴。")) as server:
            model = gemini_model(server)
            await hear(SEARCH, model)
            await hear(SEARCH, model)
        first, second = server.requests
        assert first.path == "/v1beta/models/gemini-2.5-flash:streamGenerateContent"
        # Nothing of the first request is left in the tool of the second.
        assert first.body["tools"] == second.body["tools"] == [{"googleSearch": {}}]

    @pytest.mark.parametrize("cuts", [(), (3,), (1, 6, 7, 15)])
    async def test_offsets_are_bytes(self, cuts: tuple[int, ...]) -> None:
        edges = [0, *cuts, len(TEXT)]
        parts = [TEXT[start:end] for start, end in pairwise(edges)]
        with ScriptedModel(gemini(*parts, grounded=GROUNDED)) as server:
            heard = await hear(SEARCH, gemini_model(server))
        assert heard.text == EXPECTED
        assert heard.sources == [
            NativeSource("weather.com.cn", f"{REDIRECT}a"),
            NativeSource("bbc.com", f"{REDIRECT}b"),
        ]
        assert heard.queries == ["上海 天气", "北京 天气"]

    async def test_the_whole_answer_at_once_reads_the_same(self) -> None:
        with ScriptedModel(gemini(TEXT, grounded=GROUNDED, stream=False)) as server:
            heard = await hear(SEARCH, gemini_model(server, disable_streaming=True))
        assert heard.text == EXPECTED
        assert server.requests[0].path.endswith(":generateContent")

    async def test_words_decide_where_offsets_are_wrong(self) -> None:
        wrong = support(TEXT, "北京有风。", 0)
        wrong["segment"] |= {"startIndex": 2, "endIndex": 9}
        lost = {"segment": {"startIndex": 1, "endIndex": 4, "text": "没有这句"}, "groundingChunkIndices": [1, 9]}
        with ScriptedModel(gemini(TEXT, grounded=grounding((), PAGES, [wrong, lost]))) as server:
            heard = await hear(SEARCH, gemini_model(server))
        assert heard.text == TEXT.replace("北京有风。", "北京有风。[2]")
        assert heard.titles == ["bbc.com", "weather.com.cn"]

    async def test_pages_are_named_if_none_is_cited(self) -> None:
        with ScriptedModel(gemini("晴。", grounded=grounding((), PAGES[:2]))) as server:
            heard = await hear(SEARCH, gemini_model(server))
        assert (heard.text, heard.titles) == ("晴。", ["weather.com.cn", "bbc.com"])

    async def test_an_answer_without_a_search_has_no_sources(self) -> None:
        with ScriptedModel(gemini("你", "好。")) as server:
            heard = await hear(SEARCH, gemini_model(server))
        assert (heard.text, heard.sources, heard.queries) == ("你好。", [], [])

    async def test_thoughts_are_left_out(self) -> None:
        reply = gemini("晴。")
        assert reply.events_ is not None
        reply.events_[0][1]["candidates"][0]["content"]["parts"].insert(0, {"text": "想一想", "thought": True})
        with ScriptedModel(reply) as server:
            assert (await hear(SEARCH, gemini_model(server))).text == "晴。"


class TestFailures:
    @pytest.mark.parametrize(
        ("reply", "error"),
        [
            (google_error(429, "RESOURCE_EXHAUSTED"), ModelRateLimited),
            (google_error(500, "INTERNAL"), ModelUnavailable),
            (google_error(503, "UNAVAILABLE"), ModelUnavailable),
            (google_error(400, "INVALID_ARGUMENT"), ModelRejected),
            (gemini(finish="SAFETY"), ModelRejected),
            (gemini("上海", "今天", finish=None), ModelBroken),
            (gemini("上海", "今天", finish=None).with_(ending="broken"), ModelBroken),
            (Reply.events({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}), ModelBroken),
        ],
    )
    async def test_come_before_any_text(self, reply: Reply, error: type[ModelError]) -> None:
        with ScriptedModel(reply) as server:
            raised, text = await failure(SEARCH, gemini_model(server))
        assert (type(raised), text) == (error, "")
        assert len(server.requests) == 1

    async def test_a_wrong_key_is_told_as_such(self) -> None:
        with ScriptedModel() as server:
            model = gemini_model(server)
            server.key = "another"
            with pytest.raises(ModelAuthFailed):
                await hear(SEARCH, model)

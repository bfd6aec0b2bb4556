"""The built-in model for when there is none: it quotes the best sentences of the search results, with their numbers.

It invents nothing, always answers alike, and takes milliseconds. It is a LangChain chat model like any other, so that
all that is built on models works without one.

In agent mode (tools bound) it decides by these rules:

1. A greeting, thanks, or a question about the assistant itself needs no search.
2. Anything else is searched for once: with ``regulationSearch`` where that tool is there and the question is about what
   Chinese law says (``looks_legal``), else with ``web_search``. The query is the question
   without polite words and question marks.
3. If nothing was found, one more try: with ``web_search`` after ``regulationSearch``, else with the key words alone. If
   the search failed, none.
4. Then it answers from what there is. It never searches more than twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from qiusuo.chat.models.quoting import NumberedSource, articles_left_out, best_quotes, read_sources
from qiusuo.chat.turns import prompts
from qiusuo.chat.turns.prompts import CHINESE, language_of
from qiusuo.citations.meaning.wording import STOP_WORDS
from qiusuo.legal.recognising.asked import results_for
from qiusuo.legal.recognising.recognise import looks_legal
from qiusuo.words import Fact, Language

WEB: Final = "web_search"
LAW: Final = "regulationSearch"
_MOST_SEARCHES: Final = 2
_QUERY_CHARS: Final = 200

_SMALL_TALK: Final = re.compile(
    r"(?:你好|您好|大家好|嗨|哈喽|在吗|早上好|早安|下午好|晚上好|晚安|谢谢(?:你|您)?|多谢|感谢|辛苦了|再见|拜拜|好的|嗯+|ok|okay|"
    r"你是谁|你叫什么(?:名字)?|你(?:能|会|可以)(?:做|干)?(?:些)?什么|介绍一下(?:你)?自己|你是什么模型|"
    r"hi|hello|hey|good (?:morning|afternoon|evening|night)|thanks?(?: you)?(?: very much| a lot)?|thx|bye|goodbye|"
    r"who are you|what (?:are you|is your name|can you do)|what's your name|introduce yourself|how are you)"
    r"(?:[\s,，]*(?:求索|qiusuo|there|呀|啊|哦|了))?[\s!！?？。.~～,，]*",
    re.IGNORECASE,
)
_POLITE: Final = re.compile(
    r"^(?:(?:请问|请|麻烦(?:你|您)?|帮我|帮忙|给我|我想(?:知道|问|了解)(?:一下)?|想(?:问|了解)(?:一下)?|告诉我|查(?:一)?下|搜(?:索)?(?:一)?下|"
    r"查询|能不能|可以|能否|please|can you|could you|would you|tell me|i(?:'d like| want) to know|"
    r"search(?: the web)? for|look up|find out|do you know)(?![a-z])[\s,，:：]*)+",
    re.IGNORECASE,
)
_END: Final = re.compile(r"(?:[?？!！。.~～\s]|吗|呢|呀|啊|吧|好吗|可以吗|谢谢)+$")
_ASKING: Final = re.compile(
    r"什么时候|什么样|什么|怎么样|怎么办|怎么|怎样|如何|为什么|为何|哪些|哪个|哪里|多少|多久|是否|是不是|能不能|有没有|一下|关于|的|了|吗|呢|[?？!！。,，、；;:：\"“”'‘’()（）]"
)
_ASIDE: Final = re.compile(r"^\s*[(（].*[)）]\s*$")
_LABEL: Final = re.compile(r"^(?:问题：|Question: )")
_FENCE_END: Final = re.compile(r"^--- 网页内容结束 .*$", re.MULTILINE)
_FENCED: Final = re.compile(r"^--- 网页内容开始 .*?^--- 网页内容结束 ", re.MULTILINE | re.DOTALL)
_SAID: Final = re.compile(rf"^(?:说明：|{'|'.join(prompts.REMARK.values())})(.+)$", re.MULTILINE)
_FAILED: Final = re.compile(r"^\s*(?:搜索失败|Search failed|Error\b|联网搜索在本轮已不可用|Web search is down)")


def no_model_note(language: str) -> str:
    """Return the line that says that no language model is configured, and how to add one (``zh`` or ``en``)."""
    return Fact("llm.quoted").text(Language.CHINESE if language == CHINESE else Language.ENGLISH)


class ExtractiveModel(BaseChatModel):
    """Answers with sentences of the numbered sources in the prompt or in what tools have returned.

    Args:
        note: Whether an answer ends with :func:`no_model_note`.
    """

    note: bool = True

    @property
    def _llm_type(self) -> str:
        return "qiusuo-extractive"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | dict[str, Any] | bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Make tools known; of these it calls ``web_search`` and ``regulationSearch``."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], tool_choice=tool_choice, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - LangChain's signature
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - LangChain's signature
        **kwargs: Any,
    ) -> ChatResult:
        whole: AIMessageChunk | None = None
        for chunk in self._pieces(messages, kwargs):
            whole = chunk if whole is None else whole + chunk
        assert whole is not None  # noqa: S101 - there is always something to say
        message = AIMessage(whole.text, tool_calls=whole.tool_calls, response_metadata=whole.response_metadata)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - LangChain's signature
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for piece in self._pieces(messages, kwargs):
            chunk = ChatGenerationChunk(message=piece)
            if run_manager is not None:
                run_manager.on_llm_new_token(piece.text, chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - LangChain's signature
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for piece in self._pieces(messages, kwargs):
            chunk = ChatGenerationChunk(message=piece)
            if run_manager is not None:
                await run_manager.on_llm_new_token(piece.text, chunk=chunk)
            yield chunk

    def _pieces(self, messages: Sequence[BaseMessage], options: Mapping[str, Any]) -> Iterator[AIMessageChunk]:
        asked = _Asked(messages)
        call = _next_search(asked, options)
        if call is not None:
            name, query = call
            wanted: dict[str, Any] = {"query": query}
            if name == LAW and (most := results_for(query, 0)):
                wanted["limit"] = most
            arguments = json.dumps(wanted, ensure_ascii=False)
            identity = f"call_search_{len(asked.searches) + 1}"
            piece = tool_call_chunk(name=name, args=arguments, id=identity, index=0)
            yield AIMessageChunk(
                content="", tool_call_chunks=[piece], response_metadata={"finish_reason": "tool_calls"}
            )
            return
        yield from (AIMessageChunk(content=text) for text in self._answer(asked))
        yield AIMessageChunk(content="", response_metadata={"finish_reason": "stop"})

    def _answer(self, asked: _Asked) -> Iterator[str]:
        language = language_of(asked.question)
        if not asked.sources:
            silent = Fact("llm.found_nothing") if asked.searched else Fact("llm.nothing")
            talk = _SMALL_TALK.fullmatch(asked.question.strip())
            otherwise = (Fact("llm.hello") if talk else silent).text(language)
            yield _remark(asked.said, language) or otherwise
            return
        quotes = best_quotes(asked.question, asked.sources)
        if len(quotes) == 1:
            yield quotes[0].cited
        else:
            yield f"{Fact('llm.lead').text(language)}\n"
            yield from (f"\n- {quote.cited}" for quote in quotes)
        missing = articles_left_out(asked.question, asked.sources, quotes)
        yield f"\n\n{Fact('llm.more', count=missing).text(language)}" if missing else ""
        quoted = "".join(quote.text for quote in quotes)
        if remark := _remark([said for said in asked.said if said not in quoted], language):
            yield f"\n\n{remark}"
        if self.note:
            yield f"\n\n{no_model_note(language)}"


class _Asked:
    """What a conversation asks for last, and what was found for it so far."""

    def __init__(self, messages: Sequence[BaseMessage]) -> None:
        self.question = ""
        self.sources: list[NumberedSource] = []
        self.searches: list[tuple[str, str]] = []
        self.said: list[str] = []
        """What the legal index has to say about the question."""
        self.searched = False
        self.failed = False
        since = 0
        for index, message in enumerate(messages):
            # Some messages of that role are directions to the model, in brackets, and no question.
            if isinstance(message, HumanMessage) and (question := _question_of(message.text)):
                self.question, since = question, index
        for message in messages[since:]:
            self._read(message)
        self.sources = list({source.number: source for source in self.sources}.values())

    def _read(self, message: BaseMessage) -> None:
        if isinstance(message, AIMessage):
            self.searches += [
                (call["name"], str(call["args"].get("query", "")))
                for call in message.tool_calls
                if call["name"] in {WEB, LAW}
            ]
        elif isinstance(message, HumanMessage | ToolMessage):
            self.sources += read_sources(message.text)
            outside = _FENCED.sub("", message.text)
            said = [f"{note}。" for line in _SAID.findall(outside) for note in line.split("。") if note]
            self.said += [note for note in said if note not in self.said]
            self.searched = self.searched or isinstance(message, ToolMessage) or prompts.tells_of_search(message.text)
            self.failed = self.failed or (isinstance(message, ToolMessage) and bool(_FAILED.match(message.text)))


def _remark(said: Sequence[str], language: str) -> str:
    return f"{prompts.REMARK[language]}{''.join(said)}" if said else ""


def _question_of(text: str) -> str:
    """Return the user's own words in a message: without results before them and remarks behind them."""
    ends = list(_FENCE_END.finditer(text))
    own = text[ends[-1].end() :] if ends else text
    lines = [line for line in own.strip().splitlines() if not _ASIDE.match(line) and not _SAID.match(line)]
    return _LABEL.sub("", "\n".join(lines).strip()).strip()


def _next_search(asked: _Asked, options: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the tool and the query of the next search, None if it is time to answer."""
    choice = options.get("tool_choice")
    tools = [tool["function"]["name"] for tool in options.get("tools") or ()] if choice != "none" else []
    forced = choice not in (None, "auto", "none", False) and not asked.searches
    known = [name for name in (WEB, LAW) if name in tools]
    if not known or asked.sources or asked.failed or len(asked.searches) >= _MOST_SEARCHES or not asked.question:
        return None
    if not forced and _SMALL_TALK.fullmatch(asked.question.strip()):
        return None
    query = cleaned(asked.question)
    if not asked.searches:
        return (LAW if LAW in tools and (WEB not in tools or looks_legal(asked.question)) else WEB), query
    if asked.searches[-1][0] == LAW and WEB in tools:
        return WEB, query
    words = keywords(query)
    return (known[0], words) if words and words != asked.searches[-1][1] else None


def cleaned(question: str) -> str:
    """Return a question as a query: without polite words, marks at its end, and what is too long."""
    line = " ".join(question.split())
    short = _END.sub("", _POLITE.sub("", line)) or line
    return short[:_QUERY_CHARS].strip()


def keywords(query: str) -> str:
    """Return the words of a query that carry its meaning."""
    words = [word for word in _ASKING.sub(" ", query).split() if word.lower() not in STOP_WORDS]
    return " ".join(words)

"""The built-in model for when there is none: it quotes the best sentences of the search results, with their numbers.

It invents nothing, always answers alike, and takes milliseconds. It is a LangChain chat model like any other, so that
all that is built on models works without one; but it reads no prompt. A turn gives it its :class:`Material` (question,
sources, remarks) as the option ``material``; without one it knows the last question and nothing that was found.

In agent mode (tools bound) it decides by these rules:

1. A greeting, thanks, or a question about the assistant itself needs no search.
2. Anything else is searched for once: with the tool of the plug-in that recognises the question, where it is there,
   else with ``web_search``. The query is the question without polite words and question marks.
3. If nothing was found, one more try: with ``web_search`` after another tool, else with the key words alone. If the
   search failed, none.
4. Then it answers from what there is. It never searches more than twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from qiusuo import plugins
from qiusuo.chat.models.material import Material
from qiusuo.chat.models.quoting import Quotable, Quote, best_quotes, from_all_over, harmless, lead, left_out, quotable
from qiusuo.chat.turns.prompts import language_of
from qiusuo.citations.meaning.wording import STOP_WORDS
from qiusuo.words import Fact, Language
from qiusuo.words.script import simplified

WEB: Final = "web_search"
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
_THANKS: Final = re.compile(r"谢|辛苦|再见|拜拜|好的|明白|嗯|thank|thx|bye|\bok", re.IGNORECASE)
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


def no_model_note(language: str) -> str:
    """Return the line that says that no language model is configured, and how to add one."""
    return Fact("llm.quoted").text(Language(language))


class ExtractiveModel(BaseChatModel):
    """Answers with sentences of the sources that a turn has found.

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
        """Make tools known; of these it calls those that take a ``query``."""
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
        material = options.get("material") or _bare(messages)
        call = _next_search(material, options)
        if call is not None:
            name, query = call
            known = material.recognised
            wanted = {"query": query, **(known.arguments if known is not None and known.tool == name else {})}
            arguments = json.dumps(wanted, ensure_ascii=False)
            identity = f"call_search_{len(material.searches) + 1}"
            piece = tool_call_chunk(name=name, args=arguments, id=identity, index=0)
            yield AIMessageChunk(
                content="", tool_call_chunks=[piece], response_metadata={"finish_reason": "tool_calls"}
            )
            return
        yield from (AIMessageChunk(content=text) for text in self._answer(material))
        yield AIMessageChunk(content="", response_metadata={"finish_reason": "stop"})

    def _answer(self, material: Material) -> Iterator[str]:
        language, question = material.language, material.question
        if not material.sources:
            silent = _silence(material)
            plain = simplified(question)
            talk = _SMALL_TALK.fullmatch(plain.strip())
            polite = Fact("llm.hello") if talk and not _THANKS.search(plain) else Fact("llm.thanks")
            yield material.told() or (polite if talk or material.asks_nothing else silent).text(language)
            return
        sources = quotable(material.sources.values(), language)
        named = material.recognised is not None and material.recognised.names_results
        if material.of_the_whole and all(source.of_file for source in sources):
            quotes, beginning = from_all_over(sources), Fact("llm.no_summary")
        else:
            quotes, beginning = best_quotes(question, sources, all_named=named), lead(question, sources)
        quoted = "".join(f"{quote.text}{quote.remark}" for quote in quotes)
        remark = material.told(one for one in material.remarks if one.note.text(language) not in quoted)
        answered = beginning.code == "llm.lead"
        # What is missing comes before what is merely near it.
        remark_first = not answered or any(source.related for source in sources)
        if remark and remark_first:
            yield f"{remark}\n\n"
        if len(quotes) == 1 and answered:
            yield quotes[0].cited
        else:
            yield f"{_whence(beginning, quotes, sources).text(language)}\n"
            yield from _listed(quotes, sources, language)
        yield from _differing(material, {quote.text for quote in quotes})
        missing = left_out(sources, quotes) if named else 0
        yield f"\n\n{Fact('llm.more', count=missing).text(language)}" if missing else ""
        if remark and not remark_first:
            yield f"\n\n{remark}"
        if self.note:
            yield f"\n\n{no_model_note(language)}"


def _whence(beginning: Fact, quotes: Sequence[Quote], sources: Sequence[Quotable]) -> Fact:
    """Return the words before quotations; what stands in files of the conversation was not searched for."""
    files = {source.number for source in sources if source.of_file}
    of_files = sum(not files.isdisjoint(quote.numbers) for quote in quotes)
    if of_files and of_files == len(quotes):
        return {"llm.lead": Fact("llm.lead_files"), "llm.closest": Fact("llm.closest_files")}.get(
            beginning.code, beginning
        )
    return Fact("llm.lead_found") if of_files and beginning.code == "llm.lead" else beginning


def _listed(quotes: Sequence[Quote], sources: Sequence[Quotable], language: Language) -> Iterator[str]:
    """Quote one after the other: what is quoted whole first, files and pages of the web under lines of their own."""
    whole = {source.number for source in sources if source.whole}
    files = {source.number for source in sources if source.of_file}
    groups: dict[str, list[Quote]] = {"": []}
    for quote in quotes:
        numbers = set(quote.numbers)
        heading = "" if whole & numbers else "llm.from_files" if files & numbers else "llm.from_pages"
        groups.setdefault(heading, []).append(quote)
    several = sum(map(bool, groups.values())) > 1
    for heading, group in groups.items():
        if heading and several:
            yield f"\n\n{Fact(heading).text(language)}\n"
        yield from (f"\n- {quote.cited}" for quote in group)


def _differing(material: Material, quoted: Collection[str]) -> Iterator[str]:
    """Quote the sources that contradict one another, each with its number; what stands above is only named."""
    for one in material.differences:
        if {harmless(one.first.sentence), harmless(one.second.sentence)} <= set(quoted):
            named = Fact("llm.differ_above", first=one.first.number, second=one.second.number)
            yield f"\n\n{named.text(material.language)}"
            continue
        yield f"\n\n{Fact('llm.differ').text(material.language)}\n"
        yield from (f"\n- {harmless(each.sentence)} [{each.number}]" for each in (one.first, one.second))


def _silence(material: Material) -> Fact:
    """Return why there is nothing to quote: a failure is not the same as finding nothing."""
    if material.failed:
        return Fact("llm.search_failed")
    return Fact("llm.found_nothing") if material.searched else Fact("llm.nothing")


def _bare(messages: Sequence[BaseMessage]) -> Material:
    """Return what is known of a question that comes without a turn."""
    questions = [message.text for message in messages if isinstance(message, HumanMessage)]
    question = questions[-1].strip() if questions else ""
    return Material(question, Language(language_of(question)), plugins.recognise(question))


def _next_search(material: Material, options: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the tool and the query of the next search, None if it is time to answer."""
    choice = options.get("tool_choice")
    tools = _searching(options.get("tools") or ()) if choice != "none" else []
    forced = choice not in (None, "auto", "none", False) and not material.searches
    done = material.sources or material.failed or len(material.searches) >= _MOST_SEARCHES
    if not tools or done or not material.question:
        return None
    if not forced and _SMALL_TALK.fullmatch(simplified(material.question).strip()):
        return None
    query = cleaned(material.question)
    if not material.searches:
        special = material.recognised.tool if material.recognised is not None else ""
        return (special if special in tools else WEB if WEB in tools else tools[0]), query
    last, before = material.searches[-1]
    if last != WEB and WEB in tools:
        return WEB, query
    words = keywords(query)
    return (last, words) if words and words != before else None


def _searching(tools: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the tools that search: they take a query."""
    functions = [tool["function"] for tool in tools]
    return [one["name"] for one in functions if "query" in one.get("parameters", {}).get("properties", {})]


def cleaned(question: str) -> str:
    """Return a question as a query: without polite words, marks at its end, and what is too long."""
    line = " ".join(question.split())
    short = _without(_END, _without(_POLITE, line)) or line
    return short[:_QUERY_CHARS].strip()


def keywords(query: str) -> str:
    """Return the words of a query that carry its meaning."""
    words = [word for word in _without(_ASKING, query, " ").split() if word.lower() not in STOP_WORDS]
    return " ".join(words)


def _without(pattern: re.Pattern[str], text: str, instead: str = "") -> str:
    """Take out what a pattern finds, in whichever characters the text is written."""
    kept, at = [], 0
    for found in pattern.finditer(simplified(text)):
        kept.append(text[at : found.start()])
        at = found.end()
    return instead.join([*kept, text[at:]])

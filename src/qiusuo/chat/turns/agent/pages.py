"""Reading pages in agent mode: several at once, and of each the passages that answer what is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from langchain_core.tools import ToolException
from pydantic import BaseModel, Field

from qiusuo.chat.events.turn import Stage
from qiusuo.chat.turns import prompts
from qiusuo.chat.turns.agent.tools import Desk, known_error
from qiusuo.chat.turns.sources.private import was_given
from qiusuo.models import SearchResponse, SearchResultItem
from qiusuo.pages import Page
from qiusuo.passages import Text, pick
from qiusuo.text import truncate
from qiusuo.tools.langchain import ModelTool
from qiusuo.tools.render import numbered_sources, page_text
from qiusuo.tools.specs import MAX_PAGE_CHARS, PAGES_AT_ONCE, PAGES_DESCRIPTION, SNIPPET_CHARS, PagesArguments

FETCH: Final = "fetch_page"
_TOGETHER: Final = 8000
_OF_ONE: Final = 3000


class _Read(NamedTuple):
    """A page that was read: its round, itself, its passages, the best of them."""

    number: int
    page: Page
    text: str
    best: str


class AgentPages(ModelTool):
    """``fetch_page`` in a turn."""

    name: str = FETCH
    description: str = PAGES_DESCRIPTION
    args_schema: type[BaseModel] = PagesArguments
    desk: Desk = Field(exclude=True)

    def _run(self, **_arguments: Any) -> tuple[str, dict[str, Any]]:
        raise NotImplementedError("a turn reads pages on its own loop")

    async def _arun(self, urls: Sequence[str], question: str = "", **_other: Any) -> tuple[str, dict[str, Any]]:
        context = self.desk.context
        wanted = list(dict.fromkeys(url.strip() for url in urls))
        chosen, left = wanted[:PAGES_AT_ONCE], wanted[PAGES_AT_ONCE:]
        asked, budget = question.strip() or context.query, min(_OF_ONE, _TOGETHER // len(chosen))
        # Told in the order in which they were asked for, so that the numbers do not depend on who is faster.
        reads = await asyncio.gather(*(self._read(url, asked, budget) for url in chosen))
        texts = [read if isinstance(read, str) else self._found(*read) for read in reads]
        if len(texts) == 1 and isinstance(reads[0], str):
            raise ToolException(texts[0])
        if left:
            # First: where the text is shortened, the end stays, which is that of a page's words.
            texts.insert(
                0, prompts.PAGES_LEFT[context.language.written].format(most=PAGES_AT_ONCE, urls=" ".join(left))
            )
        return "\n\n".join(texts), {"urls": chosen}

    async def _read(self, url: str, question: str, budget: int) -> _Read | str:
        """Return a page with its passages, or what the model is told where it cannot be read."""
        context, journal = self.desk.context, self.desk.context.journal
        if not was_given(context, url):
            return prompts.NOT_GIVEN[context.language.written]
        if not context.scope.allows(url) and url not in context.ask.question:
            return prompts.OUTSIDE[context.language.written].format(sites=", ".join(context.scope.sites))
        number = journal.begin_round(FETCH, url)
        journal.status(Stage.READING, url)
        try:
            page = await context.reader.read(url, max_chars=MAX_PAGE_CHARS)
            return _Read(number, page, *await asyncio.to_thread(passages_of, question, page, budget))
        except Exception as error:  # noqa: BLE001 - whatever it is is told; the other pages are read
            return str(self.desk.failed(number, FETCH, url, known_error(error, FETCH)))

    def _found(self, number: int, page: Page, text: str, best: str) -> str:
        context, journal = self.desk.context, self.desk.context.journal
        snippet = truncate(" ".join(best.split()), SNIPPET_CHARS)
        source = SearchResultItem(page.title or page.url, page.final_url, snippet, published_at=page.published_at)
        [own] = context.sources.add(page.url, [source])
        journal.end_round(number, FETCH, SearchResponse(page.url, (source,), ""), [own])
        journal.page_was_read(source.url)
        context.material.found(numbered_sources([source], [own]))
        context.pages[own] = page.text
        return f"[{own}] {page_text(page, text)}"


def passages_of(question: str, page: Page, budget: int) -> tuple[str, str]:
    """Return the parts of a page that answer a question, in their order, each below its heading; and the best one."""
    found = pick(question, [Text(1, page.title, page.text)], budget)
    if not found or not found[0].score:  # no word in common: most often another language
        beginning = truncate(page.text, budget)
        return beginning, beginning
    best = found[0].text
    if len(page.text) <= budget:
        return page.text, best
    pieces: list[str] = []
    heading = ""
    for passage in sorted(found, key=lambda each: each.start):
        if passage.heading and passage.heading != heading and passage.heading not in passage.text:
            pieces.append(f"## {passage.heading}")
        heading = passage.heading
        pieces.append(passage.text)
    return "\n…\n".join(pieces), best

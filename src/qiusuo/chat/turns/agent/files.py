"""Files in agent mode: the model searches them and reads pages of them, so that none has to be sent whole."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any, Final

from langchain_core.tools import ToolException
from pydantic import BaseModel, Field

from qiusuo.chat.events.turn import SEARCH_FILES
from qiusuo.chat.turns import prompts
from qiusuo.chat.turns.agent.tools import Desk
from qiusuo.chat.turns.sources.files import InFiles, Place, numbered_parts, search_parts, told
from qiusuo.files import FileText
from qiusuo.passages import Passage
from qiusuo.tools.langchain import ModelTool
from qiusuo.tools.render import numbered_sources
from qiusuo.tools.specs import FILES_DESCRIPTION, FileArguments

_BUDGET: Final = 6000
_WHOLE_PARTS: Final = 3


class AgentFiles(ModelTool):
    """``search_files`` in a turn."""

    name: str = SEARCH_FILES
    description: str = FILES_DESCRIPTION
    args_schema: type[BaseModel] = FileArguments
    desk: Desk = Field(exclude=True)

    def _run(self, **_arguments: Any) -> tuple[str, dict[str, Any]]:
        raise NotImplementedError("a turn looks into files on its own loop")

    async def _arun(self, query: str = "", file: str = "", page: int = 0, **_other: Any) -> tuple[str, dict[str, Any]]:
        context = self.desk.context
        files = [one for one in context.ask.files if file.strip().casefold() in one.name.casefold()]
        if not files:
            raise ToolException(prompts.NO_SUCH_FILE[context.language.written].format(file=file))
        asked, began = query.strip() or context.query or context.ask.question, time.perf_counter()
        if page:
            chosen = _pages(files, page)
            if not chosen:
                raise ToolException(prompts.NO_SUCH_PAGE[context.language.written].format(page=page))
        else:
            chosen = await asyncio.to_thread(search_parts, asked, files, _BUDGET)
        found = numbered_parts(context, asked, chosen, round((time.perf_counter() - began) * 1000))
        context.material.searches.append((SEARCH_FILES, asked))
        context.material.found(numbered_sources(found.items, found.numbers, passages=found.passages))
        return told(context, found), {"numbers": found.numbers}


def _pages(files: Sequence[FileText], page: int) -> list[tuple[Place, list[Passage]]]:
    """Return a page of each file, as a whole; of files without pages the part of that number."""
    places = [
        Place(file, index)
        for file in files
        for index, part in enumerate(file.parts)
        if (part.page or index + 1) == page
    ]
    return [(place, [_whole(place)]) for place in places[:_WHOLE_PARTS]]


def _whole(place: Place) -> Passage:
    text = place.file.parts[place.index].text[:_BUDGET]
    return Passage(1, text, 0, len(text), 1.0, text[:1])


def list_of_files(desk: Desk, found: InFiles | None) -> str:
    """Return what the model is told of the files with the question."""
    told_so_far = told(desk.context, found)
    return f"{told_so_far}\n{prompts.USE_FILES[desk.context.language.written]}"

"""Zhipu GLM: the tool ``web_search`` on chat completions, whose list of results LangChain would drop."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from qiusuo.chat.models.native.perplexity import ListedReader
from qiusuo.chat.models.native.responses import UNWATCHED, settings_of
from qiusuo.chat.models.native.stream import Reader, StreamedSearch


class ZhipuSearch(StreamedSearch):
    """The tool ``web_search`` with its settings inside."""

    def bound(self, model: BaseChatModel) -> Runnable[Any, Any]:
        from qiusuo.chat.models.native.zhipu_model import ZhipuChat  # noqa: PLC0415 - loads langchain_openai

        tool = {
            "type": "web_search",
            "web_search": {
                "enable": True,
                "search_engine": "search_pro",
                "search_result": True,
                # So that citations get the numbers of the list while the text streams.
                "result_sequence": "before",
            },
        }
        # There is no Responses endpoint, to which LangChain would turn for a tool of this type.
        settings = {"use_responses_api": False, "output_version": "v0", **UNWATCHED}
        return ZhipuChat(**settings_of(model, ZhipuChat) | settings).bind_tools([tool])

    def reader(self) -> Reader:
        return ListedReader("web_search", number_key="refer", url_key="link", text_key="content")

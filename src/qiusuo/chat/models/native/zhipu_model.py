"""A client that keeps the list of results which Zhipu puts beside ``choices``. Loaded only when it is used."""

from __future__ import annotations

from typing import Any

from langchain_core.outputs import ChatGenerationChunk, ChatResult

from qiusuo.chat.models.clients.openai_chat import CompatibleChat


class ZhipuChat(CompatibleChat):
    """Puts ``web_search`` of a response into ``additional_kwargs`` of the message."""

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        made = super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)
        if made is not None and chunk.get("web_search"):
            made.message.additional_kwargs["web_search"] = chunk["web_search"]
        return made

    def _create_chat_result(self, response: Any, generation_info: dict[str, Any] | None = None) -> ChatResult:
        result = super()._create_chat_result(response, generation_info)
        found = response.get("web_search") if isinstance(response, dict) else getattr(response, "web_search", None)
        if found:
            result.generations[0].message.additional_kwargs["web_search"] = found
        return result

"""The client for servers that speak OpenAI's chat completions. Loaded only when a model is used (extra ``chat``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from openai import DefaultAioHttpClient, DefaultHttpxClient, Timeout

from qiusuo.chat.models.clients.openai_stream import PlainCompletions
from qiusuo.chat.models.vendors import ModelChoice
from qiusuo.config import Settings
from qiusuo.config.server import is_loopback

_CONNECT_SECONDS: Final = 10.0
# What vendors say beside the text, and LangChain drops: the model's refusal, its thoughts, citations of its search.
_KEPT: Final = ("refusal", "reasoning_content", "reasoning", "annotations")
# A server that wants no key gets this one: the client insists on some.
_NO_KEY: Final = "none"


class CompatibleChat(ChatOpenAI):
    """ChatOpenAI that keeps fields of other vendors and speaks the older dialect that all of them understand."""

    def _get_request_payload(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        payload: dict[str, Any] = super()._get_request_payload(*args, **kwargs)
        # Only OpenAI itself is sure to know the new name; with Responses there is neither.
        if "max_completion_tokens" in payload and "api.openai.com" not in str(self.openai_api_base):
            payload["max_tokens"] = payload.pop("max_completion_tokens")
        return payload

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        made = super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)
        choices = chunk.get("choices")
        if made is not None and choices:
            made.message.additional_kwargs.update(_kept(choices[0].get("delta")))
        return made

    def _create_chat_result(self, response: Any, generation_info: dict[str, Any] | None = None) -> ChatResult:
        result = super()._create_chat_result(response, generation_info)
        whole = response if isinstance(response, dict) else response.model_dump(exclude_none=True)
        for generation, choice in zip(result.generations, whole.get("choices") or (), strict=False):
            generation.message.additional_kwargs.update(_kept(choice.get("message")))
        return result


def compatible_chat(
    choice: ModelChoice, settings: Settings, kind: type[CompatibleChat] = CompatibleChat
) -> CompatibleChat:
    """Return the client for a server with OpenAI's protocol.

    Its connections are its own (``http_async_client``), so that closing them disturbs nobody, and no redirect carries
    the key to another host. It makes no retries: :func:`qiusuo.chat.models.model_errors.worth_a_retry` has the policy.
    """
    timeout = Timeout(settings.model_timeout, connect=_CONNECT_SECONDS)
    vendor = choice.vendor
    # A proxy of the environment is never used for this machine itself.
    near = is_loopback(urlsplit(choice.base_url).hostname or "")
    client: dict[str, Any] = {"timeout": timeout, "follow_redirects": False, "trust_env": not near}
    chat = kind(
        model=choice.name,
        base_url=choice.base_url,
        api_key=lambda: choice.key or _NO_KEY,  # a function, so that no copy or dump of the model holds the key
        temperature=settings.model_temperature,
        max_completion_tokens=settings.max_answer_tokens,
        timeout=timeout,
        stream_chunk_timeout=None,  # stream_model watches the silence
        max_retries=0,
        use_responses_api=False,
        stream_usage=vendor is None or vendor.stream_options,
        http_client=DefaultHttpxClient(**client),
        http_async_client=DefaultAioHttpClient(**client),
    )
    chat.async_client = PlainCompletions(chat.async_client)
    return chat


def _kept(message: Any) -> dict[str, Any]:
    if not isinstance(message, Mapping):
        return {}
    return {name: message[name] for name in _KEPT if message.get(name)}

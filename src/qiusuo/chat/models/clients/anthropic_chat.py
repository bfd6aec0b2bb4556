"""The client for Anthropic's Messages API. Loaded only when such a model is used."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import anthropic
from langchain_anthropic import ChatAnthropic


class OwnConnections(ChatAnthropic):
    """ChatAnthropic whose connections are its own.

    The package keeps one set of them for each address, for all models and event loops of the process: in a second loop
    they break, and closing them would disturb others. Ours (``http_async_client``) are closed with the model, and no
    redirect carries the key to another host.
    """

    @cached_property
    def http_async_client(self) -> anthropic.DefaultAsyncHttpxClient:
        given: dict[str, Any] = {"follow_redirects": False}
        if self.anthropic_proxy:
            given["proxy"] = self.anthropic_proxy
        return anthropic.DefaultAsyncHttpxClient(**given)

    @cached_property
    def _async_client(self) -> anthropic.AsyncClient:
        return anthropic.AsyncClient(**self._client_params, http_client=self.http_async_client)

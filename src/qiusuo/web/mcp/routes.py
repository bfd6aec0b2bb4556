"""``/mcp``: the tools over streamable HTTP, behind the same guard as everything else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.routing import Route

from qiusuo.citations.linking.registry import CitationRegistry
from qiusuo.tools.mcp import offer
from qiusuo.web.backend import Backend, Extension
from qiusuo.web.document import documented
from qiusuo.web.language import wished_language
from qiusuo.web.mcp.sessions import DEFAULT_LIMITS, NUMBERS, SessionLimits, Sessions
from qiusuo.web.mcp.shared import SharedSessions
from qiusuo.words import Language

PATH = "/mcp"
_DOCUMENTED = {
    "post": documented(
        "Call the tools over MCP (streamable HTTP): JSON-RPC, for clients of the protocol.",
        {"type": "object", "description": "A JSON-RPC message of the Model Context Protocol."},
        "mcp",
    )
}


def mcp_extension(backend: Backend, limits: SessionLimits = DEFAULT_LIMITS) -> Extension:
    """Return the MCP endpoint; searches count against the user whom the guard has found."""
    server = offer(backend.service, backend.reader, user_of=_user_of, numbers_of=_numbers_of, language_of=_language_of)
    # The guard has checked host and origin already, by the server's own settings.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    manager = StreamableHTTPSessionManager(
        server, security_settings=security, session_idle_timeout=limits.idle_seconds, max_sessions=limits.in_all
    )
    # Answers for sessions that another server has opened.
    for_others = StreamableHTTPSessionManager(server, stateless=True, security_settings=security)
    shared = SharedSessions(backend.service.pipeline.shared, limits.idle_seconds)
    endpoint = Sessions(manager, limits, for_others=for_others, shared=shared)

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        async with manager.run(), for_others.run():
            yield

    return Extension(routes=[Route(PATH, endpoint)], lifespan=lifespan, paths={PATH: _DOCUMENTED})


def _numbers_of(context: ServerRequestContext[Any, Any]) -> CitationRegistry:
    """Return the numbers of the session; a client without one begins anew with each call."""
    state = context.request.scope.get("state", {}) if context.request is not None else {}
    numbers = state.get(NUMBERS)
    return numbers if isinstance(numbers, CitationRegistry) else CitationRegistry()


def _language_of(context: ServerRequestContext[Any, Any]) -> Language | None:
    return wished_language(context.request.scope) if context.request is not None else None


def _user_of(context: ServerRequestContext[Any, Any]) -> str | None:
    state = context.request.scope.get("state", {}) if context.request is not None else {}
    user = state.get("user")
    return user if isinstance(user, str) else None

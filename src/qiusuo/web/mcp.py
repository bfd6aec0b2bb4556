"""``/mcp``: the tools over streamable HTTP, behind the same guard as everything else."""

from __future__ import annotations

from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.routing import Route

from qiusuo.citations.linking.registry import CitationRegistry
from qiusuo.tools.mcp import offer
from qiusuo.web.backend import Backend, Extension
from qiusuo.web.mcp_sessions import DEFAULT_LIMITS, NUMBERS, SessionLimits, Sessions

PATH = "/mcp"


def mcp_extension(backend: Backend, limits: SessionLimits = DEFAULT_LIMITS) -> Extension:
    """Return the MCP endpoint; searches count against the user whom the guard has found."""
    manager = StreamableHTTPSessionManager(
        offer(backend.service, backend.reader, user_of=_user_of, numbers_of=_numbers_of),
        # The guard has checked host and origin already, by the server's own settings.
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        session_idle_timeout=limits.idle_seconds,
        max_sessions=limits.in_all,
    )
    endpoint = Sessions(manager, limits, bound=bool(backend.tokens))
    return Extension(routes=[Route(PATH, endpoint)], lifespan=manager.run)


def _numbers_of(context: ServerRequestContext[Any, Any]) -> CitationRegistry:
    """Return the numbers of the session; a client without one begins anew with each call."""
    state = context.request.scope.get("state", {}) if context.request is not None else {}
    numbers = state.get(NUMBERS)
    return numbers if isinstance(numbers, CitationRegistry) else CitationRegistry()


def _user_of(context: ServerRequestContext[Any, Any]) -> str | None:
    state = context.request.scope.get("state", {}) if context.request is not None else {}
    user = state.get("user")
    return user if isinstance(user, str) else None

"""``/mcp``: the tools over streamable HTTP, behind the same guard as everything else."""

from __future__ import annotations

from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.transport_security import TransportSecuritySettings

from qiusuo.tools.mcp import offer
from qiusuo.web.backend import Backend, Extension

PATH = "/mcp"


def mcp_extension(backend: Backend) -> Extension:
    """Return the MCP endpoint; searches count against the user whom the guard has found."""
    server = offer(backend.service, backend.reader, user_of=_user_of)
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        # The guard has checked host and origin already, by the server's own settings.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Extension(routes=app.routes, lifespan=lambda: app.router.lifespan_context(app))


def _user_of(context: ServerRequestContext[Any, Any]) -> str | None:
    state = context.request.scope.get("state", {}) if context.request is not None else {}
    user = state.get("user")
    return user if isinstance(user, str) else None

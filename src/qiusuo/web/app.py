"""The whole server as one ASGI app: ``uvicorn --factory qiusuo.web.app:create_app``, or ``qiusuo serve``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from http import HTTPStatus
from typing import Any, Final

from fastapi import APIRouter, FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from qiusuo import __version__, plugins
from qiusuo.config import Settings
from qiusuo.config.server import is_loopback
from qiusuo.pages import PageReader
from qiusuo.service import SearchService
from qiusuo.web.api import api_router
from qiusuo.web.backend import Backend, Extend, Extension
from qiusuo.web.drop_in.searxng import SearxngError, searxng_router
from qiusuo.web.drop_in.tavily import TavilyError, tavily_router
from qiusuo.web.entrance.auth import Tokens, is_from_here
from qiusuo.web.entrance.door import Door
from qiusuo.web.entrance.guard import Guard, known_hosts
from qiusuo.web.entrance.origins import AllowedOrigins
from qiusuo.web.entrance.proxies import TrustedProxies
from qiusuo.web.errors import CLIENT_GONE, Refusal
from qiusuo.web.openai.errors import no_such_address, refused
from qiusuo.web.schemas import ErrorAnswer, error_responses, shape_of
from qiusuo.web.settings.live import LiveSettings
from qiusuo.web.settings.routes import settings_router
from qiusuo.web.signin.header import NamedByProxy
from qiusuo.web.static.guide import docs_routes
from qiusuo.web.static.home import home_routes
from qiusuo.web.static.install import install_routes
from qiusuo.web.static.page import page_routes
from qiusuo.web.watching.metrics import Metrics
from qiusuo.web.watching.tracing import Tracing
from qiusuo.words import Fact, Language

ROUTERS: Final = (api_router, settings_router, searxng_router, tavily_router)


def plugin_routers(backend: Backend) -> Iterator[APIRouter]:
    """Yield the endpoints that plug-ins bring."""
    for plugin in plugins.installed():
        for part in plugin.routes:
            yield from plugins.make(plugin, part, backend, APIRouter)


def default_extensions() -> tuple[Extend, ...]:
    """Return what else every server offers, where the extras are installed: ``/mcp``, conversations, ``/v1``, usage."""
    found: list[Extend] = []
    with suppress(ModuleNotFoundError):
        from qiusuo.web.mcp.routes import mcp_extension  # noqa: PLC0415 - an extra

        found.append(mcp_extension)
    with suppress(ModuleNotFoundError):
        from qiusuo.web.chat.routes import chat_extension  # noqa: PLC0415 - an extra

        found.append(chat_extension())
        from qiusuo.web.openai.routes import openai_extension  # noqa: PLC0415 - the same extra

        found.append(openai_extension)
        from qiusuo.web.watching.usage import usage_extension  # noqa: PLC0415 - the same extra

        found.append(usage_extension())
        from qiusuo.web.people import people_extension  # noqa: PLC0415 - the same extra

        found.append(people_extension())
        from qiusuo.web.signin.routes import signin_extension  # noqa: PLC0415 - the same extra

        found.append(signin_extension)
    return tuple(found)


_ABOUT: Final = " ".join(Fact("web.about").text(language) for language in (Language.ENGLISH, Language.CHINESE))
_VALIDATION: Final = ("HTTPValidationError", "ValidationError")
_BEARER: Final = "token"


class QiusuoApp(FastAPI):
    """FastAPI whose document tells what the routes really do."""

    backend: Backend
    extensions: Sequence[Extension]
    beside: Sequence[plugins.Beside] = ()
    """What plug-ins do in the background while the server runs."""

    def stopping(self) -> None:
        """The server is told to stop: nothing that takes long is begun any more, and ``/readyz`` says so."""
        self.backend.life.stopping = True

    def is_answering(self) -> bool:
        """Tell whether streams run that may take long."""
        return any(extension.answering() for extension in self.extensions if extension.answering is not None)

    def stop_streams(self) -> None:
        """End the streams that may take long, in good order: for a server that is told to stop."""
        for extension in self.extensions:
            if extension.stop is not None:
                extension.stop()

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        if not self.openapi_schema:
            document = super().openapi()
            parts = document["components"]
            for extension in self.extensions:
                document["paths"] |= extension.paths
                if extension.document is not None:
                    made = extension.document()
                    document["paths"] |= made["paths"]
                    parts["schemas"] = {**made["schemas"], **parts["schemas"]}
            # Bodies that are not valid are answered with 400 here, not with FastAPI's own 422.
            for name in _VALIDATION:
                parts["schemas"].pop(name, None)
            for model in (ErrorAnswer, SearxngError, TavilyError):
                parts["schemas"] |= shape_of(model)
            for operation in (one for path in document["paths"].values() for one in path.values()):
                operation["responses"].pop("422", None)
            parts["securitySchemes"] = {_BEARER: {"type": "http", "scheme": "bearer"}}
            document["security"] = [{_BEARER: []}] if self.backend.recognises_people else [{}, {_BEARER: []}]
        return self.openapi_schema or {}


def _backend(service: SearchService, settings: Settings, reader: PageReader, metrics: Metrics) -> Backend:
    tokens = Tokens(settings.tokens)
    return Backend(
        service=service,
        live=LiveSettings(settings),
        reader=reader,
        tokens=tokens,
        door=Door(tokens, metrics),
        metrics=metrics,
        signs_in=settings.recognises_people,
    )


async def try_plugin_routers(service: SearchService) -> None:
    """Make the endpoints of plug-ins as a server would, for the doctor: what fails is kept with the plug-ins."""
    async with PageReader.from_settings(service.settings) as reader:
        list(plugin_routers(_backend(service, service.settings, reader, Metrics())))


def create_app(
    service: SearchService | None = None,
    settings: Settings | None = None,
    *,
    reader: PageReader | None = None,
    extensions: Sequence[Extend] | None = None,
    metrics_folder: str | None = None,
) -> QiusuoApp:
    """Build the app. A service or reader that is given stays the caller's; those made here are closed with the app.

    ``metrics_folder`` is that in which the workers of a server count together.
    """
    settings = settings or (service.settings if service else Settings.load())
    tracing = Tracing(settings) if settings.otlp_url else None
    backend = _backend(
        service or SearchService.from_settings(settings),
        settings,
        reader or PageReader.from_settings(settings),
        Metrics(metrics_folder),
    )
    backend.door.others_are_known = bool(settings.proxy_user_header or settings.oidc_issuer)
    backend.door.beyond_this_machine = not (is_loopback(settings.host) or settings.allow_open or settings.uds)
    backend.door.is_trusted = lambda scope: is_from_here(scope, backend.settings)
    backend.live.on_renewal(backend.service.renew)
    backend.service.observe(backend.metrics)
    backend.service.observe(backend.attempts)
    added = [extend(backend) for extend in (default_extensions() if extensions is None else extensions)]

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if tracing is not None:
                stack.push_async_callback(tracing.aclose)
            if service is None:
                stack.push_async_callback(backend.service.aclose)
            if reader is None:
                stack.push_async_callback(backend.reader.aclose)
            app.beside = stack.enter_context(plugins.beside(settings))
            watching = asyncio.create_task(backend.live.watch())
            stack.callback(watching.cancel)
            for extension in added:
                if extension.lifespan is not None:
                    await stack.enter_async_context(extension.lifespan())
            yield
            backend.life.stopping = True

    app = QiusuoApp(
        title="求索 Qiusuo",
        description=_ABOUT,
        version=__version__,
        lifespan=lifespan,
        # FastAPI's pages load their scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=error_responses(401, 403, 413, 421, 429),
        exception_handlers={
            HTTPException: _http_error,
            Refusal: _refused,
            ClientDisconnect: _gone,
            Exception: _broken,
        },
    )
    app.backend = backend
    app.extensions = added
    for router in (*(make(backend) for make in ROUTERS), *plugin_routers(backend)):
        app.include_router(router)
    pages = [*home_routes(), *install_routes(), *page_routes(), *docs_routes()]
    more = [*pages, *(route for extension in added for route in extension.routes)]
    app.router.routes.extend(more)
    proxies = TrustedProxies(settings.trusted_proxies)
    app.add_middleware(
        Guard,
        hosts=known_hosts(settings),
        door=backend.door,
        signed_in=backend.parts.get("signed_in"),
        named=NamedByProxy(lambda: backend.settings, proxies) if settings.proxy_user_header else None,
        metrics=backend.metrics,
        paths=frozenset(route.path for route in more if isinstance(route, Route)),
        origins=AllowedOrigins(settings.allowed_origins),
        proxies=proxies,
        root_path=settings.root_path,
        tracing=tracing,
    )
    return app


async def _http_error(request: Request, error: Exception) -> Response:
    """Answer what the framework itself refuses: unknown paths, wrong methods."""
    if not isinstance(error, HTTPException):
        raise error
    status = HTTPStatus(error.status_code)
    match status:
        case HTTPStatus.NOT_FOUND:
            fact = no_such_address(request.scope["path"])
        case HTTPStatus.METHOD_NOT_ALLOWED:
            fact = Fact("web.no_such_method", method=request.method)
        case _:
            fact = Fact("web.http_error", status=status.value, words=f"{error.detail}.")
    return refused(Refusal(status, fact, headers=error.headers), request.scope)


async def _refused(request: Request, error: Exception) -> Response:
    """Answer what the guard refuses in the middle of a request: a body that grows too large."""
    if not isinstance(error, Refusal):
        raise error
    return refused(error, request.scope)


async def _gone(_request: Request, _error: Exception) -> Response:
    """End a request whose client has left in the middle of its body: nobody hears this."""
    return Response(status_code=CLIENT_GONE)


async def _broken(request: Request, _error: Exception) -> Response:
    """Answer after a fault of ours, which the server logs; its text is nobody else's business."""
    headers = {"X-Content-Type-Options": "nosniff"}
    return refused(Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, Fact("web.fault"), headers=headers), request.scope)

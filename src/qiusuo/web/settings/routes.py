"""The endpoints under ``/api/settings``, for whoever runs the server."""

from __future__ import annotations

import logging
import time

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from qiusuo.web.api import LANGUAGE
from qiusuo.web.backend import Backend
from qiusuo.web.language import reader_language
from qiusuo.web.route import json_answer, user_of
from qiusuo.web.schemas import error_responses
from qiusuo.web.settings.access import operators_route
from qiusuo.web.settings.changing import Change, change_settings
from qiusuo.web.settings.checkup import RepairBody, findings_shape, mend
from qiusuo.web.settings.found import find_servers, places_of
from qiusuo.web.settings.shapes import settings_shape
from qiusuo.web.settings.trying import Listing, Trial, list_models, try_out

logger = logging.getLogger(__name__)


def settings_router(backend: Backend) -> APIRouter:
    """Return the routes."""
    router = APIRouter(route_class=operators_route(backend), tags=["settings"])

    @router.get("/api/settings", openapi_extra=LANGUAGE)
    async def show(request: Request) -> Response:
        """Tell every setting and where it comes from; keys only as set or not. 读取设置。"""
        await backend.live.look()
        language = reader_language(request.scope)
        return json_answer(await settings_shape(backend, language), language=language)

    @router.patch("/api/settings", responses=error_responses(400, 409, 415, 503), openapi_extra=LANGUAGE)
    async def change(request: Request, body: Change) -> Response:
        """Change settings: written to the configuration file, obeyed at once. 修改设置。"""
        names, restart = await change_settings(backend, body)
        logger.info("settings changed by %s: %s", user_of(request), ", ".join(names))
        if names:
            await backend.note(request, "audit.settings_changed", names=names)
        language = reader_language(request.scope)
        shape = await settings_shape(backend, language)
        return json_answer({**shape, "changed": names, "restart": restart}, language=language)

    @router.post("/api/settings/test", responses=error_responses(400, 415), openapi_extra=LANGUAGE)
    async def try_it(request: Request, body: Trial) -> Response:
        """Try a key or an address with the cheapest question; nothing of it is kept. 测试密钥或地址。"""
        started = time.monotonic()
        tried = await try_out(backend.settings, body)
        language = reader_language(request.scope)
        return json_answer(tried.to_dict(language, _ms(started)), language=language)

    @router.post("/api/settings/models", responses=error_responses(400, 415), openapi_extra=LANGUAGE)
    async def models(request: Request, body: Listing) -> Response:
        """List the models of a provider. 列出服务商的模型。"""
        started = time.monotonic()
        tried = await list_models(backend.settings, body)
        language = reader_language(request.scope)
        shape = {"models": list(tried.names), **tried.to_dict(language, _ms(started))}
        return json_answer(shape, language=language)

    @router.get("/api/settings/found")
    async def found(request: Request) -> Response:
        """Look for model servers on this machine. 查找本机的模型服务。"""
        server = request.scope.get("server") or ("", None)
        own = {server[1] or backend.settings.port}
        return json_answer({"servers": await find_servers(places_of(backend.settings), own)})

    @router.get("/api/doctor", openapi_extra=LANGUAGE)
    async def doctor(request: Request) -> Response:
        """Examine the set-up as `qiusuo doctor` does. 检查配置。"""
        language = reader_language(request.scope)
        return json_answer(await findings_shape(backend, language), language=language)

    @router.post("/api/doctor/repair", responses=error_responses(400, 415, 503), openapi_extra=LANGUAGE)
    async def repair(request: Request, body: RepairBody) -> Response:
        """Make a repair that needs no question, and examine anew. 修复一项问题。"""
        language = reader_language(request.scope)
        return json_answer(await mend(backend, body.code, language), language=language)

    return router


def _ms(started: float) -> int:
    return round((time.monotonic() - started) * 1000)

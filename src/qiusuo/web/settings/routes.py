"""The endpoints under ``/api/settings``, for whoever runs the server."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from qiusuo.web.api import LANGUAGE
from qiusuo.web.backend import Backend
from qiusuo.web.language import reader_language
from qiusuo.web.route import json_answer
from qiusuo.web.schemas import error_responses
from qiusuo.web.settings.access import operators_route
from qiusuo.web.settings.changing import Change, change_settings
from qiusuo.web.settings.shapes import settings_shape


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
        language = reader_language(request.scope)
        shape = await settings_shape(backend, language)
        return json_answer({**shape, "changed": names, "restart": restart}, language=language)

    return router

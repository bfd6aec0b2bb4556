"""The REST endpoints under ``/api``, and those for whoever watches the server: ``/livez``, ``/readyz``."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from fastapi import APIRouter
from pydantic.alias_generators import to_camel
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from qiusuo import __version__
from qiusuo.models import SearchType
from qiusuo.service import EngineStatus
from qiusuo.web.backend import Backend
from qiusuo.web.health import Health
from qiusuo.web.metrics import CONTENT_TYPE
from qiusuo.web.route import LeanRoute, json_answer
from qiusuo.web.schemas import EnginesAnswer, HealthAnswer, ReadyAnswer, SearchAnswer, SearchBody, error_responses

SEARCH_ERRORS: Final = (400, 429, 502, 503, 504)
_ENGINE_KEYS: Final = {name: to_camel(name) for name in EngineStatus.__dataclass_fields__}


def api_router(backend: Backend) -> APIRouter:
    """Return the routes."""
    router = APIRouter(route_class=LeanRoute)
    service = backend.service
    state = Health(backend)

    @router.post("/api/search", tags=["search"], response_model=SearchAnswer, responses=error_responses(*SEARCH_ERRORS))
    async def search(request: Request, body: SearchBody) -> Response:
        """Search the web. 联网搜索。"""
        response = await backend.search(
            request,
            body.query,
            type=body.type,
            engine=body.engine,
            num_results=body.num_results,
            language=body.language,
            region=body.region,
            freshness=body.freshness,
            include_domains=body.include_domains,
            exclude_domains=body.exclude_domains,
            merge=body.merge,
            timeout=body.timeout,
            skip_cache=body.skip_cache,
        )
        return json_answer(response.to_dict())

    @router.get("/api/engines", tags=["operation"], response_model=EnginesAnswer)
    async def engines(request: Request) -> Response:  # noqa: ARG001 - every endpoint takes it
        """Tell how every engine stands. 各搜索引擎的状态。"""
        statuses = await service.status()
        return json_answer({"order": await service.available(), "engines": [_engine(status) for status in statuses]})

    @router.get(
        "/api/health", tags=["operation"], response_model=HealthAnswer, responses={503: {"model": HealthAnswer}}
    )
    async def health(request: Request) -> Response:
        """Tell what works: 503 when no engine can be asked (in Chinese: ?lang=zh). 搜索与对话是否可用。"""
        chinese = request.query_params.get("lang") == "zh"
        # Without any engine for the web, the statutes on this machine may still be searched.
        taking_part = await service.available() or await service.available(SearchType.REGULATION)
        states = {status.name: status for status in await service.status() if status.name in taking_part}
        resting = [status for status in states.values() if status.state == "resting"]
        down = len(resting) == len(states)
        problem = await service.disabled()
        reasons = [problem.message] if problem else [f"{one.name}: {one.reason}" for one in resting]
        fixes = [problem.fix] if problem else [one.fix for one in resting if one.fix]
        database = await state.database_problem()
        if database is not None:
            reasons.append(database.message)
            fixes.append(database.fix)
        data = {
            "status": "down" if down else "degraded" if reasons else "ok",
            "version": __version__,
            "engines": {name: status.state for name, status in states.items()},
            "message": "; ".join(reasons),
            "fix": " ".join(dict.fromkeys(fixes)),
            "findings": await state.findings(chinese=chinese),
        }
        return json_answer(data, HTTPStatus.SERVICE_UNAVAILABLE if down else HTTPStatus.OK)

    @router.get(
        "/metrics",
        tags=["operation"],
        response_class=PlainTextResponse,
        response_description="Counters in Prometheus' text format.",
    )
    async def metrics(request: Request) -> Response:  # noqa: ARG001 - every endpoint takes it
        """Return counters for Prometheus. 监控指标。"""
        return Response(backend.metrics.exposition(), media_type=CONTENT_TYPE)

    async def alive(request: Request) -> Response:  # noqa: ARG001 - every endpoint takes it
        """Tell that the server runs; needs no token and looks at nothing else. 存活检查。"""
        return PlainTextResponse("OK")

    for path in ("/healthz", "/livez"):
        router.get(
            path,
            tags=["operation"],
            response_class=PlainTextResponse,
            openapi_extra={"security": []},
            operation_id=path[1:],
        )(alive)
        router.head(path, include_in_schema=False)(alive)

    @router.head("/readyz", include_in_schema=False)
    @router.get(
        "/readyz",
        tags=["operation"],
        response_model=ReadyAnswer,
        responses={503: {"model": ReadyAnswer}},
        openapi_extra={"security": []},
    )
    async def ready(request: Request) -> Response:  # noqa: ARG001 - every endpoint takes it
        """Tell whether requests may be sent here; needs no token. 就绪检查。"""
        reason = await state.unready()
        status = HTTPStatus.SERVICE_UNAVAILABLE if reason else HTTPStatus.OK
        return json_answer({"status": "unready" if reason else "ready", "reason": reason}, status)

    return router


def _engine(status: EngineStatus) -> dict[str, object]:
    return {key: getattr(status, name) for name, key in _ENGINE_KEYS.items()}

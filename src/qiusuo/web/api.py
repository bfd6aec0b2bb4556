"""The REST endpoints under ``/api``, and those for whoever watches the server: ``/livez``, ``/readyz``."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from fastapi import APIRouter
from pydantic.alias_generators import to_camel
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from qiusuo import __version__
from qiusuo.doctor import Level
from qiusuo.errors import SearchError
from qiusuo.models import SearchType
from qiusuo.service import EngineStatus
from qiusuo.web.backend import Backend
from qiusuo.web.errors import titled
from qiusuo.web.language import PARAMETER, reader_language
from qiusuo.web.route import LeanRoute, json_answer, user_of
from qiusuo.web.schemas import EnginesAnswer, HealthAnswer, ReadyAnswer, SearchAnswer, SearchBody, error_responses
from qiusuo.web.watching.health import Health
from qiusuo.web.watching.metrics import CONTENT_TYPE
from qiusuo.web.watching.outcomes import LastAttempt
from qiusuo.words import Language, said

SEARCH_ERRORS: Final = (400, 429, 502, 503, 504)
_WORDED: Final = frozenset({"fact", "remedy", "title"})
_WITH_SEARCH: Final = {
    "name": "search",
    "in": "query",
    "description": "With `no`, engines that fail are no reason to be unready.",
    "schema": {"type": "string", "enum": ["yes", "no"], "default": "yes"},
}
_ENGINE_KEYS: Final = {name: to_camel(name) for name in EngineStatus.__dataclass_fields__ if name not in _WORDED}
_NO_FACT: Final[Mapping[str, Any]] = {"code": "", "values": {}}
LANGUAGE: Final[dict[str, Any]] = {
    "parameters": [
        {
            "name": PARAMETER,
            "in": "query",
            "description": "Language of the words: `zh`, `zh-Hant`, `en`. Unset: `Accept-Language`, else English.",
            "schema": {"type": "string"},
        }
    ]
}


def api_router(backend: Backend) -> APIRouter:
    """Return the routes."""
    router = APIRouter(route_class=LeanRoute)
    service = backend.service
    state = Health(backend)
    backend.live.on_renewal(state.forget)

    @router.post(
        "/api/search",
        tags=["search"],
        response_model=SearchAnswer,
        responses=error_responses(*SEARCH_ERRORS),
        openapi_extra=LANGUAGE,
    )
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
        language = reader_language(request.scope)
        told = [{**fact.to_dict(), "message": fact.text(language)} for fact in service.rules.warnings(user_of(request))]
        return json_answer({**response.to_dict(language), **({"notices": told} if told else {})}, language=language)

    @router.get("/api/engines", tags=["operation"], response_model=EnginesAnswer, openapi_extra=LANGUAGE)
    async def engines(request: Request) -> Response:
        """Tell how every engine stands. 各搜索引擎的状态。"""
        language = reader_language(request.scope)
        allowed = service.rules.terms(user_of(request)).engines
        statuses = [one for one in await service.status() if allowed is None or one.name in allowed]
        order = [name for name in await service.available() if allowed is None or name in allowed]
        shapes = [engine_shape(status, language) for status in statuses]
        return json_answer({"order": order, "engines": shapes}, language=language)

    @router.get(
        "/api/health",
        tags=["operation"],
        response_model=HealthAnswer,
        responses={503: {"model": HealthAnswer}},
        openapi_extra=LANGUAGE,
    )
    async def health(request: Request) -> Response:
        """Tell what works: 503 when no engine can be asked, or none worked at last. 搜索与对话是否可用。"""
        language = reader_language(request.scope)
        # Where no engine for the web works, the statutes on this machine may still be searched.
        taking_part = {name for kind in SearchType for name in await service.available(kind)}
        states = {status.name: status for status in await service.status() if status.name in taking_part}
        resting = [status for status in states.values() if status.state == "resting"]
        database, webless, findings = await asyncio.gather(
            state.database_problem(), state.webless(), state.findings(language)
        )
        down = len(resting) == len(states) or (webless and await state.searchless())
        problem = await service.disabled()
        problems = [problem] if problem else [_resting(one) for one in resting]
        last = {name: attempt for name in states if (attempt := backend.attempts.of(name))}
        if webless:
            failed = [last[name] for name, one in states.items() if name in last and one.state != "resting"]
            problems += [attempt.problem for attempt in failed if attempt.problem]
        problems += [database] if database else []
        unwell = bool(problems) or any(finding["level"] == Level.PROBLEM.label for finding in findings)
        data = {
            "status": "down" if down else "degraded" if unwell else "ok",
            "version": __version__,
            "engines": {name: _state(status, last.get(name)) for name, status in states.items()},
            "attempts": {name: attempt.to_dict() for name, attempt in last.items()},
            **_told(problems, language),
            "findings": findings,
        }
        return json_answer(data, HTTPStatus.SERVICE_UNAVAILABLE if down else HTTPStatus.OK, language=language)

    @router.get(
        "/metrics",
        tags=["operation"],
        response_class=PlainTextResponse,
        response_description="Counters in Prometheus' text format.",
    )
    async def metrics(request: Request) -> Response:  # noqa: ARG001 - every endpoint takes it
        """Return counters for Prometheus. 监控指标。"""
        return Response(backend.metrics.exposition(await service.allowances()), media_type=CONTENT_TYPE)

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
        openapi_extra={"security": [], "parameters": [_WITH_SEARCH]},
    )
    async def ready(request: Request) -> Response:
        """Tell whether requests may be sent here; needs no token. 就绪检查。"""
        reason = await state.unready(search=request.query_params.get("search") != "no")
        status = HTTPStatus.SERVICE_UNAVAILABLE if reason else HTTPStatus.OK
        return json_answer({"status": "unready" if reason else "ready", "reason": reason}, status)

    return router


def engine_shape(status: EngineStatus, language: Language) -> dict[str, Any]:
    """Return how an engine stands in its JSON shape: facts for programs, and words in a language."""
    words = status.wording(language)
    data: dict[str, Any] = {key: getattr(status, name) for name, key in _ENGINE_KEYS.items()}
    data["label"] = status.called(language)
    return data | {"reason": words.what, "fix": words.fix, **(status.fact.to_dict() if status.fact else _NO_FACT)}


def _state(status: EngineStatus, last: LastAttempt | None) -> str:
    """Return how an engine stands: one that may be asked, but failed at last, is not called ready."""
    return "failed" if status.state == "ready" and last is not None and not last.worked else status.state


def _resting(status: EngineStatus) -> SearchError:
    return SearchError(status.fact or said(""), engine=status.name, fix=status.remedy or "", commands=status.commands)


def _told(problems: Sequence[SearchError], language: Language) -> dict[str, Any]:
    """Return what is wrong and what to do: in one text each, and one by one."""
    words = [problem.wording(language) for problem in problems]
    named = [titled(problem.engine, each.what, language) for problem, each in zip(problems, words, strict=True)]
    return {
        "message": language.between.join(named),
        "fix": language.after_sentence.join(dict.fromkeys(each.fix for each in words if each.fix)),
        "problems": [problem_shape(problem, language) for problem in problems],
    }


def problem_shape(problem: SearchError, language: Language) -> dict[str, Any]:
    """Return what keeps something from working in its JSON shape."""
    words = problem.wording(language)
    return {
        "engine": problem.engine or "",
        **problem.fact.to_dict(),
        "message": words.what,
        "fix": words.fix,
        "commands": list(problem.commands),
    }

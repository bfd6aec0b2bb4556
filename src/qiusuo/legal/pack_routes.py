"""Packs of laws over HTTP, for whoever runs the server: what there is, installing, removing, and how far it is."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from qiusuo.errors import ConfigurationError, InvalidQuery, SearchError
from qiusuo.legal.building.imports import Importer
from qiusuo.legal.building.install import FILE
from qiusuo.legal.building.packs.catalogue import FLK, PACKS, Pack, pack_named
from qiusuo.legal.building.packs.fetching import Fetcher
from qiusuo.legal.building.packs.flk_sync import NATIONAL, FlkSync, Wanted
from qiusuo.legal.building.packs.installing import install_pack, installed, pack_folder, remove_pack
from qiusuo.legal.index.folder import IndexFolder, index_folder
from qiusuo.legal.index.handle import IndexHandle
from qiusuo.legal.pack_terminal import FIRST_DAY
from qiusuo.web.api import LANGUAGE
from qiusuo.web.backend import Backend
from qiusuo.web.errors import Refusal
from qiusuo.web.language import reader_language
from qiusuo.web.route import json_answer
from qiusuo.web.schemas import error_responses
from qiusuo.web.settings.access import operators_route
from qiusuo.words import Fact, Language

logger = logging.getLogger(__name__)

INSTALLING: Final = "installing"
REMOVING: Final = "removing"
FAILED: Final = "failed"
_WHOLE: Final = 100
_NAME: Final = {
    "name": "name", "in": "path", "required": True, "description": "The name of a pack.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 40},
}  # fmt: skip
_ONE_PACK: Final[dict[str, Any]] = {"parameters": [_NAME, *LANGUAGE["parameters"]]}


@dataclass(frozen=True, slots=True)
class Work:
    """What is being done with a pack, or how it failed."""

    pack: str
    state: str
    fact: Fact
    share: float | None = None


class PackWork:
    """Does one piece of work at a time, in a thread of its own that the end of the server does not wait for.

    Killed at any moment, the index that was there goes on serving, and the next try goes on where this one was.
    """

    def __init__(self, folder: IndexFolder) -> None:
        self.folder = folder
        self.last: Work | None = None

    def start(self, pack: Pack, state: str, work: Callable[[Pack], None]) -> None:
        """Begin.

        Raises:
            Refusal: something else is being done.
        """
        if self.last is not None and self.last.state != FAILED:
            raise Refusal(HTTPStatus.CONFLICT, Fact("legal_packs.at_work", name=self.last.pack))
        self.last = Work(pack.name, state, Fact("legal_packs.fetching", name=pack.name))
        threading.Thread(target=self._run, args=(pack, work), name="qiusuo-legal-pack", daemon=True).start()

    def install(self, pack: Pack) -> None:
        """Bring a pack and read it into the index; one that is there is brought up to date."""
        place = pack_folder(self.folder, pack)
        if pack.name == FLK:
            wanted = Wanted(NATIONAL, FIRST_DAY)
            collection = FlkSync(pack, place, "", self._synchronised).run(wanted).collection
        else:
            fetching = Fact("legal_packs.fetching", name=pack.name)
            collection = Fetcher(pack, place, lambda share: self._tell(fetching, share)).bring()
        known = installed(self.folder, pack)
        if known is None or known.revision != collection.revision:
            install_pack(self._importer(pack), pack, collection)

    def remove(self, pack: Pack) -> None:
        """Take a pack out of the index."""
        remove_pack(self._importer(pack), pack)

    def _importer(self, pack: Pack) -> Importer:
        reading = Fact("legal_packs.reading", name=pack.name)
        return Importer(self.folder, lambda step: self._tell(reading, step.share))

    def _synchronised(self, done: int, whole: int, title: str) -> None:
        step = Fact("legal_packs.synchronising", name=FLK, done=done, all=whole, title=title or "…")
        self._tell(step, done / whole if whole else None)

    def _tell(self, fact: Fact, share: float | None) -> None:
        if self.last is not None:
            self.last = replace(self.last, fact=fact, share=share)

    def _run(self, pack: Pack, work: Callable[[Pack], None]) -> None:
        try:
            work(pack)
            self.last = None
        except SearchError as error:
            self.last = Work(pack.name, FAILED, error.told)
        except Exception as fault:  # a fault of ours must be told too, or it would be "installing" for ever
            logger.exception("the pack %s cannot be installed or removed", pack.name)
            self.last = Work(pack.name, FAILED, Fact("legal_packs.fault", name=pack.name, fault=type(fault).__name__))


def pack_router(backend: Backend, handle: IndexHandle) -> APIRouter:
    """Return the routes."""
    router = APIRouter(route_class=operators_route(backend), prefix="/api/legal/packs", tags=["legal"])
    work = PackWork(index_folder(backend.settings.legal_dir))

    async def told(request: Request) -> Response:
        language = reader_language(request.scope)
        packs = await asyncio.to_thread(lambda: [_shape(pack, work, language) for pack in PACKS.values()])
        held = await asyncio.to_thread(_held, handle)
        return json_answer({"packs": packs, "index": held}, language=language)

    @router.get("", openapi_extra=LANGUAGE)
    async def packs(request: Request) -> Response:
        """List the packs of laws, what is installed and what is being done. 法律包列表。"""
        return await told(request)

    @router.post("/{name}", responses=error_responses(400, 409, 415), openapi_extra=_ONE_PACK)
    async def install(request: Request) -> Response:
        """Begin to install a pack, or to bring it up to date. 安装法律包。"""
        work.start(_pack(request), INSTALLING, work.install)
        return await told(request)

    @router.delete("/{name}", responses=error_responses(400, 409, 415), openapi_extra=_ONE_PACK)
    async def remove(request: Request) -> Response:
        """Begin to take a pack out of the index. 移除法律包。"""
        pack = _pack(request)
        if not pack_folder(work.folder, pack).is_dir():
            raise Refusal(HTTPStatus.BAD_REQUEST, Fact("legal_packs.not_installed", name=pack.name))
        work.start(pack, REMOVING, work.remove)
        return await told(request)

    return router


def _held(handle: IndexHandle) -> dict[str, Any] | None:
    """Return how much the index has, and whether the statutes that come with Qiusuo are among it; None without one."""
    try:
        index = handle.get()
    except ConfigurationError:
        return None
    stats = index.store.stats(index.generation)
    statutes = any(Path(source.path).name == FILE and source.done for source in stats.sources)
    return {"laws": stats.laws, "articles": stats.articles, "statutes": statutes}


def _pack(request: Request) -> Pack:
    try:
        return pack_named(request.path_params["name"])
    except InvalidQuery as error:
        raise Refusal(HTTPStatus.BAD_REQUEST, error.fact) from None


def _shape(pack: Pack, work: PackWork, language: Language) -> dict[str, Any]:
    known, last = installed(work.folder, pack), work.last
    mine = last if last is not None and last.pack == pack.name else None
    share = mine.share if mine is not None else None
    return {
        "name": pack.name,
        "what": Fact(f"legal_packs.{pack.name}").text(language),
        "origin": pack.origin,
        "licence": pack.licence.text(language),
        "download_mb": pack.download_mb,
        "index_mb": pack.index_mb,
        "seconds": pack.seconds,
        "installed": {"revision": known.revision, "at": known.installed_at} if known else None,
        "state": mine.state if mine else "installed" if known else "absent",
        "done": None if share is None else round(share * _WHOLE),
        "total": None if share is None else _WHOLE,
        "words": mine.fact.text(language) if mine else "",
    }

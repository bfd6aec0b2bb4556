"""The doctor's look at the legal index."""

from __future__ import annotations

import asyncio

from qiusuo.doctor.context import Examination
from qiusuo.doctor.findings import Finding, Level
from qiusuo.errors import ConfigurationError
from qiusuo.legal.index.encoding import progress_of
from qiusuo.legal.index.folder import index_folder
from qiusuo.legal.index.store import LegalStore


async def check_legal_index(context: Examination) -> list[Finding]:
    """Look whether there is a legal index, and whether this version can read it."""
    folder = index_folder(context.settings.legal_dir, context.environ)
    try:
        generation = folder.current()
        if generation is None:
            return [Finding("legal.none", Level.NOTE, {"path": folder.root}, ("qiusuo legal install",))]
        (await asyncio.to_thread(LegalStore, generation)).close()
    except ConfigurationError as error:
        return [Finding("legal.failed", Level.PROBLEM, {"reason": error.fact}, error.commands)]
    progress = progress_of(generation)
    if progress is not None and context.settings.legal_meaning:
        return [Finding("legal.meaning_pending", Level.NOTE, {"percent": progress.percent})]
    return [Finding("legal.ok", Level.OK, {"path": folder.root})]

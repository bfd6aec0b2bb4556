"""What the workers of one server share."""

from __future__ import annotations

from qiusuo.commands import install_command, install_program
from qiusuo.doctor.context import Examination
from qiusuo.doctor.findings import Finding, Level
from qiusuo.storage.private import PACKAGES, client_is_installed, find_program


async def check_workers(context: Examination) -> list[Finding]:
    """Tell where several workers have nothing in common but the database."""
    settings = context.settings
    if settings.worker_count == 1 or settings.redis_url is not None or settings.private_store is not None:
        return []
    has_client, has_program = client_is_installed(), find_program() is not None
    if has_client and has_program:
        return []
    client = () if has_client else (install_command("qiusuo[redis]"),)
    count = {"count": settings.worker_count}
    if has_program:
        return [Finding("workers.no_client", Level.WARNING, count, client)]
    return [Finding("workers.not_shared", Level.WARNING, count, (*client, *install_program(PACKAGES)))]

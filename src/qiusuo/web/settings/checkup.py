"""What ``qiusuo doctor`` finds, for the page, and its repairs that need no question."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from qiusuo.doctor import Finding, examine, worst_level
from qiusuo.doctor.searxng.fixes import FIXES, file_to_mend, repair
from qiusuo.errors import ConfigurationError
from qiusuo.kit.settings_file import SettingsFileError
from qiusuo.web.backend import Backend
from qiusuo.web.errors import Refusal
from qiusuo.words import Fact, Language


class RepairBody(BaseModel):
    """What is to be mended."""

    model_config = ConfigDict(extra="forbid", strict=True)

    code: str = Field(min_length=1, max_length=100, description="The `code` of a finding with `repair`.")


async def findings_shape(backend: Backend, language: Language) -> dict[str, Any]:
    """Examine the set-up and return what was found."""
    return _shape(await examine(backend.settings, backend.service), language)


async def mend(backend: Backend, code: str, language: Language) -> dict[str, Any]:
    """Make the repair for one finding and examine anew.

    Raises:
        Refusal: nothing of that kind is found, or it cannot be repaired from here.
        ConfigurationError: the file cannot be changed.
    """
    findings = [finding for finding in await examine(backend.settings, backend.service) if finding.code == code]
    file = file_to_mend(findings)
    if code not in FIXES or not findings or file is None or not file.is_file():
        raise Refusal(HTTPStatus.BAD_REQUEST, Fact("web.no_repair", code=code[:60]))
    try:
        await asyncio.to_thread(repair, findings, file)
    except SettingsFileError as error:
        raise ConfigurationError(Fact("web.repair_failed", file=str(file), reason=error.fact)) from None
    return await findings_shape(backend, language)


def _shape(findings: Sequence[Finding], language: Language) -> dict[str, Any]:
    at_hand = file_to_mend(findings) is not None
    return {
        "level": worst_level(findings).label,
        "findings": [
            {**finding.to_dict(language), "repair": at_hand and finding.code in FIXES} for finding in findings
        ],
    }

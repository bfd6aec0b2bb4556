"""What the tests of the doctor share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from qiusuo.config import Settings
from qiusuo.doctor import Finding, Level, examine
from qiusuo.testing import Answer, Provider, Seen


async def diagnose(monkeypatch: pytest.MonkeyPatch, url: str, **options: Any) -> list[Finding]:
    """Examine the set-up in which ``SEARXNG_URL`` is all that is set; keep what is about SearXNG."""
    monkeypatch.setenv("SEARXNG_URL", url)
    settings_file: Path | None = options.pop("settings_file", None)
    quick = options.pop("quick", False)
    found = await examine(Settings.load(**options), quick=quick, settings_file=settings_file)
    return [finding for finding in found if finding.code.startswith(("searxng.", "check.", "clock."))]


def causes(findings: Sequence[Finding]) -> list[str]:
    """Return the codes of what is wrong."""
    return [finding.code for finding in findings if finding.level >= Level.WARNING]


def is_green(findings: Sequence[Finding]) -> bool:
    """Tell whether all is well with a SearXNG that is there."""
    return not causes(findings) and bool({"searxng.ok", "searxng.ready"} & {finding.code for finding in findings})


class Canned(Provider):
    """Answers everything alike."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def authorized(self, seen: Seen) -> bool:  # noqa: ARG002 - anybody
        return True

    def answer(self, seen: Seen) -> Answer:  # noqa: ARG002 - always the same
        return self._answer

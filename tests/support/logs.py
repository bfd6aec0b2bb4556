"""What was logged while a test ran."""

from __future__ import annotations

import pytest

# A browser's driver of an earlier test in this process may be let go of just now.
_OF_ANOTHER_TEST = "the driver"


def errors_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the errors that were logged."""
    errors = [record.getMessage() for record in caplog.records if record.levelname in {"ERROR", "CRITICAL"}]
    return [message for message in errors if _OF_ANOTHER_TEST not in message]

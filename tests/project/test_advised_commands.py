"""No command is printed that no test has run."""

from __future__ import annotations

from pathlib import Path

from tests.project.test_printed_commands import ELSEWHERE, NO_ADVICE, RUN_HERE
from tests.support.printed_commands import printed_commands

ROOT = Path(__file__).parents[2]
HOW = (
    "a command that is printed must be run by a test: write one in tests/project/test_printed_commands.py under "
    "@runs(…) with the command as it stands here; programs that it needs go into TOOLS of tests/support/machine.py"
)


def test_every_command_that_can_be_printed_is_run() -> None:
    printed = printed_commands()
    for template, (file, call) in ELSEWHERE.items():
        assert call in (ROOT / file).read_text(), template
    known = RUN_HERE | set(ELSEWHERE) | NO_ADVICE
    assert {template: file for template, file in printed.items() if template not in known} == {}, HOW
    assert known - set(printed) == set(), "a test runs what nobody prints any more"

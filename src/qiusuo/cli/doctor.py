"""``qiusuo doctor``.

Exit codes: 0 it works, perhaps with warnings, 2 wrong usage, 3 something does not work.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import typer
from rich.console import Console
from rich.markup import escape

from qiusuo.cli.exits import Exit, error_lines, exit_code
from qiusuo.cli.words import Words, words_for_terminal
from qiusuo.commands import typed
from qiusuo.config import Settings
from qiusuo.doctor.findings import Finding, Level, worst_level
from qiusuo.doctor.run import Progress, all_checks, examine
from qiusuo.doctor.searxng.fixes import FIXES, file_to_mend, repair
from qiusuo.errors import SearchError
from qiusuo.kit.settings_file import SettingsFileError
from qiusuo.service import SearchService

_SIGNS: Final = {
    Level.OK: "[green]✓[/]",
    Level.NOTE: "[dim]·[/]",
    Level.WARNING: "[yellow]![/]",
    Level.PROBLEM: "[bold red]✗[/]",
}
_UNTRIED: Final = frozenset({"provider.keyless", "provider.not_probed"})
EXIT_CODES: Final = {Level.OK: 0, Level.NOTE: 0, Level.WARNING: 0, Level.PROBLEM: 3}


def run_doctor(*, as_json: bool, fix: bool, settings_file: Path | None) -> int:
    """Examine, repair if asked to, print, and return the exit code."""
    words = words_for_terminal()
    err = Console(stderr=True, highlight=False, soft_wrap=True)
    if settings_file is not None and not settings_file.is_file():
        err.print(escape(words("no_file", path=settings_file)))
        return Exit.USAGE
    try:
        settings = Settings.load()
        checks = all_checks()
        with err.status(words("examining", names=", ".join(checks))) as status:
            left = dict.fromkeys(checks)

            def ended(name: str) -> None:
                left.pop(name, None)
                status.update(words("examining", names=", ".join(left)))

            findings = asyncio.run(_examined(settings, settings_file, ended))
    except SearchError as error:
        for line in error_lines(error, words):
            err.print(escape(line))
        return exit_code(error)
    if as_json:
        _print_json(findings, words)
    else:
        _print_findings(findings, words)
    code = EXIT_CODES[worst_level(findings)]
    if fix:
        code = _repair(findings, settings_file, err, words) or code
    return code


async def _examined(settings: Settings, settings_file: Path | None, ended: Progress) -> list[Finding]:
    async with SearchService.from_settings(settings) as service:
        # The doctor knows no server. Without the extra there are no routes; wrong tokens have words of their own.
        with suppress(ModuleNotFoundError, SearchError):
            from qiusuo.web.app import try_plugin_routers  # noqa: PLC0415 - an extra

            await try_plugin_routers(service)
        return await examine(settings, service, settings_file=settings_file, progress=ended)


def _repair(findings: Sequence[Finding], named: Path | None, err: Console, words: Words) -> int:
    """Make the safe repairs and say so; return an exit code where that failed."""
    if not any(finding.code in FIXES for finding in findings):
        err.print(escape(words("nothing_to_fix")))
        return Exit.OK
    file = named or file_to_mend(findings) or _asked(words)
    if file is None:
        err.print(escape(words("which_file")))
        return Exit.USAGE
    if not file.is_file():
        err.print(escape(words("no_file", path=file)))
        return Exit.USAGE
    try:
        made = repair(findings, file)
    except SettingsFileError as error:
        err.print(escape(words("bad_file", file=file, reason=error.fact)))
        return Exit.NOT_CONFIGURED
    if made is None:
        err.print(escape(words("nothing_to_fix")))
        return Exit.OK
    err.print(escape(words("fixed", file=made.file, backup=made.backup)))
    mended = (finding for finding in findings if finding.code in made.codes)
    for command in dict.fromkeys(command for finding in mended for command in finding.commands[1:]):
        err.print(f"  [cyan]$ {escape(typed(command))}[/]")
    return Exit.OK


def _asked(words: Words) -> Path | None:
    if not sys.stdin.isatty():
        return None
    return Path(typer.prompt(words("ask_file"))).expanduser()


def _print_json(findings: Sequence[Finding], words: Words) -> None:
    worst = worst_level(findings)
    data = {
        "level": worst.label,
        "exitCode": EXIT_CODES[worst],
        "findings": [finding.to_dict(words.language) for finding in findings],
    }
    sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")


def _print_findings(findings: Sequence[Finding], words: Words) -> None:
    out = Console(highlight=False, soft_wrap=True)
    for finding in sorted(findings, key=lambda finding: finding.level):
        text = finding.wording(words.language)
        out.print(f"{_SIGNS[finding.level]} {escape(text.what)}")
        if finding.level >= Level.NOTE:
            for line in (text.why, text.fix):
                if line:
                    out.print(f"    {escape(line)}", style="dim" if finding.level is Level.NOTE else "")
            for command in finding.commands:
                out.print(f"    [cyan]$ {escape(typed(command))}[/]")
        if finding.level >= Level.WARNING:
            links = " · ".join(filter(None, (finding.guide_in(words.language), finding.link)))
            out.print(f"    [dim]{escape(links)}[/]")
    counts = [sum(finding.level is level for finding in findings) for level in (Level.PROBLEM, Level.WARNING)]
    untried = [finding.values["label"] for finding in findings if finding.code in _UNTRIED]
    if any(counts):
        out.print(escape(words("verdict", problems=counts[0], warnings=counts[1])))
    else:
        out.print(escape(words("all_well_so_far", names=untried) if untried else words("all_well")))

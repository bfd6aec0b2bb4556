"""Whether traces can be sent."""

from __future__ import annotations

from importlib.util import find_spec

from qiusuo.commands import install_command
from qiusuo.doctor.context import Examination
from qiusuo.doctor.findings import Finding, Level


async def check_traces(context: Examination) -> list[Finding]:
    """Tell where a collector is set without what sends traces to it: the server does not start then."""
    if not context.settings.otlp_url or _is_installed():
        return []
    return [Finding("traces.missing", Level.PROBLEM, {}, (install_command("qiusuo[otel]"),))]


def _is_installed() -> bool:
    try:
        return all(find_spec(f"opentelemetry.{part}") for part in ("sdk.trace", "exporter.otlp.proto.http"))
    except ModuleNotFoundError:  # of what they stand in
        return False

"""Traces for OpenTelemetry: a span for each request, with the spans of :mod:`qiusuo.tracing` as its parts.

They say which engine or model was asked, how long it took and how it ended; never what was asked, by whom, or what was
found. Nothing of a trace goes to engines, pages or models: what the collector gets is all.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from qiusuo import __version__
from qiusuo.commands import install_command
from qiusuo.config.server import ServerSettings
from qiusuo.errors import ConfigurationError, SearchError
from qiusuo.tracing import Value, tracer
from qiusuo.words import Fact

if TYPE_CHECKING:
    from opentelemetry.trace import Span as OtelSpan

_PATH: Final = "/v1/traces"
_EXPORT_SECONDS: Final = 3
"""Longer than this neither a batch nor the end of the server waits for the collector."""
_QUIET_SECONDS: Final = 600.0
_EXPORTERS: Final = ("opentelemetry.exporter.otlp.proto.http.trace_exporter", "opentelemetry.exporter.otlp.common.http")
# Names that OpenTelemetry has itself; all others are ours.
_COMMON: Final = {
    "host": "server.address",
    "model": "gen_ai.request.model",
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "method": "http.request.method",
    "route": "http.route",
    "status": "http.response.status_code",
}
_SERVER_FAULT: Final = 500


class TracedSpan:
    """A span on its way to the collector."""

    def __init__(self, span: OtelSpan) -> None:
        self._span = span

    def note(self, **values: Value) -> None:
        """Add facts that are known only now."""
        for name, value in values.items():
            self._span.set_attribute(_COMMON.get(name, f"qiusuo.{name}"), value)

    def fail(self, reason: str) -> None:
        """Mark it as failed."""
        from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415 - an extra

        self._span.set_status(Status(StatusCode.ERROR, reason))

    def answered(self, route: str, method: str, status: int) -> None:
        """Tell what became of a request."""
        self._span.update_name(f"{method} {route}")
        self.note(route=route, method=method, status=status)
        if status >= _SERVER_FAULT:
            self.fail(str(status))


class Tracing:
    """Makes spans and sends them to a collector, in the background. One that is away costs its traces, nothing else."""

    def __init__(self, settings: ServerSettings) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
            from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
            from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
            from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
            from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased  # noqa: PLC0415
        except ModuleNotFoundError:
            raise ConfigurationError(
                Fact("traces.not_installed"), commands=(install_command("qiusuo[otel]"),)
            ) from None
        share = TraceIdRatioBased(settings.trace_share)
        self._provider = TracerProvider(
            # Whoever calls does not decide how many traces are kept.
            sampler=ParentBased(share, remote_parent_sampled=share, remote_parent_not_sampled=share),
            resource=Resource.create({"service.name": "qiusuo", "service.version": __version__}),
            shutdown_on_exit=False,
        )
        headers = settings.otlp_headers.get_secret_value() if settings.otlp_headers else ""
        url = (settings.otlp_url or "").rstrip("/")
        exporter = OTLPSpanExporter(
            endpoint=url if url.endswith(_PATH) else url + _PATH,
            headers=dict(_headers(headers)),
            timeout=_EXPORT_SECONDS,
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("qiusuo", __version__)
        self._seldom = _Seldom()
        self._loggers = [logging.getLogger(name) for name in _EXPORTERS]
        for logger in self._loggers:
            logger.addFilter(self._seldom)

    @contextmanager
    def request(self, headers: Mapping[bytes, bytes]) -> Iterator[TracedSpan]:
        """Begin the span of a request; what happens in it becomes its part. A trace that the caller began goes on."""
        from opentelemetry.trace import SpanKind  # noqa: PLC0415 - an extra
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415

        carrier = {"traceparent": headers.get(b"traceparent", b"").decode("latin-1")}
        before = TraceContextTextMapPropagator().extract(carrier)
        token = tracer.set(self)
        try:
            with self._tracer.start_as_current_span(
                "request",
                context=before,
                kind=SpanKind.SERVER,
                record_exception=False,
                set_status_on_exception=False,
            ) as span:
                yield TracedSpan(span)
        finally:
            tracer.reset(token)

    @contextmanager
    def span(self, name: str, values: dict[str, Value], *, around: bool) -> Iterator[TracedSpan]:
        """Begin a span inside of the present one."""
        from opentelemetry.trace import use_span  # noqa: PLC0415 - an extra

        begun = self._tracer.start_span(name)
        told = TracedSpan(begun)
        told.note(**values)
        try:
            if around:
                with use_span(begun, record_exception=False, set_status_on_exception=False):
                    yield told
            else:
                yield told
        except SearchError as error:
            told.fail(error.outcome.value)
            raise
        except (asyncio.CancelledError, GeneratorExit):
            told.note(cancelled=True)
            raise
        except Exception as error:
            told.fail(type(error).__name__)
            raise
        finally:
            begun.end()

    def ids(self) -> tuple[str, str] | None:
        """Return the ids of the present trace and span."""
        from opentelemetry.trace import get_current_span  # noqa: PLC0415 - an extra

        present = get_current_span().get_span_context()
        return (f"{present.trace_id:032x}", f"{present.span_id:016x}") if present.is_valid else None

    async def aclose(self) -> None:
        """Send what there is, and stop."""
        await asyncio.to_thread(self._provider.shutdown)
        for logger in self._loggers:
            logger.removeFilter(self._seldom)


def _headers(text: str) -> Iterator[tuple[str, str]]:
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, value = part.partition("=")
        yield name.strip(), value.strip()


class _Seldom(logging.Filter):
    """Lets the exporter complain every ten minutes, not for every batch that a collector does not take."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._told: float | None = None

    def filter(self, _record: logging.LogRecord) -> bool:
        now = self._clock()
        if self._told is not None and now - self._told < _QUIET_SECONDS:
            return False
        self._told = now
        return True

"""A collector of OpenTelemetry on loopback: takes traces as OTLP over HTTP, in the form of the real ones."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Told:
    """A span as the collector got it."""

    name: str
    id: str
    parent: str
    trace: str
    status: int
    values: dict[str, Any]


@dataclass
class Collector:
    """Takes traces until it is closed."""

    spans: list[Told] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    resource: dict[str, Any] = field(default_factory=dict)
    raw: bytes = b""

    def __enter__(self) -> Self:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.headers.append({name.lower(): value for name, value in self.headers.items()})
                if self.path == "/v1/traces":
                    collector.take(body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def take(self, body: bytes) -> None:
        self.raw += body
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.resource |= _values(group.resource.attributes)
            for scope in group.scope_spans:
                for span in scope.spans:
                    ids = (span.span_id.hex(), span.parent_span_id.hex(), span.trace_id.hex())
                    self.spans.append(Told(span.name, *ids, span.status.code, _values(span.attributes)))

    def named(self, name: str) -> list[Told]:
        return [span for span in self.spans if span.name == name]

    def one(self, name: str) -> Told:
        [span] = self.named(name)
        return span


def _values(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}

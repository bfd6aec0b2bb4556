"""``GET /metrics``: what happened, for Prometheus. Each app counts in a registry of its own.

The workers of a server count in files of one folder (``prometheus_client`` does so in a process that was started with
PROMETHEUS_MULTIPROC_DIR), which outlive them: any of them tells the sums of all, also of those that are gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from qiusuo.chat.events.observe import Answered, AnswerObserver
from qiusuo.errors import UserRateLimited
from qiusuo.models import Attempt, SearchResponse
from qiusuo.pipeline.observe import Asked, SearchObserver, outcome_of
from qiusuo.service import Allowance

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
_ENGINE: Final = ("engine",)
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
_ANSWER_SECONDS: Final = (0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""Models think for a while, and a research for minutes."""


class Metrics(SearchObserver, AnswerObserver):
    """Counts searches and answers, and the requests of a server; those of all workers in one ``folder``."""

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder
        self._registry = CollectorRegistry()
        made: dict[str, Any] = {"registry": self._registry}
        self._searches = Counter("qiusuo_searches", "Searches by how they ended", ["outcome"], **made)
        self._in_flight = Gauge("qiusuo_searches_in_flight", "Searches under way", multiprocess_mode="livesum", **made)
        self._took = Histogram("qiusuo_search_seconds", "Seconds per search", buckets=_SECONDS, **made)
        self._hits = Counter("qiusuo_cache_hits", "Searches answered from the cache", ["freshness"], **made)
        self._limited = Counter("qiusuo_rate_limited", "Searches refused because of a user's limit", **made)
        self._attempts = Counter(
            "qiusuo_engine_attempts", "Attempts at engines by how they ended", ["engine", "outcome", "skipped"], **made
        )
        self._engine_took = Histogram(
            "qiusuo_engine_seconds", "Seconds per request to an engine", ["engine"], buckets=_SECONDS, **made
        )
        self._answers = Counter("qiusuo_answers", "Answers of the chat by how they ended", ["outcome"], **made)
        self._answering = Gauge("qiusuo_answers_in_flight", "Answers under way", multiprocess_mode="livesum", **made)
        self._answer_took = Histogram("qiusuo_answer_seconds", "Seconds per answer", buckets=_ANSWER_SECONDS, **made)
        self._first_word = Histogram(
            "qiusuo_answer_first_word_seconds",
            "Seconds until an answer's first word",
            buckets=_ANSWER_SECONDS,
            **made,
        )
        self._model_failures = Counter(
            "qiusuo_model_failures", "What went wrong with models, by the code of the notice", ["code"], **made
        )
        self._requests = Counter("qiusuo_http_requests", "HTTP requests", ["route", "method", "status"], **made)
        self._refused = Counter(
            "qiusuo_connections_refused", "Connections that were refused or ended before an answer", ["reason"], **made
        )
        self._wrong_tokens = Counter(
            "qiusuo_wrong_tokens",
            "Requests with a token that is nobody's, and whether they were too many",
            ["limited"],
            **made,
        )

    def search_started(self) -> None:
        self._in_flight.inc()

    def search_ended(self, seconds: float, ended: SearchResponse | BaseException, asked: Asked) -> None:  # noqa: ARG002 - who asks is not counted here
        self._in_flight.dec()
        self._took.observe(seconds)
        self._searches.labels(outcome_of(ended)).inc()
        if isinstance(ended, SearchResponse):
            if ended.cached:
                self._hits.labels("stale" if ended.stale else "fresh").inc()
        elif isinstance(ended, UserRateLimited):
            self._limited.inc()

    def attempt_ended(self, attempt: Attempt) -> None:
        skipped = "true" if attempt.skipped else "false"
        self._attempts.labels(attempt.engine, attempt.outcome.value, skipped).inc()
        if not attempt.skipped:
            self._engine_took.labels(attempt.engine).observe(attempt.ms / 1000)

    def answer_started(self) -> None:
        self._answering.inc()

    def answer_ended(self, answer: Answered) -> None:
        self._answering.dec()
        self._answers.labels(answer.outcome).inc()
        self._answer_took.observe(answer.seconds)
        if answer.first_seconds is not None:
            self._first_word.observe(answer.first_seconds)
        for code in answer.failures:
            self._model_failures.labels(code).inc()

    def request_ended(self, route: str, method: str, status: int) -> None:
        """Count an answered HTTP request; ``route`` is the path as it was declared, not as it was typed."""
        self._requests.labels(route, method, str(status)).inc()

    def connection_refused(self, reason: str) -> None:
        """Count a connection that was refused or ended by the server."""
        self._refused.labels(reason).inc()

    def wrong_token(self, *, limited: bool) -> None:
        """Count a token that is nobody's."""
        self._wrong_tokens.labels("true" if limited else "false").inc()

    def exposition(self, allowances: Iterable[Allowance] = ()) -> bytes:
        """Return everything in Prometheus' text format, with how far engines may be asked now."""
        counted = self._registry
        if self._folder is not None:
            counted = CollectorRegistry()
            MultiProcessCollector(counted, path=self._folder)  # type: ignore[no-untyped-call] # it has no types
        now = CollectorRegistry()
        now.register(_Allowances(allowances))
        return generate_latest(counted) + generate_latest(now)


class _Allowances(Collector):
    """How far engines may be asked at this moment; nothing of it is counted here."""

    def __init__(self, allowances: Iterable[Allowance]) -> None:
        self._allowances = tuple(allowances)

    def collect(self) -> Iterator[Metric]:
        rests = GaugeMetricFamily(
            "qiusuo_engine_rest_seconds", "Seconds for which an engine still rests; 0: it may be asked", labels=_ENGINE
        )
        quota = GaugeMetricFamily(
            "qiusuo_engine_quota", "Searches that an engine may be asked in a month", labels=_ENGINE
        )
        used = GaugeMetricFamily("qiusuo_engine_quota_used", "Searches made this month", labels=_ENGINE)
        for allowance in self._allowances:
            rests.add_metric([allowance.engine], allowance.rest_seconds)
            if allowance.quota is not None:
                quota.add_metric([allowance.engine], allowance.quota)
                used.add_metric([allowance.engine], allowance.quota_used or 0)
        return iter((rests, quota, used))

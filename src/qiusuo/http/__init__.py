"""The wire: the only package that imports the HTTP client, and the one place where its errors are translated."""

from qiusuo.http.api import (
    MAX_BODY_BYTES,
    TOTAL_TIMEOUT,
    Endpoint,
    HttpClient,
    Reply,
    check_base_url,
    parse_retry_after,
)
from qiusuo.http.faults import told

__all__ = [
    "MAX_BODY_BYTES",
    "TOTAL_TIMEOUT",
    "Endpoint",
    "HttpClient",
    "Reply",
    "check_base_url",
    "parse_retry_after",
    "told",
]

"""The settings of the HTTP server; :class:`qiusuo.config.Settings` takes them in."""

from __future__ import annotations

import os
import re
from ipaddress import ip_address, ip_network
from typing import Annotated, Any, Final, Literal, NamedTuple, Self

from pydantic import BaseModel, Field, PrivateAttr, SecretStr, ValidationInfo, field_validator
from pydantic_settings import NoDecode

from qiusuo.validation import refused
from qiusuo.words import Fact

# name:token, or a token without a colon; of what a client can send in a header.
_TOKEN = re.compile(r"[^\s:,]+:[\x21-\x2b\x2d-\x7e]+|[\x21-\x2b\x2d-\x39\x3b-\x7e]+")

_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/?#@*,]+")

_ROOT_PATH = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+")
OWN_PATHS: Final = frozenset(
    {
        "api", "autocompleter", "board", "config", "docs", "healthz", "livez", "manifest.webmanifest", "mcp",
        "metrics", "offline.js", "openapi.json", "opensearch.xml", "page",
        "readyz", "search", "settings", "share", "signin", "signout", "tavily", "usage", "v1",
    }
)  # fmt: skip
"""With what the server's own paths begin."""

SHORTEST_TOKEN = 16
"""Characters. Of random ones these can never be guessed, however fast somebody tries."""

THIS_MACHINE = "local"
"""Owns what is asked on this machine where there are no tokens."""


UNIX_SOCKET: Final = "unix"
"""Among trusted proxies: whoever may open the server's Unix socket."""

OPERATOR: Final = "operator"
METRICS: Final = "metrics"
"""The role of a token that opens ``/metrics`` and nothing else."""
_ROLES: Final = frozenset({OPERATOR, METRICS, "user"})


AUTO: Final = "auto"
MOST_WORKERS: Final = 64


class TokenEntry(NamedTuple):
    """One entry of ``tokens``: ``name:token``, ``name:token:role``, or a token alone."""

    name: str
    token: str
    role: str = ""

    @classmethod
    def read(cls, text: str) -> TokenEntry:
        """Take an entry apart; a token may have colons, unless a role stands behind it."""
        name, colon, token = text.partition(":")
        if not colon:
            return cls("", text)
        inner, colon, role = token.rpartition(":")
        return cls(name, inner, role) if colon and role in _ROLES else cls(name, token)


class ServerSettings(BaseModel):
    """Where ``qiusuo serve`` listens, and who may use it."""

    host: str = Field("127.0.0.1", min_length=1, description="Address on which `qiusuo serve` listens.")
    port: int = Field(8000, ge=0, le=65535, description="Port on which `qiusuo serve` listens; 0 takes a free one.")
    uds: str | None = Field(
        None,
        min_length=1,
        description="Path of a Unix socket on which `qiusuo serve` listens in the place of address and port.",
    )
    uds_mode: str = Field(
        "0660", pattern="^0?[0-7]{3}$", description="Who may open the Unix socket, as the mode of a file."
    )
    tls_cert: str | None = Field(
        None,
        min_length=1,
        description="File with the certificate (PEM, with its chain) by which `qiusuo serve` speaks HTTPS itself.",
    )
    tls_key: str | None = Field(
        None, min_length=1, description="File with the certificate's key. Unset: it stands in the same file."
    )
    workers: Annotated[int, Field(ge=1, le=MOST_WORKERS)] | Literal["auto"] = Field(
        1,
        description="How many processes answer side by side in one `qiusuo serve`; `auto`: one for each core that it "
        "may use. Above 1 they share cache, limits and quotas over `QIUSUO_REDIS_URL`, else over a Redis or Valkey of "
        "their own, where one is installed.",
    )
    root_path: str = Field(
        "",
        description="Path under which a proxy shows the server, such as `/qiusuo`; the proxy may take it off or not.",
    )
    tokens: Annotated[tuple[SecretStr, ...], NoDecode] | None = Field(
        None,
        description="Bearer tokens, as `name:token`, `name:token:operator` (see `operators`), "
        "`name:token:metrics` (opens `/metrics` alone) or bare, of 16 characters or more; `qiusuo token` makes one. "
        "When set, every endpoint but the pages, `/livez`, `/readyz` and `/healthz` wants one, and searches are "
        "limited per name, not per client address.",
    )
    operators: Annotated[tuple[str, ...], NoDecode] | None = Field(
        None,
        description="Names of people who run the server: the page lets them change settings and shows them the "
        "commands that mend it. Names of tokens, or those that a trusted proxy gives; of people who sign in by OpenID "
        "Connect the verified e-mail address or `sub`. Where nobody needs to be known, that is who sits at this "
        "machine.",
    )
    allow_open: bool = Field(False, description="Listen on other addresses than loopback even without tokens.")
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] | None = Field(
        None,
        description="Host names by which the server may be called besides localhost, for instance behind a proxy. "
        "Unset: none while it listens on loopback, any otherwise.",
    )
    allowed_origins: Annotated[tuple[str, ...], NoDecode] | None = Field(
        None,
        description="Origins of web pages and desktop programs that may call the server from a browser, such as "
        "`https://app.example` or `app://obsidian.md`; `*` for any, where tokens are set.",
    )
    sharing: bool = Field(
        False,
        description="Let people share a conversation, as it stands, by a link that opens without a token: `on` or "
        "`off`. Off, no link can be made, and those that there are do not open.",
    )
    log: Literal["text", "json"] = Field(
        "text", description="How `qiusuo serve` and `qiusuo mcp` log: lines of text, or one JSON object per line."
    )
    log_queries: bool = Field(
        False, description="Log also what people search for and what providers say. Unset: codes and values of ours."
    )
    otlp_url: str | None = Field(
        None,
        pattern="^https?://[^\\s]+$",
        description="Address of an OpenTelemetry collector (OTLP over HTTP), such as `http://127.0.0.1:4318`: a trace "
        "of each request is sent there. Unset: none.",
    )
    otlp_headers: SecretStr | None = Field(
        None, description="Headers that the collector wants, as `name=value`, separated by commas."
    )
    trace_share: float = Field(1.0, ge=0, le=1, description="Which part of the requests is traced: 0.01 is one in 100.")
    max_connections: int = Field(
        4096,
        ge=1,
        description="Connections of clients at once; fewer where the limit of open files is lower. When all are taken, "
        "the one that has kept the server waiting for a whole request longest makes room for a new one.",
    )
    max_connections_per_address: int = Field(
        1024,
        ge=1,
        description="Connections of one address at once (of an IPv6 network of /64). Behind a proxy that is not among "
        "`trusted_proxies` everybody has the proxy's address.",
    )
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] | None = Field(
        None,
        description="Proxies whose `X-Forwarded-For`, `-Proto`, `-Host` or `Forwarded` is believed: addresses, "
        "networks such as `10.0.0.0/8`, and `unix` for who calls by a Unix socket. Limits, logs and who is on this "
        "machine then go by the person behind the proxy. It must set these headers itself. Unset: nobody is believed.",
    )

    _private_store: str | None = PrivateAttr(None)

    @property
    def private_store(self) -> str | None:
        """Address of the store that the workers of this server share where no Redis is set."""
        return self._private_store

    def with_store(self, address: str | None) -> Self:
        """Share over a store of the server's own from now on."""
        self._private_store = address
        return self

    @property
    def worker_count(self) -> int:
        """How many workers there are to be."""
        return _usable_cores() if self.workers == AUTO else int(self.workers)

    @field_validator("workers", mode="before")
    @classmethod
    def _check_workers(cls, value: Any) -> Any:
        text = str(value).strip().lower()
        if text == AUTO:
            return AUTO
        if isinstance(value, bool) or not text.isdecimal() or not 1 <= int(text) <= MOST_WORKERS:
            raise refused(Fact("settings.workers_form", most=MOST_WORKERS))
        return int(text)

    @field_validator("tokens", "operators", "allowed_hosts", "allowed_origins", "trusted_proxies", mode="before")
    @classmethod
    def _split_list(cls, value: Any) -> Any:
        if isinstance(value, SecretStr):
            value = value.get_secret_value()
        elif isinstance(value, int):  # what pydantic-settings makes of a variable that has nothing but digits
            value = str(value)
        parts = re.split("[,，]", value) if isinstance(value, str) else value
        if not isinstance(parts, list | tuple):
            return parts
        kept = [part.strip() if isinstance(part, str) else part for part in parts]
        return tuple(part for part in kept if part != "") or None

    @field_validator("tokens")
    @classmethod
    def _check_tokens(cls, value: tuple[SecretStr, ...] | None) -> tuple[SecretStr, ...] | None:
        if not all(_TOKEN.fullmatch(token.get_secret_value()) for token in value or ()):
            raise refused(Fact("settings.token_form"))
        entries = [TokenEntry.read(token.get_secret_value()) for token in value or ()]
        if any(entry.role and ":" in entry.token for entry in entries):
            raise refused(Fact("settings.token_role"))
        if any(len(entry.token) < SHORTEST_TOKEN for entry in entries):
            raise refused(Fact("settings.token_short", shortest=SHORTEST_TOKEN))
        if any(entry.name == THIS_MACHINE or is_loopback(entry.name) for entry in entries if entry.name):
            raise refused(Fact("settings.token_name", local=THIS_MACHINE))
        return value

    @field_validator("allowed_origins")
    @classmethod
    def _check_origins(cls, value: tuple[str, ...] | None, info: ValidationInfo) -> tuple[str, ...] | None:
        origins = tuple(origin.rstrip("/").lower() for origin in value or ())
        for origin in origins:
            if origin == "*" and not info.data.get("tokens"):
                raise refused(Fact("settings.any_origin"))
            if origin != "*" and not _ORIGIN.fullmatch(origin):
                raise refused(Fact("settings.origin_form", origin=origin[:100]))
        return origins or None

    @field_validator("root_path")
    @classmethod
    def _check_root_path(cls, value: str) -> str:
        path = value.rstrip("/")
        # A path of our own could not be told from the prefix before it.
        if path and (not _ROOT_PATH.fullmatch(path) or path.split("/")[1] in OWN_PATHS):
            raise refused(Fact("settings.root_path_form"))
        return path

    @field_validator("trusted_proxies")
    @classmethod
    def _check_proxies(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for entry in value or ():
            try:
                known = entry == UNIX_SOCKET or ip_network(entry).prefixlen > 0  # else everybody would be trusted
            except ValueError:
                known = False
            if not known:
                raise refused(Fact("settings.proxy_form", entry=entry[:100]))
        return value

    @field_validator("allowed_hosts")
    @classmethod
    def _lower_hosts(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return tuple(host_key(name) for name in value) if value else None


def _usable_cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # Linux has it; a container may be given a part of the machine
    return min(len(affinity(0)) if affinity else os.cpu_count() or 1, MOST_WORKERS)


def host_key(host: str) -> str:
    """Return a host in the form in which hosts are compared: lower case, no brackets, no dot at its end."""
    return host.strip("[]").rstrip(".").lower()


def is_loopback(host: str) -> bool:
    """Tell whether a host that somebody wrote stands for this machine alone."""
    try:
        return ip_address(host_key(host)).is_loopback
    except ValueError:
        return host_key(host) == "localhost"

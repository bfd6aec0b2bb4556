"""An issuer of OpenID Connect on loopback, such as a Keycloak: it speaks real HTTP, signs, and can misbehave."""

from __future__ import annotations

import base64
import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

CLIENT_ID, CLIENT_SECRET = "qiusuo", "s3cret/with+signs and blanks"
_SIGNING = [rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2)]


@dataclass
class Code:
    """A code that was given out."""

    asked: Mapping[str, str]
    person: str


@dataclass
class IssuerDouble:
    """Knows people by name; each has claims. The other fields make it misbehave."""

    people: dict[str, dict[str, Any]] = field(default_factory=dict)
    path: str = "/realms/main"
    claims: Callable[[dict[str, Any]], dict[str, Any]] = lambda claims: claims
    """Changes what is signed."""
    sign: Callable[[IssuerDouble, dict[str, Any]], str] | None = None
    discovery: Callable[[dict[str, Any]], Any] = lambda said: said
    answers: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    """What is said at an address in the place of the truth."""
    silent: set[str] = field(default_factory=set)
    seen: list[str] = field(default_factory=list)
    key: int = 0
    userinfo: Callable[[dict[str, Any]], dict[str, Any]] = lambda claims: claims
    in_id_token: frozenset[str] | None = None
    """Claims that stand in the ID token; the others only the userinfo tells."""

    def __post_init__(self) -> None:
        self.codes: dict[str, Code] = {}
        self.access: dict[str, str] = {}
        self.ended: list[dict[str, str]] = []
        self._released = threading.Event()
        handler = type("Handler", (_Handler,), {"issuer": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return self.root + self.path

    @property
    def settings(self) -> dict[str, Any]:
        return {"oidc_issuer": self.url, "oidc_client_id": CLIENT_ID, "oidc_client_secret": CLIENT_SECRET}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()

    def rotate(self) -> None:
        """Sign with another key, and forget the first one."""
        self.key = 1 - self.key

    @property
    def kid(self) -> str:
        return f"key-{self.key}"

    def public_key(self) -> dict[str, Any]:
        found: dict[str, Any] = RSAAlgorithm.to_jwk(_SIGNING[self.key].public_key(), as_dict=True)
        return {**found, "kid": self.kid, "use": "sig", "alg": "RS256"}

    def public_pem(self) -> bytes:
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return _SIGNING[self.key].public_key().public_bytes(serialization.Encoding.PEM, form)

    def signed(self, claims: dict[str, Any], *, key: int | None = None) -> str:
        signing = _SIGNING[self.key if key is None else key]
        return jwt.encode(claims, signing, algorithm="RS256", headers={"kid": self.kid})

    def wait_in_silence(self) -> None:
        self._released.wait(30)

    # What is said at each address.

    def well_known(self) -> Any:
        base = f"{self.url}/protocol/openid-connect"
        return self.discovery(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{base}/auth",
                "token_endpoint": f"{base}/token",
                "userinfo_endpoint": f"{base}/userinfo",
                "jwks_uri": f"{base}/certs",
                "end_session_endpoint": f"{base}/logout",
                "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
            }
        )

    def authorized(self, asked: Mapping[str, str], person: str) -> str:
        """Give out a code; return the address to which the browser is sent."""
        code = secrets.token_urlsafe(16)
        self.codes[code] = Code(asked, person)
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state'], 'iss': self.url})}"

    def tokens(self, form: Mapping[str, str], login: str) -> tuple[int, Any]:
        given = (
            ":".join(map(unquote, login.split(":", 1)))
            if login
            else f"{form.get('client_id')}:{form.get('client_secret')}"
        )
        if given != f"{CLIENT_ID}:{CLIENT_SECRET}":
            return 401, {"error": "unauthorized_client", "error_description": "Invalid client credentials"}
        code = self.codes.pop(form.get("code", ""), None)
        if code is None:
            return 400, {"error": "invalid_grant", "error_description": "Code not valid"}
        challenge = base64.urlsafe_b64encode(sha256(form.get("code_verifier", "").encode()).digest()).rstrip(b"=")
        if code.asked.get("code_challenge_method") != "S256" or challenge.decode() != code.asked.get("code_challenge"):
            return 400, {"error": "invalid_grant", "error_description": "PKCE verification failed"}
        if form.get("redirect_uri") != code.asked["redirect_uri"]:
            return 400, {"error": "invalid_grant", "error_description": "Incorrect redirect_uri"}
        now = int(time.time())
        about = {"sub": f"sub-{code.person}", **self.people[code.person]}
        kept = (
            about
            if self.in_id_token is None
            else {k: v for k, v in about.items() if k in self.in_id_token or k == "sub"}
        )
        claims = self.claims(
            {
                "iss": self.url,
                "aud": CLIENT_ID,
                "iat": now,
                "exp": now + 300,
                "nonce": code.asked.get("nonce"),
                **kept,
            }
        )
        access = secrets.token_urlsafe(16)
        self.access[access] = code.person
        made = self.sign(self, claims) if self.sign else self.signed(claims)
        return 200, {"access_token": access, "token_type": "Bearer", "expires_in": 300, "id_token": made}


class _Handler(BaseHTTPRequestHandler):
    issuer: IssuerDouble
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer("")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode())

    def log_message(self, *_args: object) -> None:
        pass

    def _answer(self, body: str) -> None:
        issuer, parts = self.issuer, urlsplit(self.path)
        name = parts.path.removeprefix(issuer.path).rpartition("/")[2]
        issuer.seen.append(name)
        if name in issuer.silent:
            issuer.wait_in_silence()
            self.close_connection = True
            return
        if name in issuer.answers:
            self._send(*issuer.answers[name])
            return
        self._tell(
            name, {key: values[-1] for key, values in parse_qs(parts.query, keep_blank_values=True).items()}, body
        )

    def _tell(self, name: str, query: dict[str, str], body: str) -> None:
        issuer = self.issuer
        form = {key: values[-1] for key, values in parse_qs(body, keep_blank_values=True).items()}
        match name:
            case "openid-configuration":
                self._json(200, issuer.well_known())
            case "certs":
                self._json(200, {"keys": [issuer.public_key()]})
            case "auth" if "person" in query:
                self._redirect(issuer.authorized(query, query["person"]))
            case "auth":
                links = "".join(
                    f'<p><a href="?{escape(urlencode({**query, "person": person}))}">{escape(person)}</a></p>'
                    for person in issuer.people
                )
                self._send(
                    200, f"<!doctype html><title>Sign in</title><h1>Who are you?</h1>{links}".encode(), "text/html"
                )
            case "token":
                scheme, _, given = self.headers.get("Authorization", "").partition(" ")
                login = base64.b64decode(given).decode() if scheme == "Basic" else ""
                self._json(*issuer.tokens(form, login))
            case "userinfo":
                person = issuer.access.get(self.headers.get("Authorization", "").removeprefix("Bearer "))
                if person is None:
                    self._json(401, {"error": "invalid_token"})
                else:
                    self._json(200, issuer.userinfo({"sub": f"sub-{person}", **issuer.people[person]}))
            case "logout":
                issuer.ended.append(query)
                self._redirect(query.get("post_logout_redirect_uri", issuer.root))
            case _:
                self._json(404, {"error": "not_found"})

    def _json(self, status: int, data: Any) -> None:
        self._send(status, json.dumps(data).encode())

    def _redirect(self, to: str) -> None:
        self.send_response(302)
        self.send_header("Location", to)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

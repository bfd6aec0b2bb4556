"""A real nginx and a real Caddy before a server, set up as docs/deployment.md says, or by nginx's defaults."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme

from tests.support.documents import ROOT

NAME = "ask.example.com"
with_nginx = pytest.mark.skipif(
    shutil.which("nginx") is None, reason="NO NGINX, NOT TESTED: it is not installed (Debian: apt-get install nginx)"
)
with_caddy = pytest.mark.skipif(
    shutil.which("caddy") is None, reason="NO CADDY, NOT TESTED: it is not installed (Debian: apt-get install caddy)"
)
_NGINX = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr warn;
events {{ worker_connections 256; }}
http {{
    gzip on; access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    {server}
}}
"""
_DEFAULTS = "server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass {upstream}; }} }}"
_CADDY = """{{
    admin off
    auto_https disable_redirects
    storage file_system {folder}
}}
{site}
"""


def documented(language: str, guide: str = "deployment.md", *, several: bool = False) -> str:
    """Return the piece of the guide in the language of a proxy, before one server or ``several``."""
    text = (ROOT / "docs" / guide).read_text(encoding="utf-8")
    pieces: list[str] = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    [found] = [piece for piece in pieces if piece.startswith("upstream ") is several]
    return found


@contextmanager
def nginx_by_default(folder: Path, upstream: str) -> Iterator[str]:
    """Run an nginx that is told nothing but where to pass requests on; give its address."""
    port = _free_port()
    with _nginx(folder, _DEFAULTS.format(port=port, upstream=upstream), port):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def nginx_under(prefix: str, folder: Path, upstream: str, *, strips: bool) -> Iterator[str]:
    """Run nginx with the server below a path, which it takes off or not; give the address with the path."""
    port = _free_port()
    to = f"{upstream}/" if strips else upstream
    below = f"server {{ listen 127.0.0.1:{port}; location {prefix}/ {{ proxy_pass {to}; }} }}"
    with _nginx(folder, below, port):
        yield f"http://127.0.0.1:{port}{prefix}"


@contextmanager
def nginx_with_passwords(folder: Path, upstream: str, **passwords: str) -> Iterator[str]:
    """Run nginx that asks for passwords itself, and names people to the server as docs/sign-in.md says."""
    port = _free_port()
    kept = folder / "passwords"
    kept.write_text("".join(f"{name}:{{PLAIN}}{word}\n" for name, word in passwords.items()), encoding="utf-8")
    location = documented("nginx", "sign-in.md").replace("/etc/nginx/qiusuo.htpasswd", str(kept))
    location = location.replace("http://127.0.0.1:8000", upstream)
    with _nginx(folder, f"server {{ listen 127.0.0.1:{port}; {location} }}", port):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def nginx(folder: Path, upstream: str, ca: trustme.CA, other: str | None = None) -> Iterator[str]:
    """Run nginx as the guide says, before one server or before two."""
    port = _free_port()
    certificate, key = _certificate(folder, ca)
    server = documented("nginx", several=other is not None).replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl")
    server = server.replace("/etc/ssl/ask.example.com.pem", certificate).replace("/etc/ssl/ask.example.com.key", key)
    places = {"http://127.0.0.1:8000": upstream, "10.0.0.11:8000": upstream, "10.0.0.12:8000": other or ""}
    for written, real in places.items():
        server = server.replace(written, real if written.startswith("http") else real.removeprefix("http://"))
    with _nginx(folder, server, port):
        yield f"https://127.0.0.1:{port}"


@contextmanager
def caddy(folder: Path, upstream: str, ca: trustme.CA) -> Iterator[str]:
    """Run Caddy as the guide says; only the certificate is ours."""
    port = _free_port()
    certificate, key = _certificate(folder, ca)
    site = documented("caddy").replace(f"{NAME} {{", f"https://{NAME}:{port} {{\n\ttls {certificate} {key}")
    file = folder / "Caddyfile"
    file.write_text(_CADDY.format(folder=folder, site=site.replace("127.0.0.1:8000", upstream)), encoding="utf-8")
    with _running(["caddy", "run", "--config", str(file), "--adapter", "caddyfile"], port):
        yield f"https://127.0.0.1:{port}"


def _certificate(folder: Path, ca: trustme.CA) -> tuple[str, str]:
    made = ca.issue_cert(NAME, "127.0.0.1")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(b"".join(part.bytes() for part in made.cert_chain_pems))
    made.private_key_pem.write_to_path(str(key))
    return str(certificate), str(key)


@contextmanager
def _nginx(folder: Path, server: str, port: int) -> Iterator[None]:
    file = folder / "nginx.conf"
    file.write_text(_NGINX.format(folder=folder, server=server), encoding="utf-8")
    with _running(["nginx", "-p", str(folder), "-e", "stderr", "-c", str(file)], port):
        yield


@contextmanager
def _running(command: list[str], port: int) -> Iterator[None]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:  # noqa: S603 - ours
        try:
            deadline = time.monotonic() + 20
            while not _listens(port):
                if process.poll() is not None or time.monotonic() > deadline:
                    process.kill()
                    pytest.fail(f"{command[0]} did not start: {process.communicate()[0][-2000:]!r}")
                time.sleep(0.02)
            yield
        finally:
            process.kill()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

"""``qiusuo serve`` on a Unix socket, and with a certificate of its own."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat
from cryptography.hazmat.primitives.serialization import load_pem_private_key as load_key

from qiusuo.cli.exits import Exit
from qiusuo.cli.serving.command import listen, run_serve
from qiusuo.cli.serving.listening import tls_context
from qiusuo.config import Settings
from qiusuo.errors import ConfigurationError

pytestmark = [pytest.mark.programs, pytest.mark.skipif(os.name == "nt", reason="sockets and signals are as on POSIX")]

ANN = "203.0.113.7"


@contextmanager
def serving(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the command; give the process and the first line it prints."""
    with subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-W", "error::ResourceWarning", "-m", "qiusuo", "serve", *arguments],
        env={**os.environ, "QIUSUO_LANG": "en", "SEARXNG_URL": "http://127.0.0.1:9", **environment},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            yield process, process.stderr.readline()
        finally:
            process.kill()


def calling(path: Path) -> httpx.Client:
    transport = httpx.HTTPTransport(uds=str(path), retries=3)
    return httpx.Client(base_url="http://localhost", transport=transport, trust_env=False, timeout=20)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# Hands over a socket as systemd does: as number 3, to the process that is named.
_AS_SYSTEMD = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.executable, [sys.executable, "-m", "qiusuo", "serve"])
"""


class TestGivenSocket:
    def test_one_of_systemd_is_served(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            number, port = listener.fileno(), listener.getsockname()[1]
            with subprocess.Popen(  # noqa: S603 - our own command
                [sys.executable, "-c", _AS_SYSTEMD, str(number)],
                env={
                    **os.environ,
                    "QIUSUO_LANG": "en",
                    "SEARXNG_URL": "http://127.0.0.1:9",
                    "QIUSUO_UDS": "/elsewhere",
                },
                stderr=subprocess.PIPE,
                text=True,
                pass_fds=(number,),
            ) as process:
                try:
                    assert process.stderr is not None
                    assert f"http://127.0.0.1:{port} " in process.stderr.readline()
                    found = httpx.get(f"http://127.0.0.1:{port}/livez", trust_env=False, timeout=30)
                    assert found.status_code == 200
                finally:
                    process.kill()

    def test_what_is_no_listening_socket(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        with (tmp_path / "file").open("w") as file, socket.socket() as closed:
            for number in (file.fileno(), closed.fileno(), 9999):
                code = run_serve(host=None, port=None, allow_open=False, access_log=False, fd=number)
                assert code == Exit.NOT_CONFIGURED
                assert f"File descriptor {number} is no socket" in capsys.readouterr().err

    def test_one_that_everybody_reaches_wants_tokens(self, capsys: pytest.CaptureFixture[str]) -> None:
        with socket.create_server(("0.0.0.0", 0)) as listener:  # noqa: S104 - nobody is answered
            given = os.dup(listener.fileno())
            code = run_serve(host=None, port=None, allow_open=False, access_log=False, fd=given)
            assert code == Exit.NOT_CONFIGURED
        assert "QIUSUO_TOKENS" in capsys.readouterr().err


class TestUnixSocket:
    def test_it_is_served_and_goes_away_with_the_server(self, tmp_path: Path) -> None:
        path = tmp_path / "qiusuo.sock"
        options = ("--uds", str(path), "--access-log")
        with serving(*options, QIUSUO_TRUSTED_PROXIES="unix") as (process, line):
            assert f"unix:{path}" in line
            assert mode_of(path) == 0o660
            with calling(path) as client:
                assert client.get("/livez").status_code == 200
                said = {"X-Forwarded-For": f"192.0.2.1, {ANN}", "X-Forwarded-Proto": "https"}
                assert 'template="https://localhost/?q=' in client.get("/opensearch.xml", headers=said).text
                operator = client.get("/api/chat/config", headers={"X-Forwarded-For": "127.0.0.1"}).json()["operator"]
                assert operator, "a proxy of this machine brings somebody of this machine"
                assert not client.get("/api/chat/config").json()["operator"]
            process.send_signal(signal.SIGTERM)
            process.wait(15)
            assert process.stderr is not None
            log = process.stderr.read()
        assert not path.exists()
        assert f'{ANN}:0 - "GET /opensearch.xml HTTP/1.1" 200' in log
        assert "ERROR" not in log

    def test_its_headers_change_nothing_where_it_is_not_trusted(self, tmp_path: Path) -> None:
        path = tmp_path / "qiusuo.sock"
        with serving("--uds", str(path), QIUSUO_UDS_MODE="0600"), calling(path) as client:
            assert mode_of(path) == 0o600
            said = {"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "https"}
            assert 'template="http://localhost/?q=' in client.get("/opensearch.xml", headers=said).text
            assert not client.get("/api/chat/config", headers=said).json()["operator"]

    def test_a_file_that_a_dead_server_has_left_is_replaced(self, tmp_path: Path) -> None:
        path = tmp_path / "qiusuo.sock"
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(path))
        with listen(Settings.load(uds=str(path))), socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))

    def test_a_living_server_keeps_its_file(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "qiusuo.sock"
        settings = Settings.load(uds=str(path))
        with listen(settings), socket.socket(socket.AF_UNIX) as client:
            with pytest.raises(ConfigurationError) as told:
                listen(settings)
            assert told.value.fact.code == "cli.socket_in_use"
            client.connect(str(path))
            code = run_serve(host=None, port=None, allow_open=False, access_log=False, uds=str(path))
            assert code == Exit.NOT_CONFIGURED
            assert str(path) in capsys.readouterr().err
            assert path.is_socket()

    def test_what_cannot_be_listened_on_is_told_and_left_alone(self, tmp_path: Path) -> None:
        file = tmp_path / "notes.txt"
        file.write_text("mine")
        wrong = {
            file: "cli.socket_no_socket",
            tmp_path / "nowhere" / "q.sock": "cli.socket_failed",
            tmp_path / ("long" * 40): "cli.socket_failed",
        }
        for path, code in wrong.items():
            with pytest.raises(ConfigurationError) as told:
                listen(Settings.load(uds=str(path)))
            assert told.value.fact.code == code
        assert file.read_text() == "mine"
        with pytest.raises(ConfigurationError, match="uds_mode"):
            Settings.load(uds_mode="rw")


class Pair:
    """A certificate and its key as files."""

    def __init__(self, folder: Path, ca: trustme.CA, name: str = "one", not_after: datetime | None = None) -> None:
        made = ca.issue_cert("localhost", "127.0.0.1", not_after=not_after)
        self.certificate, self.key = folder / f"{name}.pem", folder / f"{name}.key"
        self.certificate.write_bytes(b"".join(part.bytes() for part in made.cert_chain_pems))
        made.private_key_pem.write_to_path(str(self.key))
        self.both = folder / f"{name}-both.pem"
        made.private_key_and_cert_chain_pem.write_to_path(str(self.both))


@pytest.fixture(scope="module")
def ca() -> trustme.CA:
    return trustme.CA()


class TestTls:
    def test_the_server_speaks_it_from_1_2_on(self, tmp_path: Path, ca: trustme.CA) -> None:
        pair = Pair(tmp_path, ca)
        files = ("--tls-cert", str(pair.certificate), "--tls-key", str(pair.key))
        with serving("--port", "0", *files) as (process, line):
            url = httpx.URL(line.split()[3])
            assert url.scheme == "https"
            trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            ca.configure_trust(trusting)
            with httpx.Client(base_url=url, verify=trusting, trust_env=False, timeout=20) as client:
                assert f'template="{str(url).rstrip("/")}/?q=' in client.get("/opensearch.xml").text
                assert client.get("/api/chat/config").json()["operator"]
            for version, taken in ((ssl.TLSVersion.TLSv1_1, False), (ssl.TLSVersion.TLSv1_2, True)):
                old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                ca.configure_trust(old)
                old.set_ciphers("ALL:@SECLEVEL=0")
                with pytest.warns(DeprecationWarning, match="TLSv1_1") if not taken else _quietly():
                    old.minimum_version = old.maximum_version = version
                assert _shakes_hands(old, url.port or 0) is taken
            process.send_signal(signal.SIGTERM)
            process.wait(15)

    def test_a_renewed_certificate_is_shown_after_sighup(self, tmp_path: Path, ca: trustme.CA) -> None:
        pair, other, kind = Pair(tmp_path, ca), trustme.CA(), trustme.KeyType.RSA
        files = ("--tls-cert", str(pair.certificate), "--tls-key", str(pair.key))
        with serving("--port", "0", *files) as (process, line):
            port = httpx.URL(line.split()[3]).port or 0
            _wait_until(lambda: _shakes_hands(_trusting(ca), port))
            # One that does not fit changes nothing, and that is told.
            other.issue_cert("localhost").private_key_pem.write_to_path(str(pair.key))
            process.send_signal(signal.SIGHUP)
            assert process.stderr is not None
            while str(pair.key) not in process.stderr.readline():
                assert process.poll() is None
            assert _shakes_hands(_trusting(ca), port)
            # A key of another kind takes the place of the old one as well.
            made = other.issue_cert("localhost", key_type=kind)
            pair.certificate.write_bytes(b"".join(part.bytes() for part in made.cert_chain_pems))
            made.private_key_pem.write_to_path(str(pair.key))
            process.send_signal(signal.SIGHUP)
            _wait_until(lambda: _shakes_hands(_trusting(other), port))
            assert not _shakes_hands(_trusting(ca), port)

    def test_one_file_may_hold_both(self, tmp_path: Path, ca: trustme.CA) -> None:
        context = tls_context(Settings.load(tls_cert=str(Pair(tmp_path, ca).both)))
        assert context is not None
        assert context.minimum_version == ssl.TLSVersion.TLSv1_2
        assert tls_context(Settings.load()) is None

    def test_what_is_wrong_is_told(self, tmp_path: Path, ca: trustme.CA, capsys: pytest.CaptureFixture[str]) -> None:
        one, two = Pair(tmp_path, ca), Pair(tmp_path, ca, "two")
        old = Pair(tmp_path, ca, "old", datetime.now(UTC) - timedelta(days=1))
        garbage, locked = tmp_path / "garbage.pem", tmp_path / "locked.key"
        garbage.write_text("nothing")
        secret = load_key(one.key.read_bytes(), None)
        kind = PrivateFormat.TraditionalOpenSSL
        locked.write_bytes(secret.private_bytes(Encoding.PEM, kind, BestAvailableEncryption(b"hush")))
        wrong: list[tuple[Path | None, Path | None, str]] = [
            (tmp_path / "none.pem", one.key, "cli.tls_unreadable"),
            (one.certificate, tmp_path / "none.key", "cli.tls_unreadable"),
            (tmp_path, one.key, "cli.tls_unreadable"),
            (None, one.key, "cli.tls_no_certificate"),
            (one.certificate, two.key, "cli.tls_mismatch"),
            (garbage, one.key, "cli.tls_invalid"),
            (one.certificate, garbage, "cli.tls_invalid"),
            (one.certificate, locked, "cli.tls_invalid"),
            (one.certificate, None, "cli.tls_invalid"),
            (old.certificate, old.key, "cli.tls_expired"),
        ]
        for certificate, key, code in wrong:
            given = {"tls_cert": certificate and str(certificate), "tls_key": key and str(key)}
            with pytest.raises(ConfigurationError) as told:
                tls_context(Settings.load(**given))
            assert told.value.fact.code == code
        files: dict[str, Any] = {"tls_cert": str(one.certificate), "tls_key": str(two.key)}
        assert run_serve(host=None, port=0, allow_open=False, access_log=False, **files) == Exit.NOT_CONFIGURED
        assert str(two.key) in capsys.readouterr().err


def _trusting(ca: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ca.configure_trust(context)
    return context


def _wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@contextmanager
def _quietly() -> Iterator[None]:
    yield


def _shakes_hands(context: ssl.SSLContext, port: int) -> bool:
    try:
        with (
            socket.create_connection(("127.0.0.1", port), timeout=10) as raw,
            context.wrap_socket(raw, server_hostname="localhost"),
        ):
            return True
    except ssl.SSLError:
        return False

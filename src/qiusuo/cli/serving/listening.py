"""A Unix socket to listen on, and the certificate of ``qiusuo serve``."""

from __future__ import annotations

import errno
import os
import socket
import ssl
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from qiusuo.config.server import ServerSettings
from qiusuo.errors import ConfigurationError
from qiusuo.words import Fact

_ALPN: Final = "http/1.1"
_FIRST_GIVEN: Final = 3  # SD_LISTEN_FDS_START
_FAMILIES: Final = frozenset({socket.AF_INET, socket.AF_INET6, getattr(socket, "AF_UNIX", socket.AF_INET)})
_NO_PASSWORD: Final = "-"  # noqa: S105 - of nobody's key
_EXPIRED, _NOT_YET_VALID = 10, 9  # X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID
_FLIGHTS: Final = 6
"""How often the two sides of a handshake take turns; three times is enough."""


def listen_on_unix(path: Path, mode: int, backlog: int) -> socket.socket:
    """Return a socket that listens on a path, in the place of one that a dead server has left there.

    Raises:
        ConfigurationError: the path is another server's, is no socket, or cannot be written.
    """
    if os.name != "posix":
        raise _socket_problem(path, OSError(errno.EAFNOSUPPORT, os.strerror(errno.EAFNOSUPPORT)))
    _make_way(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # From its first moment on nobody else may open it.
    before = os.umask(0o777 & ~mode)
    try:
        listener.bind(str(path))
        path.chmod(mode)
        listener.listen(backlog)
    except OSError as error:
        listener.close()
        raise _socket_problem(path, error) from None
    finally:
        os.umask(before)
    return listener


def number_of_given_socket(environ: Mapping[str, str] = os.environ) -> int | None:
    """Return the number of the socket that systemd has opened for this very process, if it has."""
    for_us = environ.get("LISTEN_PID") == str(os.getpid())
    return _FIRST_GIVEN if for_us and environ.get("LISTEN_FDS", "0") not in {"", "0"} else None


def given_socket(number: int) -> socket.socket:
    """Return a socket that was opened by whoever has started this program.

    Raises:
        ConfigurationError: it is none that listens for connections.
    """
    try:
        listener = socket.socket(fileno=number)
    except (OSError, ValueError):
        raise ConfigurationError(Fact("cli.no_given_socket", number=number)) from None
    is_stream = listener.type == socket.SOCK_STREAM and listener.family in _FAMILIES
    if not is_stream or not listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        listener.detach()  # it is somebody else's
        raise ConfigurationError(Fact("cli.no_given_socket", number=number))
    return listener


def place_of(listener: socket.socket) -> dict[str, str | int | None]:
    """Return where a socket listens, as settings that win over others."""
    name = listener.getsockname()
    if listener.family in {socket.AF_INET, socket.AF_INET6}:
        return {"host": str(name[0]), "port": int(name[1]), "uds": None}
    return {"uds": os.fsdecode(name) or "-"}


def remover_of(path: Path) -> Callable[[], None]:
    """Return what takes a socket's file away, unless another server has put its own there meanwhile."""
    made = path.lstat()

    def remove() -> None:
        with suppress(OSError):
            now = path.lstat()
            if (now.st_dev, now.st_ino) == (made.st_dev, made.st_ino):
                path.unlink()

    return remove


def tls_context(settings: ServerSettings) -> ssl.SSLContext | None:
    """Return what the server shows its certificate with; None where it has none.

    Raises:
        ConfigurationError: certificate or key is missing, cannot be read, does not fit, or is not valid now.
    """
    if settings.tls_cert is None:
        if settings.tls_key is not None:
            raise ConfigurationError(Fact("cli.tls_no_certificate"))
        return None
    certificate = Path(settings.tls_cert).expanduser()
    key = Path(settings.tls_key).expanduser() if settings.tls_key is not None else certificate
    for file in (certificate, key):
        try:
            file.read_bytes()
        except OSError as error:
            raise ConfigurationError(Fact("cli.tls_unreadable", file=str(file), words=error.strerror or "")) from None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols([_ALPN])
    try:
        # Without a password of ours OpenSSL would ask for one at the terminal.
        context.load_cert_chain(certificate, key, password=_NO_PASSWORD)
    except ssl.SSLError as error:
        files = {"certificate": str(certificate), "key": str(key)}
        if error.reason == "KEY_VALUES_MISMATCH":
            raise ConfigurationError(Fact("cli.tls_mismatch", **files)) from None
        raise ConfigurationError(Fact("cli.tls_invalid", **files, words=error.reason or str(error))) from None
    match _verify_code(context, certificate):
        case code if code == _EXPIRED:
            raise ConfigurationError(Fact("cli.tls_expired", certificate=str(certificate)))
        case code if code == _NOT_YET_VALID:
            raise ConfigurationError(Fact("cli.tls_not_yet_valid", certificate=str(certificate)))
    return context


def show_from_now_on(shown: ssl.SSLContext, renewed: ssl.SSLContext) -> None:
    """Show a renewed certificate to everybody who comes from now on, by the context that the server listens with.

    Loaded into that context, a new one of another kind (EC instead of RSA) would stand beside the old one.
    """

    def choose(connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        connection.context = renewed

    shown.sni_callback = choose  # called for clients too that name no host


def _verify_code(context: ssl.SSLContext, certificate: Path) -> int:
    """Shake hands with a client that knows this very certificate; return what OpenSSL finds wrong with it, 0: nothing.

    The standard library has no other way to see until when a certificate is valid.
    """
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname = False
    trusting.load_verify_locations(certificate)
    trusting.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    client, server = trusting.wrap_bio(down, up), context.wrap_bio(up, down, server_side=True)
    for _ in range(_FLIGHTS):
        for side in (client, server):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLCertVerificationError as error:
                return error.verify_code
            except ssl.SSLError:
                return 0  # what else may be wrong, a client is told
    return 0


def _make_way(path: Path) -> None:
    if not os.path.lexists(path):
        return
    if not _is_socket(path):
        raise ConfigurationError(Fact("cli.socket_no_socket", path=str(path)))
    if _is_alive(path):
        raise ConfigurationError(Fact("cli.socket_in_use", path=str(path)))
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise _socket_problem(path, error) from None


def _is_socket(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(path.lstat().st_mode)
    except OSError:
        return False


def _is_alive(path: Path) -> bool:
    """Tell whether somebody listens there; who may not be asked is taken to be alive."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(path))
        except OSError as error:
            return error.errno not in {errno.ECONNREFUSED, errno.ENOENT}
        return True


def _socket_problem(path: Path, error: OSError) -> ConfigurationError:
    return ConfigurationError(Fact("cli.socket_failed", path=str(path), words=error.strerror or str(error)))

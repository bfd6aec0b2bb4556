"""Why a connection failed, as a fact: told by the kind and the number of an error, never by its words."""

from __future__ import annotations

import errno
import os
import re
import socket
from typing import Final

import aiohttp

from qiusuo.text import clean, truncate
from qiusuo.words import Fact

# The second and third are Windows' own.
_REFUSED: Final = frozenset({errno.ECONNREFUSED, 1225, 10061})
_NO_ROUTE: Final = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, 10050, 10051, 10065})
_CLOSED: Final = frozenset({errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED, 10053, 10054})
# Several addresses (IPv4 and IPv6) failed in different ways: their numbers stand in the joined text only.
_NUMBER: Final = re.compile(r"\[(?:Errno|WinError) (\d+)\]")


def connection_code(error: OSError) -> str:
    """Return the code of an error of the operating system in making a connection."""
    if isinstance(error, socket.gaierror):
        return "http.dns"
    numbers = {error.errno} if error.errno else {int(number) for number in _NUMBER.findall(str(error))}
    if isinstance(error, ConnectionRefusedError) or numbers & _REFUSED:
        return "http.refused"
    return "http.no_route" if numbers & _NO_ROUTE else "http.connect_failed"


def connection_fact(error: aiohttp.ClientConnectorError, host: str) -> Fact:
    """Return why no connection came about; what the system says of it is its own words."""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return Fact("http.dns", host=host)
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return Fact("http.tls", host=host, words=truncate(clean(str(error)), 300))
    proxy = isinstance(error, aiohttp.ClientProxyConnectionError)
    code = "http.proxy_failed" if proxy else connection_code(error.os_error)
    return Fact(code, host=host, words=words_of(error.os_error))


def words_of(error: OSError) -> str:
    """Return what the system says of an error; not the error's own text, which may name addresses."""
    return os.strerror(error.errno) if error.errno else type(error).__name__


def is_closed(error: Exception) -> bool:
    """Tell whether the other side closed a connection that was there."""
    if isinstance(error, aiohttp.ServerDisconnectedError | ConnectionResetError):
        return True
    return isinstance(error, OSError) and error.errno in _CLOSED


def told(words: str) -> Fact:
    """Return the end of a sentence: somebody's own words behind a colon, or a full stop where there are none."""
    return Fact("http.said", words=words) if words else Fact("http.stop")

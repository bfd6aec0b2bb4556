"""PostgreSQL has programs of its own for backups; this says how they are called."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlencode

from qiusuo.chat.stores.opening import Address
from qiusuo.errors import ConfigurationError
from qiusuo.words import Fact

TABLES: Final = "qiusuo_*"
_SECRETS: Final = frozenset({"password", "sslpassword"})


def login_of(address: Address) -> str:
    """Return an address with the user, and without any password."""
    scheme, _, rest = address.dsn.partition("://")
    rest, _, options = rest.partition("?")
    login, at, place = rest.rpartition("@")
    kept = [(name, value) for name, value in parse_qsl(options, keep_blank_values=True) if name not in _SECRETS]
    more = f"?{urlencode(kept, safe='/')}" if kept else ""
    return f"{scheme}://{login.partition(':')[0]}{at}{place}{more}"


def dump_command(address: Address, file: Path) -> str:
    """Return the command that saves our tables; it asks for the password, or takes it from PGPASSWORD or ~/.pgpass."""
    return shlex.join(
        [
            "pg_dump",
            "--format=custom",
            "--no-owner",
            f"--table={TABLES}",
            f"--file={file}",
            f"--dbname={login_of(address)}",
        ]
    )


def restore_command(address: Address, file: Path) -> str:
    """Return the command that brings them back, in the place of those that are there, or not at all."""
    return shlex.join(
        [
            "pg_restore",
            "--clean",
            "--if-exists",
            "--no-owner",
            "--single-transaction",
            f"--dbname={login_of(address)}",
            str(file),
        ]
    )


def refusal(address: Address, file: Path, *, restoring: bool) -> ConfigurationError:
    """Return the error that tells which command to use instead."""
    if restoring:
        return ConfigurationError(Fact("data.restore_postgres"), commands=[restore_command(address, file)])
    return ConfigurationError(Fact("data.back_up_postgres"), commands=[dump_command(address, file)])

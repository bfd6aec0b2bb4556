"""Opening the store of conversations: which database, and whether what it needs is installed.

Nothing here loads SQLAlchemy before :func:`open_store` is called.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from qiusuo.commands import install_command
from qiusuo.errors import ConfigurationError
from qiusuo.folders import data_folder
from qiusuo.words import Fact

if TYPE_CHECKING:
    from qiusuo.chat.sessions.limits import StoreLimits
    from qiusuo.chat.stores.sql import SqlSessionStore
    from qiusuo.config.model import ModelSettings

FILE_NAME: Final = "chat.db"
MEMORY: Final = ":memory:"

_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]{0,30}")
_HOST: Final = r"(?:[\w.-]*|\[[0-9A-Fa-f:.]*\])(?::\d*)?"
# Login, hosts, name, options. What does not fit has characters in its password that must be escaped; taking it apart in
# another way would show a part of that password as a host.
_POSTGRES: Final = re.compile(rf"(?:[^/?#]*@)?({_HOST}(?:,{_HOST})*)(/[^?#@]*)?(\?[^#@]*)?")
_PARTS: Final = {
    "sqlite": ("chat", ("sqlalchemy", "greenlet")),
    "postgresql": ("postgres", ("sqlalchemy", "greenlet", "asyncpg")),
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where the conversations are: PostgreSQL by its ``dsn``, a SQLite file, or with neither memory alone.

    ``shown`` is for messages: it never has the password.
    """

    kind: str
    shown: str
    path: Path | None = None
    dsn: str = field(default="", repr=False)

    @classmethod
    def read(cls, url: str | None, environ: Mapping[str, str] = os.environ) -> Address:
        """Understand an address as people write it; None means ``chat.db`` in the user's data folder.

        Raises:
            ConfigurationError: it is none, or of a database that is not supported.
        """
        url = (url or "").strip()
        if not url:
            return cls._file(data_folder(environ) / FILE_NAME)
        if url == MEMORY:
            return cls("sqlite", MEMORY)
        scheme, _, rest = url.partition("://")
        match scheme.lower() if rest or url.endswith("://") else "":
            case "sqlite" | "sqlite+aiosqlite":
                return cls._sqlite(rest)
            case "postgresql" | "postgres" | "postgresql+asyncpg" | "postgres+asyncpg":
                return cls._postgres(rest)
            case known if _SCHEME.fullmatch(known):
                raise ConfigurationError(Fact("store.scheme", scheme=known))
            case _:
                # Not its words: who forgot the scheme may have written the password first.
                raise ConfigurationError(Fact("store.no_address"))

    @classmethod
    def _file(cls, path: Path) -> Address:
        return cls("sqlite", str(path), path=path)

    @classmethod
    def _sqlite(cls, rest: str) -> Address:
        if rest.removeprefix("/") in {"", MEMORY}:
            return cls("sqlite", MEMORY)
        if not rest.startswith("/") or "?" in rest or "\0" in rest:
            raise ConfigurationError(Fact("store.no_sqlite_address"))
        try:
            return cls._file(Path(rest.removeprefix("/")).expanduser())
        except RuntimeError:  # ~somebody who is not there
            raise ConfigurationError(Fact("store.no_home")) from None

    @classmethod
    def _postgres(cls, rest: str) -> Address:
        found = _POSTGRES.fullmatch(rest)
        if found is None:
            raise ConfigurationError(Fact("store.no_postgres_address"))
        # asyncpg gets the address as it is: it understands all of libpq's options (sslmode, several hosts, sockets).
        return cls("postgresql", f"postgresql://{found[1]}{found[2] or ''}", dsn=f"postgresql://{rest}")


def open_store(
    url: str | None = None,
    *,
    clock: Callable[[], float] = time.time,
    limits: StoreLimits | None = None,
    environ: Mapping[str, str] = os.environ,
) -> SqlSessionStore:
    """Return the store of conversations. Nothing is read, written or connected before its first use.

    Args:
        url: ``postgresql://…``, ``sqlite:///…`` or ``:memory:`` (gone with the event loop that used it); None is the
            file ``chat.db`` in the user's data folder.
        clock: Seconds since 1970, the same on all servers that share a database.
        limits: How many conversations of one owner are kept, and how many turns of each.
        environ: Where the user's data folder is looked up.

    Raises:
        ConfigurationError: the address cannot be used, or its driver is not installed.
    """
    address = Address.read(url, environ)
    extra, modules = _PARTS[address.kind]
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise ConfigurationError(
            Fact("store.packages_missing", packages=missing, extra=extra),
            commands=[install_command(f"qiusuo[{extra}]")],
            place=address.shown,
        )
    from qiusuo.chat.sessions.limits import StoreLimits  # noqa: PLC0415 - the same
    from qiusuo.chat.stores.database.connections import Database  # noqa: PLC0415 - loads SQLAlchemy
    from qiusuo.chat.stores.presence import Presence  # noqa: PLC0415 - needed with the next ones only
    from qiusuo.chat.stores.sql import SqlSessionStore  # noqa: PLC0415 - the same

    presence = Presence(servers_folder(address, environ))
    return SqlSessionStore(Database(address), presence, clock=clock, limits=limits or StoreLimits())


def store_limits(settings: ModelSettings) -> StoreLimits:
    """Return how much is kept, as the settings say."""
    from qiusuo.chat.sessions.limits import StoreLimits  # noqa: PLC0415 - as above

    oldest = settings.when_full == "delete_oldest"
    return StoreLimits(
        settings.max_conversations,
        settings.max_turns,
        settings.max_files,
        settings.max_file_chars,
        oldest_make_room=oldest,
    )


def servers_folder(address: Address, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return where the processes that use a database show that they run; None for one in memory."""
    if address.kind == "postgresql":
        return data_folder(environ) / "servers" / sha256(address.shown.encode()).hexdigest()[:16]
    # Beside the file: whoever shares it, from another container too, shares its folder.
    return address.path.with_name(f"{address.path.name}-servers") if address.path else None

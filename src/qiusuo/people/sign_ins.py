"""Who has signed in, in the database of conversations: every server that shares it knows them.

Of what a browser holds only a digest is kept, so nobody can come in by what stands in the database.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, TypeVar

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    delete,
    func,
    insert,
    select,
    update,
)

from qiusuo.chat.stores.database.connections import Database, Work
from qiusuo.chat.stores.database.schema import MAX_ID
from qiusuo.errors import Unavailable
from qiusuo.people.openid.claims import Identity

T = TypeVar("T")

MOST_OF_ONE: Final = 20
"""Sign-ins of one person at once; the oldest makes room."""
MOST: Final = 100_000
NOTED_SECONDS: Final = 60
"""So exactly it is known when somebody was last seen: to write it at each request would cost more than it tells."""
_KEPT_TOKEN: Final = 8 * 1024
_HOUR: Final = 3600
# Any number, as long as it stays the same: who creates the tables, or gives names, holds it.
_LOCK: Final = 7_117_051_972

metadata: Final = MetaData()

people: Final = Table(
    "qiusuo_sign_in_people",
    metadata,
    Column("issuer", String(MAX_ID), primary_key=True),
    Column("subject", String(MAX_ID), primary_key=True),
    Column("name", String(MAX_ID), nullable=False, info={"owner": True}),
    Column("since", BigInteger, nullable=False),
    UniqueConstraint("name"),
)
sign_ins: Final = Table(
    "qiusuo_sign_ins",
    metadata,
    Column("id", String(64), primary_key=True, info={"secret": True}),
    Column("issuer", String(MAX_ID), nullable=False),
    Column("subject", String(MAX_ID), nullable=False),
    Column("name", String(MAX_ID), nullable=False, info={"owner": True}),
    Column("email", String(MAX_ID), nullable=False),
    Column("groups", Text, nullable=False),
    Column("began", BigInteger, nullable=False),
    Column("seen", BigInteger, nullable=False),
    # Told to the issuer when somebody signs out, which then need not ask who it is.
    Column("id_token", Text, nullable=False, info={"secret": True}),
    Index("qiusuo_sign_ins_of_one", "issuer", "subject"),
    Index("qiusuo_sign_ins_in_time", "began"),
)


@dataclass(frozen=True, slots=True)
class SignIn:
    """One browser in which somebody has signed in."""

    identity: Identity
    began: int
    id_token: str = ""


class SignIns:
    """Begins, finds and ends sign-ins. ``hours`` and ``idle_hours`` are their ends; an idle one of 0 is none."""

    def __init__(
        self, database: Database, *, hours: float, idle_hours: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._longest = int(hours * _HOUR)
        self._idle = int(idle_hours * _HOUR)
        self._clock = clock
        self._ready = False

    @property
    def seconds(self) -> int:
        """How long a sign-in lasts at most."""
        return self._longest

    async def begin(self, identity: Identity, id_token: str, *, reserved: Collection[str] = ()) -> str:
        """Note a sign-in; return the secret by which it is found again.

        A person keeps the name of the first sign-in. Where it is another's, or ``reserved``, it gets an ending.

        Raises:
            SearchError: the database cannot be used.
        """
        secret, now = secrets.token_urlsafe(32), int(self._clock())
        mine = (sign_ins.c.issuer == identity.issuer) & (sign_ins.c.subject == identity.subject)
        row = {
            "id": _digest(secret),
            "issuer": identity.issuer,
            "subject": identity.subject,
            "email": identity.email,
            "groups": json.dumps(identity.groups),
            "began": now,
            "seen": now,
            "id_token": id_token if len(id_token) <= _KEPT_TOKEN else "",
        }

        def work(connection: Connection) -> None:
            _lock(connection)
            connection.execute(delete(sign_ins).where(self._over(now)))
            for among, most in ((mine, MOST_OF_ONE), (sign_ins.c.id.is_not(None), MOST)):
                newest = select(sign_ins.c.id).where(among).order_by(sign_ins.c.began.desc(), sign_ins.c.id)
                surplus = list(connection.scalars(newest.offset(most - 1)))
                if surplus:
                    connection.execute(delete(sign_ins).where(sign_ins.c.id.in_(surplus)))
            name = _name_for(connection, identity, reserved, now)
            connection.execute(insert(sign_ins), {**row, "name": name})

        await self._run(work, write=True)
        return secret

    async def find(self, secret: str) -> SignIn | None:
        """Return a sign-in that has not ended, and note that it was used.

        Raises:
            SearchError: the database cannot be used.
        """
        now, this = int(self._clock()), sign_ins.c.id == _digest(secret)

        def read(connection: Connection) -> Any:
            return connection.execute(select(sign_ins).where(this, ~self._over(now))).first()

        def note(connection: Connection) -> None:
            connection.execute(update(sign_ins).where(this).values(seen=now))

        row = await self._run(read)
        if row is None:
            return None
        if now - row.seen >= NOTED_SECONDS:
            await self._run(note, write=True)
        return _sign_in(row)

    async def end(self, secret: str, *, everywhere: bool = False) -> SignIn | None:
        """End a sign-in, or all of the same person; return what it was.

        Raises:
            SearchError: the database cannot be used.
        """
        this = sign_ins.c.id == _digest(secret)

        def work(connection: Connection) -> Any:
            row = connection.execute(select(sign_ins).where(this)).first()
            if row is not None and everywhere:
                same = (sign_ins.c.issuer == row.issuer) & (sign_ins.c.subject == row.subject)
                connection.execute(delete(sign_ins).where(same))
            connection.execute(delete(sign_ins).where(this))
            return row

        row = await self._run(work, write=True)
        return None if row is None else _sign_in(row)

    def _over(self, now: int) -> Any:
        ended = sign_ins.c.began <= now - self._longest
        return ended | (sign_ins.c.seen <= now - self._idle) if self._idle else ended

    async def _run(self, work: Work[T], *, write: bool = False) -> T:
        if not self._ready:
            await self._database.run(_create_tables, write=True)
            self._ready = True
        try:
            return await self._database.run(work, write=write)
        except Unavailable as error:
            if error.fact.code == "store.tables_gone":  # another database was put in the place
                self._ready = False
            raise


def _name_for(connection: Connection, identity: Identity, reserved: Collection[str], now: int) -> str:
    key = {"issuer": identity.issuer, "subject": identity.subject}
    mine = (people.c.issuer == identity.issuer) & (people.c.subject == identity.subject)
    known = connection.scalar(select(people.c.name).where(mine))
    if known is not None:
        return str(known)
    taken = connection.scalar(select(func.count()).select_from(people).where(people.c.name == identity.name))
    name = identity.name
    if taken or name in reserved:
        name = f"{name}-{_digest(f'{identity.issuer} {identity.subject}')[:8]}"
    connection.execute(insert(people), {**key, "name": name, "since": now})
    return name


def _sign_in(row: Any) -> SignIn:
    groups = tuple(str(each) for each in json.loads(row.groups))
    return SignIn(Identity(row.issuer, row.subject, row.name, row.email, groups), int(row.began), row.id_token)


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "replace")).hexdigest()


def _create_tables(connection: Connection) -> None:
    _lock(connection)
    metadata.create_all(connection)


def _lock(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))

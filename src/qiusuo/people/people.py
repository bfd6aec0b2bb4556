"""The people of a running server: whose token it is, and what they may still use.

Everybody is kept in memory and read again when a look at the database, every other second, shows a change. So a token
that was made, changed or revoked on any server is so on all of them within ``FRESH_SECONDS``; where the database cannot
be looked at for longer than ``LONGEST_SECONDS``, nobody comes in with a token of it.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from qiusuo.chat.events.observe import Answered, AnswerObserver
from qiusuo.errors import BudgetUsedUp, SearchError, Unavailable
from qiusuo.people.budgets import Budgets, month_of, next_month
from qiusuo.people.members import Member, Used, digest_of, mark_of
from qiusuo.people.person import Allowance, Person, Role
from qiusuo.people.store import PeopleStore
from qiusuo.pipeline.rules import EVERYTHING, Rules, Terms
from qiusuo.words import Fact

logger = logging.getLogger(__name__)

FRESH_SECONDS: Final = 2.0
LONGEST_SECONDS: Final = 5.0
PATIENCE_SECONDS: Final = 1.5
"""So long a request waits for the database to say who calls."""
WRITE_SECONDS: Final = 1.0
TIDY_SECONDS: Final = 6 * 3600.0
SOFT_PERCENT: Final = 80
MOST_GUESTS: Final = 10_000


class People(Rules, AnswerObserver):
    """Those who have a token of the database, and others for whom something is set (``welcome``)."""

    def __init__(
        self, store: PeopleStore, *, clock: Callable[[], float] = time.time, timer: Callable[[], float] = time.monotonic
    ) -> None:
        self.store = store
        self.budgets = Budgets(store, clock)
        self._clock = clock
        self._timer = timer
        self._members: Mapping[str, Member] = {}
        self._by_mark: Mapping[str, Member] = {}
        self._number: int | None = None
        self._looked = -LONGEST_SECONDS * 2
        self._failed = -FRESH_SECONDS
        self._looking = asyncio.Lock()
        # Who came in another way, the one who did so longest ago first.
        self._guests: OrderedDict[str, Person] = OrderedDict()
        self._task: asyncio.Task[None] | None = None

    # Who comes in
    @property
    def known(self) -> bool:
        """Whether the database was ever read."""
        return self._number is not None

    def any(self) -> bool:
        """Tell whether anybody has a token, as of the last look; one that has ended counts: nothing opens by itself."""
        return bool(self._members)

    def operators(self) -> set[str]:
        """Return the names of those who run the server with a token of the database."""
        return {each.name for each in self._live() if each.grant.role is Role.OPERATOR}

    def holder(self, token: str) -> Person | None:
        """Return whose token it is, as of the last look; None: nobody's."""
        mark = mark_of(token)
        member = self._by_mark.get(mark) if mark else None
        if member is None or not hmac.compare_digest(member.digest, digest_of(token)):
            return None
        if not member.is_live(self._clock()):
            return None
        self.budgets.seen(member.mark)
        return member.person

    async def look(self) -> None:
        """See to it that what is known is not older than it may be.

        Raises:
            SearchError: the database cannot be read.
        """
        age = self._timer() - self._looked
        if age < FRESH_SECONDS:
            return
        if self._timer() - self._failed >= FRESH_SECONDS:  # else it was just tried
            try:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await self.look_now(FRESH_SECONDS)
            except (SearchError, TimeoutError) as error:
                self._failed = self._timer()
                logger.warning("people cannot be looked up: %s", str(error) or "the database does not answer")
            else:
                return
        if age > LONGEST_SECONDS:
            raise Unavailable(Fact("people.unknown"), retry_after=FRESH_SECONDS, place="people")

    async def look_now(self, not_older: float = 0.0) -> None:
        """Look whether something has changed, unless somebody has just done so.

        Raises:
            SearchError: the database cannot be read.
        """
        async with self._looking:
            now = self._timer()
            if now - self._looked < not_older:
                return
            if not self.store.is_there:
                if self._members:  # somebody has taken it away
                    raise Unavailable(Fact("people.unknown"), place="people")
                self._number, self._looked = self._number or 0, now
                return
            number, members, _ = await self.budgets.reading(self._number)
            if members is not None:
                self._members, self._by_mark = members, {each.mark: each for each in members.values()}
            self._number, self._looked = number, now

    def welcome(self, person: Person) -> None:
        """Remember what is set for somebody who came in another way than with a token of the database."""
        if person.allowance == Allowance():
            self._guests.pop(person.name, None)
            return
        self._guests[person.name] = person
        self._guests.move_to_end(person.name)
        if len(self._guests) > MOST_GUESTS:
            self._guests.popitem(last=False)

    # What they may do
    def allowance(self, user: str | None) -> Allowance | None:
        """Return what is set for somebody; None: nothing ever was."""
        member = self._members.get(user or "")
        if member is not None:
            return member.grant.allowance
        guest = self._guests.get(user or "")
        return guest.allowance if guest else None

    def used(self, user: str | None) -> Used:
        """Return what somebody has used in this month, as far as is known here."""
        return self.budgets.of(user or "")

    def terms(self, user: str | None) -> Terms:
        found = self.allowance(user)
        return EVERYTHING if found is None else Terms(found.per_minute, found.engines, found.models)

    def check_searches(self, user: str | None) -> None:
        found = self.allowance(user)
        if found is not None and found.searches is not None:
            self._check(self.used(user).searches, found.searches, "people.searches_used")

    def check_tokens(self, user: str | None) -> None:
        found = self.allowance(user)
        if found is not None and found.tokens is not None:
            self._check(self.used(user).tokens, found.tokens, "people.tokens_used")

    def _check(self, used: int, limit: int, code: str) -> None:
        if used < limit:
            return
        now = self._clock()
        anew = next_month(now)
        raise BudgetUsedUp(Fact(code, used=used, limit=limit, anew=_day(anew)), retry_after=anew - now)

    def searched(self, user: str | None) -> None:
        if user is not None and self.counts(user):
            self.budgets.add(user, Used(searches=1))

    def counts(self, user: str | None) -> bool:
        return self.allowance(user) is not None

    def answer_ended(self, answer: Answered) -> None:
        tokens = max(answer.input_tokens, 0) + max(answer.output_tokens, 0)
        if tokens and answer.user is not None and self.counts(answer.user):
            self.budgets.add(answer.user, Used(tokens=min(tokens, 10**9)))

    def warnings(self, user: str | None) -> Sequence[Fact]:
        found = self.allowance(user)
        if found is None:
            return ()
        used, anew = self.used(user), _day(next_month(self._clock()))
        pairs = (
            ("notice.searches_low", used.searches, found.searches),
            ("notice.tokens_low", used.tokens, found.tokens),
        )
        return [
            Fact(code, used=spent, limit=limit, anew=anew)
            for code, spent, limit in pairs
            if limit is not None and spent * 100 >= limit * SOFT_PERCENT
        ]

    def budget(self, user: str | None) -> dict[str, Any] | None:
        """Return what somebody has used of a month's budget in its JSON shape; None where there is none."""
        found = self.allowance(user)
        if found is None or (found.searches is None and found.tokens is None):
            return None
        used = self.used(user)
        return {
            "usedSearches": used.searches,
            "searches": found.searches,
            "usedModelTokens": used.tokens,
            "modelTokens": found.tokens,
            "anew": _day(next_month(self._clock())),
        }

    def headers(self, user: str) -> Sequence[tuple[bytes, bytes]]:
        """Return headers that tell what somebody has used of a budget; none where there is no budget."""
        found = self.allowance(user)
        if found is None or (found.searches is None and found.tokens is None):
            return ()
        used = self.used(user)
        pairs = ((b"searches", used.searches, found.searches), (b"model-tokens", used.tokens, found.tokens))
        told = [
            (b"x-qiusuo-%b-%b" % (name, part), str(value).encode())
            for name, spent, limit in pairs
            if limit is not None
            for part, value in ((b"used", spent), (b"limit", limit))
        ]
        return [*told, (b"x-qiusuo-budget-anew", _day(next_month(self._clock())).encode())]

    # In the background
    def start(self) -> None:
        """Begin to write what is used."""
        self.store.tables.database.before_close.append(self.aclose)
        self._task = asyncio.create_task(self._run())

    async def aclose(self) -> None:
        """Write the rest; to be called before the database is closed."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None
        await self.budgets.finish()

    async def _run(self) -> None:
        tidied = -TIDY_SECONDS
        while True:
            await asyncio.sleep(WRITE_SECONDS)
            try:
                await self.budgets.flush()
                if self._timer() - tidied >= TIDY_SECONDS and self.store.is_there:
                    tidied = self._timer()
                    await self.store.tidy(month_of(self._clock()))
            except SearchError as error:  # of the tidying; the counting tells its own
                logger.warning("what people used more than a year ago is not deleted for now: %s", error)
            except Exception:  # a fault of ours must not end the counting
                logger.exception("what people use is not written")

    def _live(self) -> list[Member]:
        now = self._clock()
        return [each for each in self._members.values() if each.is_live(now)]


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()

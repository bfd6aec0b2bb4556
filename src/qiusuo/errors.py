"""Every error of Qiusuo, in one tree.

::

    SearchError
    ├── InvalidQuery               blank or unusable parameters; no request was made
    │   ├── LimitReached           as much is kept as the settings allow
    │   └── FileError              a file that was added cannot be read
    ├── ConfigurationError         something must be set up differently
    │   ├── UnknownEngine          no engine has that name
    │   ├── DuplicateEngine        two engines claim one name
    │   ├── EngineNotConfigured    the engine was named, but its key or address is missing
    │   └── SearchDisabled         no engine can be used at all
    ├── EngineError                one attempt at one engine failed
    │   ├── Blocked                a CAPTCHA, consent page or bot wall: a person is needed
    │   ├── RateLimited            too many requests; wait ``retry_after`` seconds
    │   ├── QuotaExceeded          the plan's credits are used up
    │   ├── AuthFailed             the key is missing, wrong or lacks a right
    │   ├── SearchTimeout          no answer in time
    │   │   └── NotAsked           searches of our own were before it; the engine was not asked
    │   ├── Unavailable            not reachable, or answers 5xx
    │   ├── BadResponse            an answer that is not what the provider promises
    │   │   └── RequestRejected    the provider refused this very request (400, 422)
    │   └── ApiDisabled            reachable, but its search API is switched off
    ├── UserRateLimited            this user has searched too often; wait ``retry_after`` seconds
    │   └── BudgetUsedUp           this user's budget of the month is used up
    ├── NotAllowed                 this user may not use that engine or model
    ├── PageError                  a page could not be read
    │   ├── PageRefused            the address is not one that may be fetched; nothing was sent there
    │   ├── PageUnavailable        not there, not reachable, or answers with an error
    │   ├── PageTimeout            not read in time
    │   ├── PageTooLarge           larger than the limit
    │   └── UnsupportedPage        a kind of file that has no readable text for us
    ├── ModelError                 the language model could not answer
    │   ├── ModelNotConfigured     its provider's package, key or file is missing
    │   ├── ModelAuthFailed        the provider does not accept the key
    │   ├── ModelRateLimited       too many requests, or no credit left
    │   ├── ModelTimeout           no answer in time
    │   ├── ModelUnavailable       not reachable, or answers 5xx
    │   ├── ContextOverflow        the conversation is longer than the model can take
    │   ├── ModelRejected          the provider refused this very request
    │   └── ModelBroken            the stream broke off or made no sense
    ├── SessionError               a conversation cannot be used
    │   ├── SessionNotFound        there is no such conversation, or it is somebody else's
    │   ├── SessionBusy            another turn of it is still running
    │   ├── TurnElsewhere          its turn runs on another server, which cannot be reached from here
    │   ├── ServerBusy             as many questions are being answered as there is room for
    │   └── TooManyAtOnce          this user has as many questions being answered as one may have
    └── AllEnginesFailed           every engine was tried; ``attempts`` has the receipt

Foreign errors are translated once, in :mod:`qiusuo.http` (or in an engine that brings its own client). Each error is a
fact with values (:mod:`qiusuo.words`) and carries what a policy needs: ``engine``, ``outcome``, ``retry_after``
(seconds), ``status`` (HTTP), and what to do. ``place`` tells operators which file or host is meant; no answer has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from qiusuo.models import MAX_RETRY_AFTER, Attempt, Outcome, believed
from qiusuo.words import Fact, Language, as_fact, sentences
from qiusuo.words.wording import Wording, remedy_of, wording

_MOST_FIXES: Final = 2


class SearchError(Exception):
    """Base of all errors raised by Qiusuo.

    ``fact`` says what went wrong and ``remedy`` what to do, as codes with values; a remedy that always goes with its
    fact stands in the catalogue beside it. ``message`` and ``fix`` are the same in English, :meth:`wording` in a
    language. A string is taken as somebody's own words. ``commands`` are exact and the same in every language.
    """

    outcome: ClassVar[Outcome] = Outcome.UNAVAILABLE

    def __init__(
        self,
        fact: Fact | str,
        *,
        engine: str | None = None,
        fix: Fact | str = "",
        retry_after: float | None = None,
        status: int | None = None,
        place: str = "",
        commands: Sequence[str] = (),
    ) -> None:
        super().__init__(fact)
        self.fact = as_fact(fact)
        self.remedy = remedy_of(fix)
        self.place = place
        self.engine = engine
        self.retry_after = retry_after
        self.status = status
        self.commands = tuple(commands)

    @property
    def message(self) -> str:
        """What went wrong, in English."""
        return self.fact.text()

    @property
    def fix(self) -> str:
        """What to do, in English."""
        return self.wording().fix

    def wording(self, language: Language = Language.ENGLISH) -> Wording:
        """Return the error in words."""
        return wording(self.fact, self.remedy, language)

    @property
    def told(self) -> Fact:
        """The error with its remedy in one fact, as the ``reason`` of another one."""
        return Fact("search.told", reason=self.fact, remedy=self.remedy) if self.remedy else self.fact

    def __str__(self) -> str:
        """Return all of it, for logs and terminals."""
        return self._line(f" ({self.place})" if self.place else "")

    @property
    def public(self) -> str:
        """What everybody may read: not where on which machine something is."""
        return self._line("")

    def _line(self, place: str) -> str:
        prefix = f"{self.engine}: " if self.engine else ""
        return prefix + sentences(Language.ENGLISH, f"{self.message}{place}", self.fix)

    def to_dict(self, language: Language = Language.ENGLISH) -> dict[str, Any]:
        """Return the error in its JSON shape: facts for programs, and words in a language."""
        words = self.wording(language)
        kind, outcome = type(self).__name__, self.outcome.value
        data: dict[str, Any] = {"error": kind, "outcome": outcome, "message": words.what, **self.fact.to_dict()}
        more = {"engine": self.engine, "fix": words.fix, "commands": list(self.commands)}
        data |= {name: value for name, value in more.items() if value}
        if self.retry_after is not None:
            data["retryAfter"] = round(self.retry_after, 1)
        return data


class InvalidQuery(SearchError, ValueError):
    """The query or one of its parameters cannot be used; no request was made."""

    outcome = Outcome.BAD_RESPONSE


class LimitReached(InvalidQuery):
    """As much is kept as the settings allow; nothing was deleted to make room."""


class FileError(InvalidQuery):
    """A file that was added to a conversation cannot be read."""


class ConfigurationError(SearchError):
    """The set-up must change before this can work."""

    outcome = Outcome.DISABLED


class UnknownEngine(ConfigurationError):
    """No engine has that name."""


class DuplicateEngine(ConfigurationError):
    """Two engines claim the same name."""


class EngineNotConfigured(ConfigurationError):
    """An engine was named, but what it needs is missing."""


class SearchDisabled(ConfigurationError):
    """No engine is configured or available, so search is off."""


class EngineError(SearchError):
    """One attempt at one engine failed. A wait that its provider names (``retry_after``) is believed within bounds."""

    longest_wait: ClassVar[float] = MAX_RETRY_AFTER

    def __init__(self, fact: Fact | str, *, retry_after: float | None = None, **more: Any) -> None:
        wait = None if retry_after is None else believed(retry_after, self.longest_wait)
        super().__init__(fact, retry_after=wait, **more)


class Blocked(EngineError):
    """The provider wants a person: a CAPTCHA, a consent page, a bot wall."""

    outcome = Outcome.BLOCKED


class RateLimited(EngineError):
    """The provider asks us to slow down."""

    outcome = Outcome.RATE_LIMITED


class QuotaExceeded(EngineError):
    """The plan's searches are used up."""

    outcome = Outcome.QUOTA
    longest_wait = 31 * MAX_RETRY_AFTER  # plans begin anew with a month


class AuthFailed(EngineError):
    """The provider does not accept the key."""

    outcome = Outcome.AUTH


class SearchTimeout(EngineError, TimeoutError):
    """No answer in time."""

    outcome = Outcome.TIMEOUT


class NotAsked(SearchTimeout):
    """Searches of our own left no place in time. The engine was not asked, so this says nothing of it."""


class Unavailable(EngineError):
    """The provider cannot be reached or is broken."""

    outcome = Outcome.UNAVAILABLE


class BadResponse(EngineError):
    """The answer is not what the provider promises."""

    outcome = Outcome.BAD_RESPONSE


class RequestRejected(BadResponse):
    """The provider refused this very request; another query may well work."""


class ApiDisabled(EngineError):
    """The service is there, but its search API is switched off."""

    outcome = Outcome.DISABLED


class UserRateLimited(SearchError):
    """This user has reached the limit of searches per minute."""

    outcome = Outcome.RATE_LIMITED


class BudgetUsedUp(UserRateLimited):
    """This user's budget of the month is used up; ``retry_after`` is when the next one begins."""


class NotAllowed(SearchError):
    """This user may not use that engine or model."""

    outcome = Outcome.DISABLED


class PageError(SearchError):
    """A page could not be read."""


class PageRefused(PageError):
    """The rules do not let this address be fetched; nothing was sent to it."""

    outcome = Outcome.DISABLED


class PageUnavailable(PageError):
    """The page is not there, cannot be reached, or its server answers with an error."""

    outcome = Outcome.UNAVAILABLE


class PageTimeout(PageError, TimeoutError):
    """The page could not be read in time."""

    outcome = Outcome.TIMEOUT


class PageTooLarge(PageError):
    """The page is larger than the limit."""

    outcome = Outcome.BAD_RESPONSE


class UnsupportedPage(PageError):
    """The address leads to a kind of file that is not read."""

    outcome = Outcome.BAD_RESPONSE


class ModelError(SearchError):
    """The language model could not answer; ``engine`` is its name."""


class ModelNotConfigured(ModelError, ConfigurationError):
    """A model was named, but what it needs is missing."""

    outcome = Outcome.DISABLED


class ModelAuthFailed(ModelError):
    """The model's provider does not accept the key."""

    outcome = Outcome.AUTH


class ModelRateLimited(ModelError):
    """The model's provider asks us to slow down, or the credit is used up."""

    outcome = Outcome.RATE_LIMITED


class ModelTimeout(ModelError, TimeoutError):
    """The model did not answer in time."""

    outcome = Outcome.TIMEOUT


class ModelUnavailable(ModelError):
    """The model's server cannot be reached or is broken."""

    outcome = Outcome.UNAVAILABLE


class ContextOverflow(ModelError):
    """The conversation is longer than the model can take."""

    outcome = Outcome.BAD_RESPONSE


class ModelRejected(ModelError):
    """The provider refused this very request."""

    outcome = Outcome.BAD_RESPONSE


class ModelBroken(ModelError):
    """The model's answer broke off or made no sense."""

    outcome = Outcome.BAD_RESPONSE


class SessionError(SearchError):
    """A conversation cannot be used."""

    outcome = Outcome.UNAVAILABLE


class SessionNotFound(SessionError):
    """There is no such conversation, or it is somebody else's."""


class SessionBusy(SessionError):
    """Another turn of this conversation is still running."""


class TurnElsewhere(SessionError):
    """This turn runs on another server, which cannot be reached from here."""


class ServerBusy(SessionError):
    """As many questions are being answered as there is room for."""


class TooManyAtOnce(SessionError):
    """This user has as many questions being answered as one may have."""


class AllEnginesFailed(SearchError):
    """No engine gave an answer. ``attempts`` is the whole receipt."""

    def __init__(self, fact: Fact | str, *, attempts: Sequence[Attempt] = (), fix: Fact | str = "") -> None:
        # All but the fact has a default, so that the error can travel between processes (pickle).
        waits = [attempt.retry_after for attempt in attempts if attempt.retry_after is not None]
        commands = dict.fromkeys(command for attempt in attempts for command in attempt.commands)
        super().__init__(fact, fix=fix, retry_after=min(waits, default=None), commands=tuple(commands))
        self.attempts = tuple(attempts)

    @classmethod
    def from_attempts(cls, attempts: Sequence[Attempt]) -> AllEnginesFailed:
        """Build the error that names every attempt."""
        tried = tuple(attempt.summary for attempt in attempts)
        return cls(Fact("search.all_failed", tried=tried), attempts=attempts)

    def wording(self, language: Language = Language.ENGLISH) -> Wording:
        """Return the error in words; what to do are the first remedies of its attempts."""
        words = super().wording(language)
        fixes = dict.fromkeys(fix for attempt in self.attempts if (fix := attempt.wording(language).fix))
        return words if words.fix else words._replace(fix=language.after_sentence.join(list(fixes)[:_MOST_FIXES]))

    def to_dict(self, language: Language = Language.ENGLISH) -> dict[str, Any]:
        """Return the error with its receipt in JSON shape."""
        return super().to_dict(language) | {"attempts": [attempt.to_dict(language) for attempt in self.attempts]}

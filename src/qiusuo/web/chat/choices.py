"""What somebody may choose of engines and models: those that there are, as far as they are allowed to this person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qiusuo.chat.chat import Chat
from qiusuo.chat.models.port import Model
from qiusuo.chat.sessions.session import ChatSettings
from qiusuo.errors import InvalidQuery, NotAllowed
from qiusuo.roster import NATIVE
from qiusuo.service import SearchService
from qiusuo.web.backend import Backend
from qiusuo.words import Fact


@dataclass(frozen=True, slots=True)
class Choices:
    """The engines of a service and the models of a chat, for each user."""

    service: SearchService
    chat: Chat

    def engines(self, user: str | None, names: Sequence[str]) -> tuple[str, ...]:
        """Return those of some engines that a user may ask."""
        allowed = self.service.rules.terms(user).engines
        return tuple(name for name in names if allowed is None or name in allowed)

    def model_names(self, user: str | None) -> tuple[str, ...]:
        """Return the names of the models that a user may choose; that of the first is empty."""
        allowed = self.service.rules.terms(user).models
        return tuple(name for name in self.chat.book.names if allowed is None or name in allowed)

    def models(self, user: str | None) -> list[dict[str, str]]:
        """Return these models in their JSON shape."""
        names = self.model_names(user)
        return [shape for shape in self.chat.book.to_list() if shape["name"] in names]

    def first_model(self, user: str | None) -> Model:
        """Return the model that answers a user who has chosen none."""
        try:
            return self.chat.model_for(user).model
        except NotAllowed:  # those that were allowed are gone; a question tells so
            return self.chat.model

    def check(self, user: str | None, settings: ChatSettings, changed: Mapping[str, Any] | None = None) -> None:
        """Refuse what there is not; a model that is gone since it was chosen keeps nothing else from being changed.

        Raises:
            InvalidQuery: there is no such engine or model.
            NotAllowed: there is, but not for this user.
        """
        known = self.service.engine_problems()
        if settings.engine is not None and settings.engine not in {*known, NATIVE}:
            raise InvalidQuery(Fact("web.unknown_engine", name=settings.engine))
        if settings.engine is not None and (changed is None or "engine" in changed):
            self.service.rules.terms(user).check_engine(settings.engine)
        if changed is None or "model" in changed:
            self.check_model(user, settings.model)

    def check_model(self, user: str | None, name: str | None) -> None:
        """Refuse a model that there is not, or not for this user.

        Raises:
            InvalidQuery: there is none of that name.
            NotAllowed: there is, but not for this user.
        """
        known = self.chat.book.names
        if name is not None and name not in known:
            may = [each for each in self.model_names(user) if each]
            raise InvalidQuery(Fact("web.unknown_model", name=name[:60], known=may or "—"))
        self.chat.model_for(user, name)


def budget_shape(backend: Backend, user: str | None) -> dict[str, Any] | None:
    """Return what somebody has used of a month's budget; None where there is none."""
    people = backend.parts.get("people")
    shape: dict[str, Any] | None = people.budget(user) if people is not None else None
    return shape

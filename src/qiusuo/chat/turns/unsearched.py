"""What is said where search is off and something on this machine knows the answer: the switch is the reader's."""

from __future__ import annotations

from qiusuo import plugins
from qiusuo.chat.questions import is_task
from qiusuo.chat.sessions.session import Mode
from qiusuo.chat.turns.context import Context
from qiusuo.chat.turns.notices import notice
from qiusuo.words import Fact


async def tell_what_is_here(context: Context) -> None:
    """Tell of an engine on this machine that would answer first, were search on; once in a conversation."""
    ask, settings, service = context.ask, context.ask.settings, context.service
    searches = settings.search or settings.mode is Mode.AGENT or ask.research
    if searches or context.material.asks_nothing or is_task(ask.question) or not settings.scope.asks_plugins:
        return
    known = plugins.recognise(context.query) if context.query else None
    name = service.roster.answers_first(known.search_type) if known is not None else None
    if known is None or name is None or settings.engine not in {None, name}:
        return
    allowed = service.rules.terms(ask.user).engines
    if (allowed is not None and name not in allowed) or name not in await service.available(known.search_type):
        return
    # Who has asked such a question before has read it, or knows what a search brings.
    if any(plugins.recognise(before.question) for before in context.memory.said.values()):
        return
    kind = service.roster.places[name].kind
    context.journal.notice(notice(Fact("notice.known_here", engine=kind.title or kind.label)))

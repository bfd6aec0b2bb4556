"""What a reader should know before the answer, whatever its mode."""

from __future__ import annotations

from qiusuo.chat.models.book import FIRST
from qiusuo.chat.models.vendors import EXTRACTIVE
from qiusuo.chat.turns.context import Context
from qiusuo.chat.turns.notices import notice
from qiusuo.words import Fact


def tell_beforehand(context: Context) -> None:
    """Tell of a model that is gone or missing, and what the rules of the service warn of: a budget nearly used up."""
    journal, ask = context.journal, context.ask
    wanted = ask.settings.model if ask.model is None else ask.model
    if wanted and wanted != context.hand.name:
        gone = Fact("notice.model_gone", name=wanted, model=context.model.info.title)
        journal.notice(notice(gone, "warning"))
    for fact in context.service.rules.warnings(ask.user):
        journal.notice(notice(fact))
    if context.model.info.kind == EXTRACTIVE and context.hand.name == FIRST:  # else it was chosen
        # It says of what the answer is made: where there is nothing to quote, the answer itself says what is missing.
        journal.with_sources = notice("model_not_configured", reason=Fact("llm.none"))

"""Whether a question is one of law, and how much of the law it asks for."""

from __future__ import annotations

from typing import Final

from qiusuo.legal.reading.references import find_references
from qiusuo.legal.recognising.asked_cases import asks_for_cases, case_type_in
from qiusuo.legal.recognising.recognise import looks_legal
from qiusuo.models import SearchType
from qiusuo.plugins import Recognised

MOST_ARTICLES: Final = 20
_ROOM_FOR_AMENDMENTS: Final = 5


TOOL: Final = "regulationSearch"
CASE_TOOL: Final = "caseSearch"


def recognise(question: str) -> Recognised | None:
    """Tell how a question about what Chinese law says, or for judgments, is searched for; None for any other."""
    if asks_for_cases(question):
        kind = case_type_in(question)
        return Recognised(SearchType.CASE, tool=CASE_TOOL, arguments={"caseType": kind} if kind else {})
    if not looks_legal(question):
        return None
    wanted = results_for(question, 0)
    return Recognised(
        SearchType.REGULATION,
        tool=TOOL,
        arguments={"limit": wanted} if wanted else {},
        wanted=wanted,
        names_results=names_articles(question),
    )


def results_for(question: str, usual: int) -> int:
    """Return how many results to ask for: as many as usual, or all the articles that the question names."""
    named = find_references(question, lambda _name: ())
    count = sum(1 + (one.last.number - one.number.number if one.last else 0) for one in named)
    return max(usual, min(count + _ROOM_FOR_AMENDMENTS, MOST_ARTICLES)) if count > 1 else usual


def names_articles(question: str) -> bool:
    """Tell whether a question names an article."""
    return bool(find_references(question, lambda _name: ()))

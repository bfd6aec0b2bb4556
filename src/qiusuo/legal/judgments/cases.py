"""``caseSearch`` and ``caseDetail``: judgments by 案号 or by words, with personal data masked."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import date

from qiusuo.errors import InvalidQuery
from qiusuo.legal.answers.finding.regulations import DEFAULT_LIMIT, MAX_LIMIT, check_day, check_query
from qiusuo.legal.answers.results import NO_CASE, JudgmentDetails, LegalAnswer
from qiusuo.legal.index.handle import LegalIndex
from qiusuo.legal.index.ranking import DayRange, Filters
from qiusuo.legal.judgments.case_ranking import CANDIDATES, Nearness, ranked_cases
from qiusuo.legal.judgments.judgment_text import CASE_TYPES, case_number
from qiusuo.legal.judgments.privacy import mask_text, people_of
from qiusuo.legal.models import Case
from qiusuo.legal.reading.documents import leading_case
from qiusuo.legal.reading.numbers import folded
from qiusuo.legal.recognising.asked_cases import case_type_in, case_words
from qiusuo.text import truncate
from qiusuo.words import Fact

SUMMARY_CHARS = 300
VERDICT_CHARS = 300
_BRIEF_OF = 4  # blanks are taken out of so much more
# How many titles are looked at for that of a leading case.
TITLES_LOOKED_AT = 2000
Answer = LegalAnswer[JudgmentDetails]


@dataclass(frozen=True, slots=True)
class CaseFilters:
    """What a judgment must be; empty fields do not filter."""

    case_type: str = ""
    court: str = ""
    date_from: str = ""
    date_to: str = ""

    def checked(self, question: str = "") -> CaseFilters:
        """Return the filters in their usual form; where they name no type, a question may: 盗窃的刑事案例.

        Raises:
            InvalidQuery: the type is none of ours, or a day is no day.
        """
        said = self.case_type or case_type_in(question)
        kind = next((known for known in CASE_TYPES if known in said or said == known[:2]), "")
        if said and not kind:
            raise InvalidQuery(Fact("legal.unknown_case_type", given=repr(self.case_type), known=list(CASE_TYPES)))
        today = date.min
        return CaseFilters(
            kind,
            "".join(self.court.split()),
            check_day(self.date_from, today, "dateFrom") if self.date_from else "",
            check_day(self.date_to, today, "dateTo") if self.date_to else "",
        )

    def for_ranking(self) -> Filters:
        """Return what the ranking is told, so that what does not fit takes nobody's place."""
        named: dict[str, str | DayRange] = {"type": self.case_type, "court": self.court}
        if self.date_from or self.date_to:
            named["day"] = (self.date_from, self.date_to)
        return {name: value for name, value in named.items() if value}

    def admits_page(self, page: JudgmentDetails) -> bool:
        """Tell whether a page of the web may fit: what it does not tell of itself is no reason to leave it out."""
        if self.case_type and page.case_type and page.case_type != self.case_type:
            return False
        if self.court and page.court and self.court not in page.court:
            return False
        return not page.date or replace(self, court="").admits("", page.date)

    def admits(self, court: str, day: str) -> bool:
        """Tell whether a judgment fits; one without a date does not fit a range of dates."""
        if self.court and self.court not in court:
            return False
        if (self.date_from or self.date_to) and not day:
            return False
        return (not self.date_from or day >= self.date_from) and (not self.date_to or day <= self.date_to)


def _named(words: str, number: str) -> tuple[Fact, ...]:
    """Say that the case which a question names is not there."""
    name = number or leading_case(words)
    return (Fact("law.no_case_called", name=name),) if name else ()


@dataclass(frozen=True, slots=True)
class CaseSearch:
    """Answers from one index; ``masked`` hides personal data."""

    index: LegalIndex
    masked: bool = True

    def search(self, query: str, filters: CaseFilters | None = None, limit: int = DEFAULT_LIMIT) -> Answer:
        """Find judgments by their 案号, else by words.

        Raises:
            InvalidQuery: the query or a filter cannot be used.
        """
        started = time.perf_counter()
        words = check_query(query, limit)
        wanted = (filters or CaseFilters()).checked(words)
        count = min(limit, MAX_LIMIT)
        number = case_number(words)
        if not self.index.store.has_cases():
            return Answer(query, (), (*_named(words, number), Fact("law.no_judgments")))
        answer = self._by_number(words, number, wanted) if number else self._by_words(words, wanted, count)
        elapsed = round((time.perf_counter() - started) * 1000)
        return replace(answer, results=answer.results[:count], search_time=elapsed)

    def detail(self, reference: str) -> Answer:
        """Return the whole document of a judgment, by its 案号 or by the id of a result.

        Raises:
            InvalidQuery: the reference is empty.
        """
        words = check_query(reference, 1)
        if folded(words).isdecimal():
            case = self.index.store.case(int(folded(words)[:15]))
            found = [case] if case else []
        else:
            found = self.index.store.cases_by_number(case_number(words) or words)
        notes = () if found else (Fact("law.no_case_named", reference=words),)
        return Answer(words, tuple(self._result(case, whole=True) for case in found), notes, final=bool(found))

    def _by_number(self, query: str, number: str, wanted: CaseFilters) -> Answer:
        known = self.index.store.cases_by_number(number)
        found = [
            case for case in known if wanted.admits(case.court, case.date) and wanted.case_type in {"", case.case_type}
        ]
        if found:
            return Answer(query, tuple(self._result(case) for case in found), final=True)
        if known:
            return Answer(query, (), (Fact("law.case_filtered", number=number),), final=True)
        return Answer(query, (), (Fact("law.no_case_of_number", number=number),))

    def _by_words(self, query: str, wanted: CaseFilters, count: int) -> Answer:
        if named := leading_case(query):
            # Leading cases have no 案号 of their own; what is imported may have theirs in its title.
            return self._by_title(query, named, wanted)
        words = case_words(query)
        hits = ranked_cases(self.index, words, CANDIDATES, wanted.for_ranking())
        if wanted.court:  # the ranking knows the pairs of its characters, not their order
            facts = self.index.store.case_facts(hit.id for hit in hits)
            hits = [hit for hit in hits if wanted.admits(*facts[hit.id])]
        hits = hits[:count]
        cases = self.index.store.cases_by_id([hit.id for hit in hits])
        near = Nearness(self.index, words)
        results = tuple(
            replace(self._result(case), score=hit.score)
            for case, hit in zip(cases, hits, strict=True)
            if near.holds(case)
        )
        return Answer(query, results, () if results else (NO_CASE,))

    def _by_title(self, query: str, named: str, wanted: CaseFilters) -> Answer:
        hits = ranked_cases(self.index, named, TITLES_LOOKED_AT, wanted.for_ranking())
        titles = self.index.store.case_titles(hit.id for hit in hits)
        cases = self.index.store.cases_by_id([hit.id for hit in hits if leading_case(titles[hit.id][0]) == named])
        notes = () if cases else (Fact("law.no_case_called", name=named), Fact("law.import_cases"))
        return Answer(query, tuple(self._result(case) for case in cases), notes)

    def _result(self, case: Case, *, whole: bool = False) -> JudgmentDetails:
        people = people_of(case) if self.masked else ()

        def shown(text: str) -> str:
            return mask_text(text, people) if self.masked else text

        def brief(text: str, most: int) -> str:
            # Only what is shown is masked; the rest of a long text costs more than all else of a search.
            return truncate(" ".join(shown(text[: _BRIEF_OF * most]).split()), most)

        return JudgmentDetails(
            case_number=case.number,
            case_name=shown(case.name),
            court=case.court,
            date=case.date,
            case_type=case.case_type,
            summary=brief(case.facts or case.text, SUMMARY_CHARS),
            verdict=shown(case.verdict) if whole else brief(case.verdict, VERDICT_CHARS),
            url=case.url,
            id=str(case.id),
            cause=case.cause,
            procedure=case.procedure,
            source=case.source,
            text=shown(case.text) if whole else "",
        )

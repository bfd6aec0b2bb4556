"""``regulationSearch``: an article by its number, laws by their name, articles by words."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from qiusuo.errors import InvalidQuery
from qiusuo.legal.answers.finding.by_words import WordSearch
from qiusuo.legal.answers.finding.changes import asks_what_changed, changes_in
from qiusuo.legal.answers.finding.missing import as_related, missing_documents, with_pack
from qiusuo.legal.answers.results import LawDetails, LegalAnswer
from qiusuo.legal.answers.shown import Shown, first, once
from qiusuo.legal.answers.standing import Standing
from qiusuo.legal.answers.validity import best_for
from qiusuo.legal.index.handle import LegalIndex
from qiusuo.legal.models import Article, Law, LawKind, LawVersion
from qiusuo.legal.reading.documents import names_document, names_nothing
from qiusuo.legal.reading.editions import CURRENT, Age, Edition
from qiusuo.legal.reading.elsewhere import read_as_ours
from qiusuo.legal.reading.mentions import law_for, law_named, laws_in
from qiusuo.legal.reading.names import STATE, looks_like_law
from qiusuo.legal.reading.numbers import article_label, folded
from qiusuo.legal.reading.references import LawMention, LawReference, find_references, of_law, without_references
from qiusuo.legal.recognising.script import from_english, simplified
from qiusuo.words import Fact

DEFAULT_LIMIT = 10
MAX_LIMIT = 50
MAX_QUERY_CHARS = 4000
_QUOTED = re.compile(r"^《[^》]+(?:〉[^》]*)?》?$")
_LAW_LIST = re.compile(r"^(?:《[^》]+》?|[^\s,。?？!！《》]{2,40})$")
_BETWEEN_NAMES = re.compile(r"[和与及、,，\s]+|(?<=》)(?=《)")
# 解释一下刑法第266条 is no question for an interpretation.
_WANTS_INTERPRETATION = re.compile(r"立法解释|人大.*解释|(?:条|款|项)\)?的?解释\s*[?？。]?$")
# 民法典全文, 婚姻法现在还有效吗, 公司法什么时候施行: the law as a whole is asked for.
_ABOUT_THE_LAW = re.compile(
    r"的?\s*(?:全文(?:下载)?|原文|条文|目录|版本|(?:一共|总共)?有?(?:多少|几)条"
    r"|(?:现在|目前)?(?:还|仍然?|已经|是否|有没有)*(?:被)?(?:有效|失效|生效|废止|废除)(?:了|没有|没)*"
    r"|(?:是)?(?:什么时候|何时|哪天|哪年)(?:开始)?(?:施行|实施|生效|公布|颁布|修[订正改]|废止|失效)的?)\s*[了吗么呢?？]*$"
)
# 工伤保险条例 is a name, 关于试用期的规定 a question: a name that the index lacks is not answered with other laws.
_SURELY_A_NAME = re.compile(
    r"^(?!.*(?:关于|有关|[的和与])).{2,}(?:条例|实施细则|(?:管理|实施|暂行|试行|处罚|监督|登记|征收)(?:办法|规定|规则|条例)"
    r"|修正案\(?[一二三四五六七八九十\d]{1,3}\)?)$"
    r"|^(?!.*(?:什么|哪些|如何|怎么|是否|吗)).{2,}(?:司法|制度)解释(?:\(?[一二三四五六七八九十\d]{1,2}\)?)?$"
)
Answer = LegalAnswer[LawDetails]
Dated = Callable[[LawReference], LawReference]
"""Gives a reference the edition of the day that was asked about."""


def check_query(query: str, limit: int) -> str:
    """Return the query with its blanks folded, in simplified characters.

    Raises:
        InvalidQuery: it is empty or far too long, or the limit is not positive.
    """
    words = " ".join(query.split())
    if not words:
        raise InvalidQuery(Fact("legal.no_query"))
    if len(words) > MAX_QUERY_CHARS:
        raise InvalidQuery(Fact("legal.long_query", count=MAX_QUERY_CHARS))
    if limit < 1:
        raise InvalidQuery(Fact("legal.limit", given=limit, most=MAX_LIMIT))
    return simplified(words)


def check_day(value: str | None, today: date, name: str = "asOf") -> str:
    """Return a day as ISO 8601; today where none is given.

    Raises:
        InvalidQuery: it is no day.
    """
    if not value:
        return today.isoformat()
    try:
        return date.fromisoformat(value.strip()).isoformat()
    except ValueError:
        raise InvalidQuery(Fact("legal.no_day", name=name, given=repr(value))) from None


@dataclass(frozen=True, slots=True)
class RegulationSearch:
    """Answers from one index."""

    index: LegalIndex
    today: Callable[[], date] = date.today

    def search(
        self, query: str, as_of: str | None = None, limit: int = DEFAULT_LIMIT, *, can_raise: bool = True
    ) -> Answer:
        """Find articles or laws, as they stand on a day; ``can_raise``: whether who asks can set a larger limit.

        Raises:
            InvalidQuery: the query, the day or the limit cannot be used.
        """
        started = time.perf_counter()
        words, asides = _in_chinese(check_query(query, limit))
        most = min(limit, MAX_LIMIT)
        day = check_day(as_of, self.today())
        dated: Dated = (lambda law: self._as_of(law, day)) if as_of else (lambda law: law)
        references = [dated(reference) for reference in find_references(words, self.index.names.find)]
        missing = missing_documents(words, self.index.names.find, self.index.store.laws.values(), references)
        if any(reference.mention is not LawMention.NONE for reference in references):
            answer = self._by_number(words, references, day)
            if missing.of_article:
                answer = replace(answer, results=as_related(answer.results))
        elif missing:
            answer = Answer(words, WordSearch(self.index).related(words, day, most))
        elif references:
            answer = self._number_without_law(words, references, day, most, dated)
        else:
            answer = self._by_name(words, day, dated) or WordSearch(self.index).search(words, day, most)
        if missing:
            answer = replace(answer, notes=(*missing.notes, *answer.notes), final=False)
        notes = with_pack(answer.notes, self.index.store.versions.values())
        answer = replace(answer, notes=(*asides, *notes, *_not_theirs(words, answer)))
        shown = first(answer.results, most)
        if asks_what_changed(words) and not any(note.code == "law.no_edition" for note in answer.notes):
            answer = replace(answer, notes=(*answer.notes, *changes_in(self.index, words, shown)))
        if len(answer.results) > len(shown):
            code = "law.shown_first_raise" if can_raise and most < MAX_LIMIT else "law.shown_first"
            cut = Fact(code, total=len(answer.results), shown=len(shown))
            answer = replace(answer, results=shown, notes=(*answer.notes, cut))
        return replace(answer, query=query, search_time=round((time.perf_counter() - started) * 1000))

    def _by_number(self, query: str, references: list[LawReference], day: str) -> Answer:
        results: list[LawDetails] = []
        notes: list[Fact] = []
        unknown = False
        law: LawReference | None = None
        for reference in references:
            if reference.mention is LawMention.NONE and law is not None:  # 民法典第577条怎么说？第584条呢？
                notes.append(Fact("law.taken_as_article_of", numbers=_label(reference), law=self._name_of(law)))
                reference = of_law(reference, replace(law, certain=True))  # noqa: PLW2901 - the same reference, with its law
            if reference.mention is LawMention.NAMED:
                law = reference
                found, said = self._look_up(reference, day)
                results += found
                notes += said
                # Another edition may well be on the web.
                unknown = unknown or (not found and reference.edition != CURRENT)
            else:
                unknown = unknown or reference.mention is LawMention.UNKNOWN
                notes.append(_unknown_law(reference))
        results += self._interpretations(query, references, day)
        return Answer(query, once(results), _each_once(notes), final=not unknown)

    def _number_without_law(
        self, query: str, references: list[LawReference], day: str, limit: int, dated: Dated
    ) -> Answer:
        """Answer a number without a law right before it: another place of the question may name one."""
        numbers = [_label(reference) for reference in references]
        law = law_for(references[0], laws_in(query, self.index.names.find), query)
        if law is not None:
            known = dated(replace(law, certain=True))
            answer = self._by_number(query, [of_law(found, known) for found in references], day)
            understood = Fact("law.taken_as_article_of", numbers=numbers, law=self._name_of(law))
            return replace(answer, notes=(understood, *answer.notes))
        if not re.search(r"\w", without_references(query)):  # there are no words to search for
            return Answer(query, (), (Fact("law.which_law", numbers=numbers),))
        found = WordSearch(self.index).search(query, day, limit)
        return replace(found, notes=(Fact("law.which_law_by_words", numbers=numbers), *found.notes))

    def _interpretations(self, query: str, references: list[LawReference], day: str) -> list[LawDetails]:
        """Return what the Standing Committee says an article means, where the question asks for that."""
        if not _WANTS_INTERPRETATION.search(query):
            return []
        asked = {(reference.law_ids, reference.number) for reference in references if reference.law_ids}
        found: list[LawDetails] = []
        for law in self.index.store.laws.values():
            if law.kind is LawKind.INTERPRETATION_BY_CONGRESS:
                about = find_references(law.name, self.index.names.find)
                version = best_for(self.index.store.versions_of(law.id), day)
                opening = self.index.store.opening(version) if version else None
                if opening and any((reference.law_ids, reference.number) in asked for reference in about):
                    found.append(self.article_result(opening, day))
        return found

    def _look_up(self, reference: LawReference, day: str) -> tuple[list[LawDetails], list[Fact]]:
        store = self.index.store
        law_ids = reference.law_ids
        if len(law_ids) > 1:
            if not reference.certain:  # 消费税法 is none of the laws that are called 税法
                return [], [_unknown_law(reference)]
            # Amendments of the constitution number on: only one of them has the article.
            law_ids = tuple(
                law_id
                for law_id in law_ids
                if (version := best_for(store.versions_of(law_id), day)) and store.articles(version, reference.number)
            )
        if len(law_ids) != 1:
            laws = [f"《{store.laws[law_id].name}》" for law_id in reference.law_ids]
            return [], [Fact("law.ambiguous", name=reference.law_name, laws=laws)]
        law = store.laws[law_ids[0]]
        certain = reference.certain and len(reference.law_ids) == 1
        said = without_references(reference.law_name)
        notes = [] if certain else [Fact("law.taken_as_law", law=law.name, name=said)]
        versions = reference.edition.of(store.versions_of(law.id), day)
        if not versions:
            repealed = [] if store.versions_of(law.id) else [self.law_result(law, day)]
            return repealed, [self.standing.no_text(law, day, reference.edition.label)]
        if reference.unreadable:
            return [], [Fact("law.unreadable_number", law=law.name, number=reference.unreadable)]
        if reference.edition.age is Age.BOTH and len(versions) == 1:
            notes.append(self.standing.no_text(law, day))
        results: list[LawDetails] = []
        for version in versions:
            articles = store.articles(version, reference.number, reference.last)
            results += [found for one in articles for found in self._shown.with_changes(one, day, reference=reference)]
            if not articles:
                notes.append(self.standing.no_article(version, reference))
                continue
            if reference.last is None and len(articles) > 1:
                label = article_label(reference.number)
                notes.append(Fact("law.several_of_number", law=law.name, count=len(articles), number=label))
            notes += self.standing.missing(version, reference)
            notes += self.standing.before_its_time(version, reference.edition)
        return results, notes

    def _by_name(self, query: str, day: str, dated: Dated) -> Answer | None:
        """Answer a query that is the name of a law, or words that names of laws hold."""

        def law_of(text: str) -> LawReference | None:
            law = law_named(text, self.index.names.find)
            return law and dated(law)

        named = law_of(query)
        whole = named or law_of(_ABOUT_THE_LAW.sub("", query))
        if whole is not None and whole.law_ids and (named is None or named.edition != CURRENT):
            return self._as_a_whole(query, [whole], day)
        if whole is not None and whole.mention is LawMention.UNKNOWN:
            return Answer(query, (), (_other_jurisdiction(whole),))
        several = [law_of(part) for part in _BETWEEN_NAMES.split(query)]
        if len(several) > 1 and all(several):
            return self._as_a_whole(query, [law for law in several if law], day)
        quoted = bool(_QUOTED.match(query))
        bare = folded(query).strip("《》")
        exact = named.law_ids if named else ()
        alone = _LAW_LIST.match(query) and (quoted or looks_like_law(bare))
        if not exact and not alone and not _SURELY_A_NAME.search(bare):
            return None
        found = tuple(dict.fromkeys((*exact, *self.index.names.containing(bare))))
        if not found:
            if quoted or _SURELY_A_NAME.search(bare):
                return Answer(query, (), (Fact("law.no_document", name=bare),))
            return None
        return Answer(query, tuple(self.law_result(self.index.store.laws[law_id], day) for law_id in found), final=True)

    def _as_a_whole(self, query: str, named: Sequence[LawReference], day: str) -> Answer:
        """Answer a question for laws as a whole, in the editions that it names."""
        results: list[LawDetails] = []
        notes: list[Fact] = []
        for reference in named:
            if not reference.law_ids:
                notes.append(_other_jurisdiction(reference))
            for law_id in reference.law_ids:
                law, held = self.index.store.laws[law_id], self.index.store.versions_of(law_id)
                versions = reference.edition.of(held, day)
                results += (self.law_result(law, day, version=version) for version in versions)
                notes += (note for one in versions for note in self.standing.before_its_time(one, reference.edition))
                if not versions and held:
                    notes.append(self.standing.no_text(law, day, reference.edition.label))
                elif not versions:
                    results.append(self.law_result(law, day))
        return Answer(query, tuple(results), tuple(notes), final=not notes)  # other editions may be on the web

    def _name_of(self, law: LawReference) -> str:
        """Return how a law that was read is called: by its own name where it is known, not by what was read."""
        known = [self.index.store.laws[law_id].name for law_id in law.law_ids]
        return known[0].removeprefix(STATE) if len(known) == 1 else law.law_name

    def _as_of(self, reference: LawReference, day: str) -> LawReference:
        """Read a day as a question reads a year: before the first text that is held, that edition is asked for."""
        versions = [version for law_id in reference.law_ids for version in self.index.store.versions_of(law_id)]
        if reference.edition != CURRENT or not versions or any(version.effective <= day for version in versions):
            return reference
        return replace(reference, edition=Edition(day=day))

    def article_result(self, article: Article, day: str, *, reference: LawReference | None = None) -> LawDetails:
        """Return an article as it is shown."""
        return self._shown.article_result(article, day, reference=reference)

    def law_result(self, law: Law, day: str, *, version: LawVersion | None = None) -> LawDetails:
        """Return a law as it is shown, without the text of an article."""
        return self._shown.law_result(law, day, version=version)

    @property
    def _shown(self) -> Shown:
        return Shown(self.index)

    @property
    def standing(self) -> Standing:
        """How the laws of the index stand."""
        return Standing(self.index.store)


def _each_once(notes: Sequence[Fact]) -> tuple[Fact, ...]:
    return tuple(note for place, note in enumerate(notes) if note not in notes[:place])


def _in_chinese(words: str) -> tuple[str, tuple[Fact, ...]]:
    """Return the question in Chinese where it names a law in English, with what has to be said about that."""
    meant = from_english(words)
    if meant is None:
        return words, ()
    question, certain = meant
    return question, () if certain else (Fact("law.in_chinese", question=question),)


def _not_theirs(question: str, answer: Answer) -> tuple[Fact, ...]:
    """Say that a question which speaks of another jurisdiction is answered with our law: 刑法第199条 我在日本留学."""
    meant = read_as_ours(question)
    if meant is None or not answer.results:
        return ()
    place, ours = meant
    named = [str(note.values.get(name, "")) for note in answer.notes for name in ("law", "name", "question")]
    told = any(place in text for text in (*named, *(result.law_name for result in answer.results)))
    return () if told else (Fact("law.as_ours", ours=ours, place=place),)


def _other_jurisdiction(reference: LawReference) -> Fact:
    return Fact("law.other_jurisdiction", law=reference.law_name)


def _label(reference: LawReference) -> str:
    return reference.unreadable or article_label(reference.number)


def _unknown_law(reference: LawReference) -> Fact:
    label = _label(reference)
    if reference.mention is LawMention.SELF:
        return Fact("law.which_law_itself", numbers=label)
    if reference.mention is LawMention.NONE:
        return Fact("law.which_law_of_number", numbers=label)
    name = without_references(reference.law_name)
    if names_nothing(name):  # what stands before the number names no law: 有关规定第3条
        return Fact("law.which_law_of_number", numbers=label)
    code = "law.unknown_document" if names_document(name) and not name.endswith("法") else "law.unknown_law"
    return Fact(code, law=name, numbers=label)

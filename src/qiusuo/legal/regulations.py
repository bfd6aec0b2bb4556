"""``regulationSearch``: an article by its number, laws by their name, articles by words."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date

from qiusuo.errors import InvalidQuery
from qiusuo.legal.addresses import address_of
from qiusuo.legal.cited import BRIEF_CHARS, cited_articles
from qiusuo.legal.index import LegalIndex
from qiusuo.legal.models import Article, DateBasis, Law, LawKind, LawVersion, Validity
from qiusuo.legal.names import looks_like_law, name_key
from qiusuo.legal.numbers import article_label, folded
from qiusuo.legal.paragraphs import Piece, pieces_of
from qiusuo.legal.ranking import question_tokens
from qiusuo.legal.references import LawMention, Reference, find_references
from qiusuo.legal.results import LegalAnswer, RegulationResult
from qiusuo.legal.validity import best_for, validity
from qiusuo.legal.wording import legal_pairs
from qiusuo.text import truncate

DEFAULT_LIMIT = 10
MAX_LIMIT = 50
MAX_QUERY_CHARS = 4000
# With less of the question's pairs of characters than this, a hit has nothing to do with it.
LEAST_COVERAGE = 0.05
_LAW_LIST = re.compile(r"^(?:《[^》]+》?|[^\s,。?？!！]{2,40})$")
# 工伤保险条例 is a name, 关于试用期的规定 a question: a name that the index lacks is not answered with other laws.
_SURELY_A_NAME = re.compile(
    r"^(?!.*(?:关于|有关|[的和与])).{2,}(?:条例|实施细则|(?:管理|实施|暂行|试行|处罚|监督|登记|征收)(?:办法|规定|规则|条例))$"
)
Answer = LegalAnswer[RegulationResult]


def check_query(query: str, limit: int) -> str:
    """Return the query with its blanks folded.

    Raises:
        InvalidQuery: it is empty or far too long, or the limit is not positive.
    """
    words = " ".join(query.split())
    if not words:
        raise InvalidQuery("The query is empty.", fix="Give a law, an article or the words to search for.")
    if len(words) > MAX_QUERY_CHARS:
        raise InvalidQuery(f"The query is longer than {MAX_QUERY_CHARS} characters.", fix="Shorten it.")
    if limit < 1:
        raise InvalidQuery(f"The number of results must be at least 1, not {limit}.", fix=f"Use 1 to {MAX_LIMIT}.")
    return words


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
        raise InvalidQuery(f"{name}: {value!r} is no day.", fix="Write days as 2021-01-01.") from None


@dataclass(frozen=True, slots=True)
class RegulationSearch:
    """Answers from one index."""

    index: LegalIndex
    today: Callable[[], date] = date.today

    def search(self, query: str, as_of: str | None = None, limit: int = DEFAULT_LIMIT) -> Answer:
        """Find articles or laws, as they stand on a day.

        Raises:
            InvalidQuery: the query, the day or the limit cannot be used.
        """
        started = time.perf_counter()
        words = check_query(query, limit)
        day = check_day(as_of, self.today())
        references = find_references(words, self.index.names.find)
        if any(reference.mention is not LawMention.NONE for reference in references):
            answer = self._by_number(words, references, day)
        elif references:
            answer = self._number_without_law(words, references, day, limit)
        else:
            answer = self._by_name(words, day) or self._by_words(words, day, min(limit, MAX_LIMIT))
        elapsed = round((time.perf_counter() - started) * 1000)
        return replace(answer, results=answer.results[: min(limit, MAX_LIMIT)], search_time=elapsed)

    def _by_number(self, query: str, references: list[Reference], day: str) -> Answer:
        results: list[RegulationResult] = []
        notes: list[str] = []
        unknown = False
        for reference in references:
            if reference.mention is LawMention.NAMED:
                found, said = self._look_up(reference, day)
                results += found
                notes += said
            else:
                unknown = unknown or reference.mention is LawMention.UNKNOWN
                notes.append(_unknown_law(reference))
        unique = {(result.law_name, result.article_number, result.version): result for result in results}
        return Answer(query, tuple(unique.values()), tuple(dict.fromkeys(notes)), final=not unknown)

    def _number_without_law(self, query: str, references: list[Reference], day: str, limit: int) -> Answer:
        """Answer a number without a law right before it: another place of the question may name one."""
        rest = folded(query)
        for reference in references:
            rest = rest.replace(rest[reference.start : reference.end], " ") if reference.end <= len(rest) else rest
        laws = [
            law_ids for part in re.split(r"[\s,，。;；]+|中|关于|的", rest) if (law_ids := self.index.names.find(part))
        ]
        if len(laws) == 1:
            named = [replace(found, mention=LawMention.NAMED, law_ids=laws[0]) for found in references]
            return self._by_number(query, named, day)
        numbers = "、".join(article_label(reference.number) for reference in references)
        note = f"没有指明是哪部法律的{numbers}，以下按文字检索；请写明法律名称，例如“民法典{numbers}”。"
        found = self._by_words(query, day, limit)
        return replace(found, notes=(note, *found.notes))

    def _look_up(self, reference: Reference, day: str) -> tuple[list[RegulationResult], list[str]]:
        if len(reference.law_ids) > 1:
            names = "、".join(f"《{self.index.store.laws[law_id].name}》" for law_id in reference.law_ids)
            return [], [f"“{reference.law_name}”可指{names}，请写全名。"]
        law = self.index.store.laws[reference.law_ids[0]]
        versions = self.index.store.versions_of(law.id)
        version = best_for(versions, day, reference.year)
        if version is None:
            repealed = [] if versions else [self.law_result(law, day)]
            return repealed, [self._no_text(law, reference)]
        articles = self.index.store.articles(version, reference.number, reference.last)
        if not articles:
            return [], [self._no_article(version, reference)]
        notes = (
            []
            if reference.certain
            else [f"按《{law.name}》理解“{reference.law_name}”；如指另一部法律，请用书名号写全名。"]
        )
        if reference.last is None and len(articles) > 1:
            notes.append(f"《{law.name}》中有 {len(articles)} 个{article_label(reference.number)}，全部列出。")
        return [self.article_result(article, day, reference=reference) for article in articles], notes

    def _no_text(self, law: Law, reference: Reference) -> str:
        repeal = self.index.store.repeals.get(law.id)
        versions = self.index.store.versions_of(law.id)
        if versions:
            days = "、".join(version.published or "日期不详" for version in versions)
            return f"索引中没有《{law.name}》{reference.year}年的版本，已有：{days}。"
        if repeal is not None:
            return (
                f"《{law.name}》{Validity.REPEALED}（{repeal.date or '日期不详'}），由《{repeal.successor}》取代；"
                f"索引中没有它的条文，未用其他法律的同号条文代替。"
            )
        return f"索引中没有《{law.name}》的条文。"

    def _no_article(self, version: LawVersion, reference: Reference) -> str:
        first, last = self.index.store.numbers(version)
        asked = article_label(reference.number) + (f"至{article_label(reference.last)}" if reference.last else "")
        reach = f"条文为第{first}条至第{last}条" if last else "没有编号的条文"
        return f"《{version.law.name}》（{version.published or '日期不详'}）没有{asked}；{reach}。"

    def _by_name(self, query: str, day: str) -> Answer | None:
        """Answer a query that is the name of a law, or words that names of laws hold."""
        quoted = query.startswith("《")
        bare = query.strip("《》")
        exact = self.index.names.find(bare)
        if not exact and not (_LAW_LIST.match(query) and (quoted or looks_like_law(bare))):
            return None
        found = tuple(dict.fromkeys((*exact, *self.index.names.containing(bare))))
        if not found:
            if quoted or _SURELY_A_NAME.search(bare):
                return Answer(query, (), (f"索引中没有名为《{bare}》的法律。",))
            return None
        return Answer(query, tuple(self.law_result(self.index.store.laws[law_id], day) for law_id in found), final=True)

    def _by_words(self, query: str, day: str, limit: int) -> Answer:
        hits = self.index.rank_articles(query, limit, self.index.versions_in_force(day))
        articles = self.index.store.articles_by_id([hit.id for hit in hits])
        if not articles or _coverage(query, articles[:3]) < LEAST_COVERAGE:
            return Answer(query, (), ("索引中没有相关条文。",))
        results = (
            replace(self.article_result(article, day), score=hit.score)
            for article, hit in zip(articles, hits, strict=True)
        )
        return Answer(query, tuple(results))

    def article_result(self, article: Article, day: str, *, reference: Reference | None = None) -> RegulationResult:
        """Return an article as it is shown."""
        version = article.version
        piece = pieces_of(article.text, reference.paragraphs, reference.items) if reference else Piece()
        label = article_label(article.number) if article.number and "条目" not in article.label else article.label
        base = self.law_result(version.law, day, version=version)
        return replace(
            base,
            article_number=label,
            content=article.text,
            chapter=" ".join(article.headings),
            url=address_of(version.law.name, label, version),
            excerpt=piece.text,
            cited=cited_articles(self.index.store, article, day),
            notes=(*base.notes, *piece.notes),
        )

    def law_result(self, law: Law, day: str, *, version: LawVersion | None = None) -> RegulationResult:
        """Return a law as it is shown, without the text of an article."""
        store = self.index.store
        versions = store.versions_of(law.id)
        version = version or best_for(versions, day)
        repeal = store.repeals.get(law.id)
        if version is None:
            note = self._no_text(law, Reference(_NO_NUMBER, LawMention.NAMED))
            status = Validity.REPEALED.value if repeal else ""
            successor, url = repeal.successor if repeal else "", address_of(law.name)
            return RegulationResult(law.name, "", note, "", "", status=status, successor=successor, url=url)
        state = validity(version, versions, repeal, day)
        opening = store.opening(version)
        span = f"共 {version.article_count} 条。" if version.article_count > 1 else ""
        notes = _date_notes(version) + self._status_notes(version, state, day)
        return RegulationResult(
            law_name=law.name,
            article_number="",
            content=span + (truncate(opening.text, BRIEF_CHARS * 2) if opening else ""),
            effective_date=version.effective,
            source=version.source,
            status=state.value,
            version=version.published,
            url=address_of(law.name, "", version),
            successor=repeal.successor if repeal and state is Validity.REPEALED else "",
            notes=tuple(notes),
        )

    def _status_notes(self, version: LawVersion, state: Validity, day: str) -> list[str]:
        store = self.index.store
        repeal = store.repeals.get(version.law.id)
        if state is Validity.REPEALED:
            by = f"，由《{repeal.successor}》取代" if repeal else ""
            since = f"（自 {repeal.date} 起）" if repeal and repeal.date else ""
            return [f"《{version.law.name}》已废止{since}{by}。"]
        if state is Validity.NOT_YET:
            return [f"本版本自 {version.effective} 起施行，目前尚未生效。"]
        if state is Validity.AMENDED:
            newer = best_for(store.versions_of(version.law.id), day)
            if newer is not None and newer.id != version.id:
                return [f"已有新版本（{newer.published} 公布，{newer.effective} 起施行）。"]
            by = "、".join(f"《{name}》" for name in self._amendments_after(version))
            return [f"此版本已被{by or '后来的立法'}修改，索引中没有修改后的文本。"]
        coming = [other for other in store.versions_of(version.law.id) if other.effective > day]
        return [f"新版本（{other.published} 公布）自 {other.effective} 起施行。" for other in coming]

    def _amendments_after(self, version: LawVersion) -> list[str]:
        """Return the amendments of a law that are younger than a version of it."""
        return [
            other.law.name
            for other in self.index.store.versions.values()
            if other.law.kind in {LawKind.AMENDMENT, LawKind.AMENDING_DECISION}
            and version.law.name in other.law.name
            and other.published > version.published
        ]


_NO_NUMBER = find_references("第一条", lambda _name: ())[0].number


def _unknown_law(reference: Reference) -> str:
    label = article_label(reference.number)
    if reference.mention is LawMention.SELF:
        return f"“本法{label}”没有指明是哪部法律，请写明法律名称。"
    return f"索引中没有“{reference.law_name}”，未用其他法律的{label}代替。"


def _date_notes(version: LawVersion) -> list[str]:
    if version.basis is DateBasis.PUBLISHED:
        return ["来源未给出本版本的施行日期，以公布日期代替。"]
    return ["来源未给出版本日期。"] if version.basis is DateBasis.UNKNOWN else []


def _coverage(question: str, articles: list[Article]) -> float:
    """Return how much of the question, its pairs of characters or the law's for them, one of the articles holds."""
    pairs = {token for token in question_tokens(question) if len(token) > 1}
    if not pairs:
        return 1.0
    meant = pairs.union(legal_pairs(question))
    texts = (article.text + " ".join(article.headings) + name_key(article.version.law.name) for article in articles)
    return max(sum(pair in text for pair in meant) for text in texts) / len(meant)

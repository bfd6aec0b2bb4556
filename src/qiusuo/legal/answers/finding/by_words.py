"""Articles by words: ranked ones of the versions in force, those of a named crime first, and what they are worth."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from qiusuo.legal.answers.finding.consequences import consequences_first
from qiusuo.legal.answers.finding.floor import Match, match_of
from qiusuo.legal.answers.finding.missing import as_related
from qiusuo.legal.answers.results import NO_ARTICLE, LawDetails, LegalAnswer
from qiusuo.legal.answers.shown import Shown, first, once
from qiusuo.legal.index.handle import LegalIndex
from qiusuo.legal.index.wording import documents_for
from qiusuo.legal.models import Article
from qiusuo.legal.reading.mentions import laws_in
from qiusuo.legal.recognising.crimes import CRIMINAL_LAW, crime_articles
from qiusuo.words import Fact

MOST_RELATED = 3
NOT_ANSWERED = Fact("law.not_answered")


@dataclass(frozen=True, slots=True)
class WordSearch:
    """Searches one index by words."""

    index: LegalIndex

    @property
    def _shown(self) -> Shown:
        return Shown(self.index)

    def search(self, query: str, day: str, limit: int) -> LegalAnswer[LawDetails]:
        """Return the articles that answer a question; below the floor the nearest ones, told as related."""
        in_force = self.index.versions_in_force(day)
        named = [found for one in self._crimes(query, in_force) for found in self._shown.with_changes(one, day)]
        hits = self.index.rank_articles(query, limit, in_force)
        articles = self.index.store.articles_by_id([hit.id for hit in hits])
        match = match_of(query, articles, self.index)
        if match is Match.NOTHING or (match is Match.RELATED and named):
            return LegalAnswer(query, once(named), () if named else (NO_ARTICLE,))
        scores = {article.id: hit.score for article, hit in zip(articles, hits, strict=True)}
        ranked = [
            found
            for article in consequences_first(query, articles)
            for found in self._shown.with_changes(article, day, score=scores[article.id])
        ]
        notes = (*self._gone(query, day), *self._shown.standing.few_in_force(day))
        if elsewhere := self._elsewhere(query):
            return LegalAnswer(query, as_related(first(once([*named, *ranked]), limit)), (*elsewhere, *notes))
        if match is Match.RELATED:
            return LegalAnswer(query, as_related(first(once(ranked), min(MOST_RELATED, limit))), (*notes, NOT_ANSWERED))
        return LegalAnswer(query, first(once([*named, *ranked]), limit), notes)

    def related(self, query: str, day: str, limit: int) -> tuple[LawDetails, ...]:
        """Return the articles that are near a question which they do not answer."""
        found = self.search(query, day, min(MOST_RELATED, limit)).results
        return tuple(result for result in found if result.related) or as_related(found)

    def _gone(self, query: str, day: str) -> list[Fact]:
        """Say of the laws that a question names which of them have no text here: 婚姻法 彩礼."""
        store = self.index.store
        named = [law_id for law in laws_in(query, self.index.names.find) for law_id in law.law_ids]
        return [self._shown.standing.gone(store.laws[law_id], day) for law_id in named if not store.versions_of(law_id)]

    def _elsewhere(self, query: str) -> list[Fact]:
        """Name the documents which answer such a question and are not here: 上班路上摔伤算工伤吗."""
        if [*laws_in(query, self.index.names.find)]:  # the question says itself which law it means
            return []
        return [
            Fact("law.told_elsewhere", name=name) for name in documents_for(query) if not self.index.names.find(name)
        ]

    def _crimes(self, query: str, in_force: Collection[int]) -> list[Article]:
        """Return the articles on the crimes that a question names: exact, so no ranking puts others before them."""
        store = self.index.store
        versions = [
            version
            for law_id in self.index.names.find(CRIMINAL_LAW)
            for version in store.versions_of(law_id)
            if version.id in in_force
        ]
        return [
            article
            for number in crime_articles(query)
            for version in versions
            for article in store.articles(version, number)
        ]

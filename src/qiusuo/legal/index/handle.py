"""One generation of the index, opened: the store, the names, and ranking over articles and judgments."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import date
from pathlib import Path
from types import MappingProxyType

from qiusuo.errors import ConfigurationError
from qiusuo.legal.answers.validity import in_force, repealed
from qiusuo.legal.index.asked import AskedIndex
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.index.places import NATIONAL, place_of, places_in, subjects_of
from qiusuo.legal.index.ranking import Fields, Filters, RankingBackend, TantivyBackend, fact_tokens, own_tokens, tokens
from qiusuo.legal.index.schema import RANKING_VERSION
from qiusuo.legal.index.semantic import Vectors
from qiusuo.legal.index.store import LegalStore
from qiusuo.legal.index.wording import fitted, widened
from qiusuo.legal.models import Hit, LawKind, LawVersion
from qiusuo.legal.reading.mentions import as_question, laws_in
from qiusuo.legal.reading.names import NameTable
from qiusuo.words import Fact

ARTICLE_FIELDS = Fields(ranked=("text", "headings", "law"), exact=("of_law", "place"))
ARTICLE_WEIGHTS: Mapping[str, float] = MappingProxyType({"text": 1.0, "headings": 0.3, "law": 0.1})
CASE_FIELDS = Fields(ranked=("facts", "rest"), exact=("type",), parts=("court",), days=("day",), numbered=True)
CASE_WEIGHTS: Mapping[str, float] = MappingProxyType({"facts": 1.0, "rest": 0.3})
# A description of facts is compared with facts alone; key words may as well stand in the verdict.
FACTS_WEIGHTS: Mapping[str, float] = MappingProxyType({"facts": 1.0})
FACTS_CHARS = 60
# What so large a share of all documents says (的, 应当; 被告人) tells little between them and costs much of the time.
COMMON_IN_ARTICLES = 0.3
COMMON_IN_JUDGMENTS = 0.5
CANDIDATES = 300
LARGE_INDEX = 25_000
"""Articles: a word that none of so many has is as rare as a word can be, however many there are."""
# Tuned on the train part of STARD by cross-validation (see docs/legal.md); none of them knows a single law.
PRIOR_WEIGHTS = (0.1, 0.05, 0.3)
"""Of a law's level, of how many laws cite it, and of its size."""
SIZE_CAP = 250
SEMANTIC_WEIGHT = 1.25
# Of how like a question is to those that were written for an article. Squared: that some words agree is chance.
ASKED_BY_WORDS = 12.0
ASKED_BY_MEANING = 8.0
MOST_BY_WORDS = 3.5
"""A few words are found whole in many questions: that shall not outweigh the law that a question names."""
# Set by hand. What a place has made has no vectors; how near it is is guessed by its words.
OF_NAMED_LAW = 4.0
ON_ITS_SUBJECT = 0.3
WHY_IT_WAS_MADE = -0.3
OF_ITS_PLACE = 0.3
OF_SOME_PLACE = -1.0
_CORE_KINDS = frozenset({LawKind.CONSTITUTION, LawKind.STATUTE, LawKind.JUDICIAL_INTERPRETATION})


def law_features(kind: LawKind, cited_by: int, article_count: int) -> tuple[float, float, float]:
    """Return what makes a law likely to hold an answer at all: its level, how many laws cite it, how much it covers."""
    size = math.log(max(1, min(article_count, SIZE_CAP))) / math.log(SIZE_CAP)
    return float(kind in _CORE_KINDS), math.log1p(cited_by), size


def law_prior(kind: LawKind, cited_by: int, article_count: int) -> float:
    """Return how likely a law is to hold an answer at all."""
    features = law_features(kind, cited_by, article_count)
    return sum(weight * feature for weight, feature in zip(PRIOR_WEIGHTS, features, strict=True))


def nearness_by_words(score: float) -> float:
    """Return about how near articles are whose words fit so well, relative to the nearest."""
    return 0.6 + 0.35 * score


def _relative(scores: Mapping[int, float]) -> dict[int, float]:
    best = max(scores.values(), default=1.0)
    return {article_id: score / best for article_id, score in scores.items()}


class LegalIndex:
    """An opened index. All that may change is that its vectors come; safe to share between threads."""

    def __init__(self, generation: Path) -> None:
        self.generation = generation
        self.store = LegalStore(generation)
        if self.store.meta("ranking_version") != str(RANKING_VERSION):
            self.store.close()
            raise ConfigurationError(Fact("legal.other_ranking"), commands=("qiusuo legal rebuild",))
        self.names = NameTable.build((law.id, law.name) for law in self.store.laws.values())
        self._articles: RankingBackend = TantivyBackend(generation / "articles", ARTICLE_FIELDS)
        self._cases: RankingBackend = TantivyBackend(generation / "cases", CASE_FIELDS)
        self.asked: AskedIndex | None = AskedIndex(generation / "asked")
        self._version_of = self.store.version_ids()
        self._priors = {
            version.id: law_prior(version.law.kind, self.store.cited_by[version.law.id], version.article_count)
            for version in self.store.versions.values()
        }
        places = {version.id: place_of(version.law) for version in self.store.versions.values()}
        self._local_versions = frozenset(version for version, place in places.items() if place != NATIONAL)
        self._local = frozenset(places[version] for version in self._local_versions)
        self._purposes = self.store.purposes()
        self._subjects = subjects_of(self.store.laws.values())
        self._pages = {version.url: version for version in self.store.versions.values() if version.url}
        self.vectors = Vectors.open(generation)
        self.wording = fitted()

    def look_for_vectors(self) -> None:
        """Open the vectors if they have come since; ranking is by words until then."""
        if self.vectors is None:
            self.vectors = Vectors.open(self.generation)

    def close(self) -> None:
        """Close the files."""
        self.store.close()

    def version_at(self, page: str) -> LawVersion | None:
        """Return the version whose source named this page."""
        return self._pages.get(page)

    def versions_in_force(self, day: str) -> frozenset[int]:
        """Return the versions that hold on ``day``: the newest of each law that is not repealed.

        A law that only its source calls repealed, without a day or a reason, is among them: a note says so.
        """
        found: set[int] = set()
        for law in self.store.laws.values():
            version = in_force(self.store.versions_of(law.id), day)
            if version is not None and not repealed(self.store.repeals.get(law.id), day):
                found.add(version.id)
        return frozenset(found)

    def rank_articles(
        self, question: str, limit: int, versions: Collection[int] | None = None, *, semantic: bool = True
    ) -> list[Hit]:
        """Return the articles that fit a question best, only those of the given versions.

        Those of a law that the question names come first. What a place has made comes before national law where the
        question names that place, and behind it where it names none.
        """
        ranked: dict[int, Hit] = {}
        for law_id, rest in self._named(question):
            words = self.word_scores(rest, limit, {"of_law": str(law_id)})
            for hit in self._scored(rest, words, versions, dict.fromkeys(words, OF_NAMED_LAW), semantic=semantic):
                ranked.setdefault(hit.id, hit)
        words, local = self._by_place(question, max(CANDIDATES, limit))
        for hit in self._scored(question, words, versions, local, semantic=semantic, anywhere=True):
            ranked.setdefault(hit.id, hit)
        return sorted(ranked.values(), key=lambda hit: (-hit.score, hit.id))[:limit]

    def _named(self, question: str) -> Iterator[tuple[int, str]]:
        """Yield each law that a question names, with the rest of the question, where there is more to it."""
        text = as_question(question)
        laws = [law for law in laws_in(text, self.names.find) if law.certain]
        rest = text
        for law in sorted(laws, key=lambda law: -law.start):
            rest = f"{rest[: law.start]} {rest[law.end :]}"
        if own_tokens(rest):
            yield from ((law_id, rest) for law in laws for law_id in law.law_ids if self.store.versions_of(law_id))

    def _by_place(self, question: str, limit: int) -> tuple[dict[int, float], dict[int, float]]:
        """Return the articles that share words with a question, and of those that a place has made what that counts."""
        if not self._local:
            return self.word_scores(question, limit), {}
        asked = places_in(question, self._local)
        scopes = [{"place": NATIONAL}, *({"place": place} for place in asked)] if asked else [{"place": NATIONAL}, {}]
        found = [self._search(widened(question, self.wording), limit, scope) for scope in scopes]
        scores = _relative({hit.id: hit.score for hits in found for hit in hits})
        counts = OF_ITS_PLACE if asked else OF_SOME_PLACE
        return scores, {
            article_id: counts + (SEMANTIC_WEIGHT * nearness_by_words(score) if self.vectors is not None else 0.0)
            for article_id, score in scores.items()
            if self._version_of[article_id] in self._local_versions
        }

    def _scored(
        self,
        question: str,
        words: Mapping[int, float],
        versions: Collection[int] | None,
        counts: Mapping[int, float],
        *,
        semantic: bool,
        anywhere: bool = False,
    ) -> Iterator[Hit]:
        """Yield articles with their scores: of words, law, meaning, written questions, and what else ``counts``."""
        vectors = self.vectors if semantic else None
        asked = self.asked_counts(question, vectors)
        near = vectors.nearness(question, CANDIDATES, (*words, *asked)) if vectors is not None else {}
        about = {law_id for subject, laws in self._subjects.items() if subject in question for law_id in laws}
        for article_id in {**words, **near, **asked} if anywhere else words:
            version = self._version_of[article_id]
            if versions is None or version in versions:
                score = words.get(article_id, 0.0) + self._priors[version] + counts.get(article_id, 0.0)
                if self.store.versions[version].law.id in about:
                    score += ON_ITS_SUBJECT
                if article_id in self._purposes:
                    score += WHY_IT_WAS_MADE
                score += SEMANTIC_WEIGHT * near.get(article_id, 0.0) + asked.get(article_id, 0.0)
                yield Hit(article_id, score)

    def asked_counts(self, question: str, vectors: Vectors | None = None) -> dict[int, float]:
        """Return the articles that like questions were written for, with what that counts."""
        if self.asked is None:
            return {}
        likes = self.asked.likeness(question)
        counts = {article: min(MOST_BY_WORDS, ASKED_BY_WORDS * like**2) for article, like in likes.items()}
        for article, like in vectors.likeness(question).items() if vectors is not None else ():
            counts[article] = counts.get(article, 0.0) + ASKED_BY_MEANING * like**2
        return counts

    def word_scores(self, question: str, limit: int, filters: Mapping[str, str] | None = None) -> dict[int, float]:
        """Return the articles that share words with a question, with their scores relative to the best."""
        return _relative({hit.id: hit.score for hit in self._search(widened(question, self.wording), limit, filters)})

    def scores_of(
        self, words: Mapping[str, float], limit: int, weights: Mapping[str, float] = ARTICLE_WEIGHTS
    ) -> dict[int, float]:
        """Return the same for weighted words and weighted fields."""
        return _relative({hit.id: hit.score for hit in self._search(words, limit, weights=weights)})

    def _search(
        self,
        words: Mapping[str, float],
        limit: int,
        filters: Mapping[str, str] | None = None,
        weights: Mapping[str, float] = ARTICLE_WEIGHTS,
    ) -> list[Hit]:
        return self._articles.search(
            self._articles.without_common(words, "text", COMMON_IN_ARTICLES), weights, limit, filters
        )

    def rarity(self, word: str) -> float | None:
        """Return how much it tells that an article has a word: more, the fewer have it. None in a small index."""
        share = self._articles.share(word, "text")
        return None if share is None else -math.log(share + 1 / LARGE_INDEX)

    def case_rarity(self, word: str) -> float | None:
        """Return the same for judgments."""
        share = self._cases.share(word, "facts")
        return None if share is None else -math.log(share + 1 / LARGE_INDEX)

    def prior_of(self, article_id: int) -> float:
        """Return the prior of the law that an article stands in."""
        return self._priors[self._version_of[article_id]]

    def rank_cases(self, words: str, limit: int, filters: Filters | None = None) -> list[Hit]:
        """Return the judgments that fit the words best, only those of a type, of a court or of a time."""
        if len(words) > FACTS_CHARS:
            said = dict.fromkeys(fact_tokens(words) or tokens(words), 1.0)
            facts = self._cases.without_common(said, "facts", COMMON_IN_JUDGMENTS)
            return self._cases.search(facts, FACTS_WEIGHTS, limit, filters)
        return self._cases.search(widened(words, {}), CASE_WEIGHTS, limit, filters)


class IndexHandle:
    """The index of a folder, opened on first use and again when a new generation is published."""

    def __init__(self, folder: IndexFolder, today: Callable[[], date] = date.today) -> None:
        self.folder = folder
        self.today = today
        self._lock = threading.Lock()
        self._opened: LegalIndex | None = None

    def is_there(self) -> bool:
        """Tell whether an index has been built."""
        return self.folder.current() is not None

    def get(self) -> LegalIndex:
        """Return the current index.

        Raises:
            ConfigurationError: there is none, or it cannot be used; the fix says what to run.
        """
        generation = self.folder.current()
        if generation is None:
            raise ConfigurationError(Fact("legal.none", path=self.folder.root), commands=("qiusuo legal install",))
        with self._lock:
            if self._opened is None or self._opened.generation != generation:
                # The former one is left to those who still read it.
                self._opened = self._open(generation)
            self._opened.look_for_vectors()
            return self._opened

    def _open(self, generation: Path) -> LegalIndex:
        try:
            return LegalIndex(generation)
        except ConfigurationError:
            # Writers may have published so often meanwhile that this one is gone.
            newer = self.folder.current()
            if newer is None or newer == generation:
                raise
            return LegalIndex(newer)

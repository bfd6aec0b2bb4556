"""Ranking by words. A backend takes documents of weighted text fields and gives ids with scores.

The embedded backend is tantivy. A cluster engine (OpenSearch, Elasticsearch with ``cjk_bigram``) can take its place: it
has to implement :class:`RankingBackend`, nothing else of legal search knows tantivy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from qiusuo.commands import install_command
from qiusuo.errors import ConfigurationError
from qiusuo.legal.models import Hit
from qiusuo.words import Fact

if TYPE_CHECKING:
    import tantivy

_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+|[a-z0-9]+")
# Words of questions that say nothing about their subject.
_ASKING = re.compile(
    r"请问|吗|呢|什么|怎么办|怎么|如何|是否|能否|可否|可不可以|能不能|是不是|有没有|哪些|怎样|为什么|多少|哪个|哪里|谁|应该|可以|需要|"
    r"我|你|他|她|了|的话|啊|吧|想|问"
)
MAX_QUERY_TOKENS = 1200
WRITER_MEMORY = 200_000_000
# What is committed survives a kill: a build of a million goes on there.
COMMIT_EVERY = 50_000
MOST_POSTINGS = 3_000_000
"""So many places of words are looked at for a question: some 100 ms."""
TELL_EVERY = 1000
_LAST_DAY = 99991231
# Below this, how many documents have a word says little about the word.
FEW_DOCUMENTS = 500


def tokens(text: str) -> list[str]:
    """Return characters and pairs of characters of Chinese text, and the words and numbers of the rest."""
    found: list[str] = []
    for run in _RUN.findall(text.lower()):
        if run[0] <= "z":
            found.append(run)
        else:
            found += run
            found += [run[place : place + 2] for place in range(len(run) - 1)]
    return found


def own_tokens(text: str) -> list[str]:
    """Return the tokens of a question without the words of asking."""
    return tokens(_ASKING.sub(" ", text))


def question_tokens(text: str) -> list[str]:
    """Return the same, all tokens if nothing else is left."""
    return _first(own_tokens(text) or tokens(text))


def fact_tokens(text: str) -> list[str]:
    """Return the tokens of a description of facts: its days, sums and numbers are those of one case, no likeness."""
    return _first(token for token in tokens(text) if not token.isascii())


def _first(found: Iterable[str]) -> list[str]:
    """Return each token once, and no more of them than a query may have."""
    return list(islice(dict.fromkeys(found), MAX_QUERY_TOKENS))


@dataclass(frozen=True, slots=True)
class Fields:
    """What documents have: text to rank by, and what they are filtered by.

    ``exact`` values are compared as a whole, of ``parts`` a stretch is enough (长沙 for a court), ``days`` are ranges.
    """

    ranked: tuple[str, ...]
    exact: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    days: tuple[str, ...] = ()
    numbered: bool = False
    """Whether single documents are looked at again: that costs a little of the disk."""


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document for ranking: its id in the store, its text by field, and what it is filtered by."""

    id: int
    fields: Mapping[str, str]
    filters: Mapping[str, str]


DayRange = tuple[str, str]
"""The first and the last day (2020-03-01), either may be empty. What has no day is in no range."""
Filters = Mapping[str, str | DayRange]


class RankingBackend(Protocol):
    """What ranks documents."""

    def search(
        self, words: Mapping[str, float], weights: Mapping[str, float], limit: int, filters: Filters | None = None
    ) -> list[Hit]:
        """Return the best documents for the tokens, only those that the filters admit.

        Each token has its weight, and so has each field. Of a filter by parts some may be returned that have the
        characters in another order.
        """

    def without_common(self, words: Mapping[str, float], field: str, share: float) -> Mapping[str, float]:
        """Return the tokens that at most this share of all documents has in a field.

        All are returned where few documents are there, or where none of the weightiest tokens would be left.
        """

    def share(self, word: str, field: str) -> float | None:
        """Return the share of all documents that have a token in a field; None where few documents are there."""


Documents = Callable[[int], Iterable[RankedDocument]]
"""Gives the documents in the order of their ids, without the first so many."""


class RankingBuilder(Protocol):
    """What builds an index for ranking."""

    def __call__(self, folder: Path, fields: Fields, documents: Documents, tell: Callable[[int], None]) -> int:
        """Build the index in ``folder``, or go on with the one there, and return how many documents it has."""


def load_tantivy() -> None:
    """Check that the embedded backend is installed.

    Raises:
        ConfigurationError: it is not.
    """
    try:
        import tantivy  # noqa: F401, PLC0415 - only looked for; an extra
    except ImportError:
        raise ConfigurationError(Fact("legal.no_tantivy"), commands=(install_command("qiusuo[legal]"),)) from None


def build_tantivy(
    folder: Path, fields: Fields, documents: Documents, tell: Callable[[int], None] = lambda _count: None
) -> int:
    """Build a tantivy index, or go on with one: what was committed has the first documents, in their order."""
    load_tantivy()
    import tantivy  # noqa: PLC0415 - an extra

    folder.mkdir(parents=True, exist_ok=True)
    index = tantivy.Index(_schema(fields), path=str(folder))
    index.register_tokenizer("words", _analyzer())
    count = index.searcher().num_docs
    # One thread: the same documents give the same segments, and so the same index.
    writer = index.writer(heap_size=WRITER_MEMORY, num_threads=1)
    for document in documents(count):
        writer.add_document(_made(document, fields))
        count += 1
        if count % COMMIT_EVERY == 0:
            writer.commit()
            tell(count)
        elif count % TELL_EVERY == 0:
            tell(count)
    writer.commit()
    writer.wait_merging_threads()
    return count


def ranked_count(folder: Path) -> int:
    """Return how many documents an index has; one that is not there, or half made, has none."""
    load_tantivy()
    import tantivy  # noqa: PLC0415 - an extra

    try:
        return int(tantivy.Index.open(str(folder)).searcher().num_docs)
    except (ValueError, OSError):
        return 0


def _made(document: RankedDocument, fields: Fields) -> tantivy.Document:
    import tantivy  # noqa: PLC0415 - an extra

    made = tantivy.Document()
    made.add_unsigned("id", document.id)
    for name in fields.ranked:
        made.add_text(name, " ".join(tokens(document.fields.get(name, ""))))
    for name in fields.exact:
        made.add_text(name, document.filters[name])
    for name in fields.parts:
        made.add_text(name, " ".join(tokens(document.filters[name])))
    for name in fields.days:
        if day := _day_number(document.filters[name]):
            made.add_unsigned(name, day)
    return made


def _day_number(day: str) -> int:
    digits = day.replace("-", "")
    return int(digits) if len(digits) == len("20200301") and digits.isdecimal() else 0


class TantivyBackend:
    """A tantivy index, opened for reading; safe to share between threads."""

    def __init__(self, folder: Path, fields: Fields) -> None:
        load_tantivy()
        import tantivy  # noqa: PLC0415 - an extra

        self._fields = fields
        self._schema = _schema(fields)
        try:
            self._index = tantivy.Index.open(str(folder))
        except (ValueError, OSError) as error:
            raise ConfigurationError(
                Fact("legal.damaged", path=folder, words=str(error)), commands=("qiusuo legal rebuild",)
            ) from None
        self._index.register_tokenizer("words", _analyzer())
        self._searcher = self._index.searcher()

    def search(
        self, words: Mapping[str, float], weights: Mapping[str, float], limit: int, filters: Filters | None = None
    ) -> list[Hit]:
        telling = self._most_telling(words, weights)
        if not telling:
            return []
        found = self._hits([self._any_of(telling, weights), *self._admitted(filters or {})], limit)
        if len(telling) == len(words) or not found:
            return found
        # What the common words would have added is asked only of those that the telling ones have found.
        ids = tantivy_ids(self._schema, [hit.id for hit in found])
        return self._hits([self._any_of(words, weights), ids], limit)

    def _most_telling(self, words: Mapping[str, float], weights: Mapping[str, float]) -> Mapping[str, float]:
        """Return the rarest words: as many as can be looked up in time, however many documents there are."""
        costs = {word: sum(self._searcher.doc_freq(field, word) for field in weights) for word in words}
        if sum(costs.values()) <= MOST_POSTINGS:
            return words
        kept: dict[str, float] = {}
        spent = 0
        for word in sorted(words, key=lambda word: costs[word] / words[word]):
            spent += costs[word]
            if spent > MOST_POSTINGS and kept:
                break
            kept[word] = words[word]
        return kept

    def _any_of(self, words: Mapping[str, float], weights: Mapping[str, float]) -> tantivy.Query:
        """Return one flat list of words and fields: the search can skip what cannot come to the top in no other."""
        import tantivy  # noqa: PLC0415 - an extra

        return tantivy.Query.boolean_query(
            [
                (tantivy.Occur.Should, _weighted(tantivy.Query.term_query(self._schema, field, word), weight * own))
                for word, own in words.items()
                for field, weight in weights.items()
            ]
        )

    def _hits(self, parts: list[tantivy.Query], limit: int) -> list[Hit]:
        """Return the best documents that match all of the parts."""
        query = parts[0]
        for part in parts[1:]:
            query = query.and_must_match(part)
        found = self._searcher.search(query, limit, count=False).hits
        ids = self._searcher.fast_field_values("id", [address for _, address in found])
        return [Hit(int(doc or 0), float(score)) for (score, _), doc in zip(found, ids, strict=True)]

    def _admitted(self, filters: Filters) -> Iterator[tantivy.Query]:
        """Yield what a document must match; none of it counts for its score."""
        import tantivy  # noqa: PLC0415 - an extra

        for name, value in filters.items():
            if isinstance(value, tuple):
                first, last = (_day_number(day) or None for day in value)
                kind = tantivy.FieldType.Unsigned
                found = [tantivy.Query.range_query(self._schema, name, kind, first or 1, last or _LAST_DAY)]
            elif name in self._fields.parts:
                found = [tantivy.Query.term_query(self._schema, name, part) for part in _longest(value)]
            else:
                found = [tantivy.Query.term_query(self._schema, name, value)]
            yield from (tantivy.Query.const_score_query(one, 0.0) for one in found)

    def without_common(self, words: Mapping[str, float], field: str, share: float) -> Mapping[str, float]:
        if self._searcher.num_docs < FEW_DOCUMENTS:
            return words
        most = share * self._searcher.num_docs
        rare = {word: weight for word, weight in words.items() if self._searcher.doc_freq(field, word) <= most}
        # What weighs most is what was asked for: if nothing of it is left, the rest alone would be noise.
        return rare if max(rare.values(), default=0.0) >= max(words.values(), default=0.0) else words

    def share(self, word: str, field: str) -> float | None:
        count = self._searcher.num_docs
        return self._searcher.doc_freq(field, word) / count if count >= FEW_DOCUMENTS else None


def _weighted(query: tantivy.Query, weight: float) -> tantivy.Query:
    import tantivy  # noqa: PLC0415 - an extra

    return query if weight == 1 else tantivy.Query.boost_query(query, weight)


def tantivy_ids(schema: tantivy.Schema, ids: list[int]) -> tantivy.Query:
    """Return what matches the documents with these ids and counts nothing."""
    import tantivy  # noqa: PLC0415 - an extra

    return tantivy.Query.const_score_query(tantivy.Query.term_set_query(schema, "id", ids), 0.0)


def _longest(value: str) -> list[str]:
    """Return the pairs of characters of a value, a single character by itself."""
    found = list(dict.fromkeys(tokens(value)))
    return [token for token in found if len(token) > 1] or found


def _schema(fields: Fields) -> tantivy.Schema:
    import tantivy  # noqa: PLC0415 - an extra

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("id", fast=True, stored=False, indexed=fields.numbered)
    for name in fields.ranked:
        builder.add_text_field(name, stored=False, tokenizer_name="words", index_option="freq")
    for name in fields.exact:
        builder.add_text_field(name, stored=False, tokenizer_name="raw", index_option="basic")
    for name in fields.parts:
        builder.add_text_field(name, stored=False, tokenizer_name="words", index_option="basic")
    for name in fields.days:
        builder.add_unsigned_field(name, fast=True, stored=False, indexed=False)
    return builder.build()


def _analyzer() -> tantivy.TextAnalyzer:
    import tantivy  # noqa: PLC0415 - an extra

    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()

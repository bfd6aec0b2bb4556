"""Ranking by words. A backend takes documents of weighted text fields and gives ids with scores.

The embedded backend is tantivy. A cluster engine (OpenSearch, Elasticsearch with ``cjk_bigram``) can take its place: it
has to implement :class:`RankingBackend`, nothing else of legal search knows tantivy.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
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
class RankedDocument:
    """A document for ranking: its id in the store, its text by field, and exact values to filter by."""

    id: int
    fields: Mapping[str, str]
    filters: Mapping[str, str]


class RankingBackend(Protocol):
    """What ranks documents."""

    def search(
        self,
        words: Mapping[str, float],
        weights: Mapping[str, float],
        limit: int,
        filters: Mapping[str, str] | None = None,
    ) -> list[Hit]:
        """Return the best documents for the tokens, only those with the filters' values.

        Each token has its weight, and so has each field.
        """

    def without_common(self, words: Mapping[str, float], field: str, share: float) -> Mapping[str, float]:
        """Return the tokens that at most this share of all documents has in a field.

        All are returned where few documents are there, or where none of the weightiest tokens would be left.
        """

    def share(self, word: str, field: str) -> float | None:
        """Return the share of all documents that have a token in a field; None where few documents are there."""


class RankingBuilder(Protocol):
    """What builds an index for ranking."""

    def __call__(
        self, folder: Path, fields: Sequence[str], filters: Sequence[str], documents: Iterable[RankedDocument]
    ) -> int:
        """Build the index in ``folder`` and return how many documents it has."""


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
    folder: Path, fields: Sequence[str], filters: Sequence[str], documents: Iterable[RankedDocument]
) -> int:
    """Build a tantivy index; what an interrupted build left there is removed."""
    load_tantivy()
    import tantivy  # noqa: PLC0415 - an extra

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    index = tantivy.Index(_schema(fields, filters), path=str(folder))
    index.register_tokenizer("words", _analyzer())
    # One thread: the same documents give the same segments, and so the same index.
    writer = index.writer(heap_size=WRITER_MEMORY, num_threads=1)
    count = 0
    for document in documents:
        made = tantivy.Document()
        made.add_unsigned("id", document.id)
        for name, text in document.fields.items():
            made.add_text(name, " ".join(tokens(text)))
        for name, value in document.filters.items():
            made.add_text(name, value)
        writer.add_document(made)
        count += 1
    writer.commit()
    writer.wait_merging_threads()
    return count


class TantivyBackend:
    """A tantivy index, opened for reading; safe to share between threads."""

    def __init__(self, folder: Path, fields: Sequence[str], filters: Sequence[str]) -> None:
        load_tantivy()
        import tantivy  # noqa: PLC0415 - an extra

        self._schema = _schema(fields, filters)
        try:
            self._index = tantivy.Index.open(str(folder))
        except (ValueError, OSError) as error:
            raise ConfigurationError(
                Fact("legal.damaged", path=folder, words=str(error)), commands=("qiusuo legal rebuild",)
            ) from None
        self._index.register_tokenizer("words", _analyzer())
        self._searcher = self._index.searcher()

    def search(
        self,
        words: Mapping[str, float],
        weights: Mapping[str, float],
        limit: int,
        filters: Mapping[str, str] | None = None,
    ) -> list[Hit]:
        import tantivy  # noqa: PLC0415 - an extra

        if not words:
            return []
        text = " ".join(word if weight == 1 else f"{word}^{weight:.4f}" for word, weight in words.items())
        query = self._index.parse_query(text, list(weights), field_boosts=dict(weights))
        for name, value in (filters or {}).items():
            exact = tantivy.Query.const_score_query(tantivy.Query.term_query(self._schema, name, value), 0.0)
            query = query.and_must_match(exact)
        found = self._searcher.search(query, limit, count=False).hits
        ids = self._searcher.fast_field_values("id", [address for _, address in found])
        return [Hit(int(doc or 0), float(score)) for (score, _), doc in zip(found, ids, strict=True)]

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


def _schema(fields: Sequence[str], filters: Sequence[str]) -> tantivy.Schema:
    import tantivy  # noqa: PLC0415 - an extra

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("id", fast=True, stored=False, indexed=False)
    for name in fields:
        builder.add_text_field(name, stored=False, tokenizer_name="words", index_option="freq")
    for name in filters:
        builder.add_text_field(name, stored=False, tokenizer_name="raw", index_option="basic")
    return builder.build()


def _analyzer() -> tantivy.TextAnalyzer:
    import tantivy  # noqa: PLC0415 - an extra

    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()

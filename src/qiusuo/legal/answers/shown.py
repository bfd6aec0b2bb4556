"""Articles and laws of an index as they are shown: with how they stand, what they cite and what amends them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from qiusuo.legal.answers.addresses import address_of, comparison_of
from qiusuo.legal.answers.cited import cited_articles
from qiusuo.legal.answers.results import LawDetails
from qiusuo.legal.answers.standing import Standing, label_of
from qiusuo.legal.index.handle import LegalIndex
from qiusuo.legal.models import Article, Law, LawVersion
from qiusuo.legal.reading.paragraphs import Piece, pieces_of
from qiusuo.legal.reading.references import LawReference


@dataclass(frozen=True, slots=True)
class Shown:
    """Shows what one index holds."""

    index: LegalIndex

    @property
    def standing(self) -> Standing:
        """How the laws of the index stand."""
        return Standing(self.index.store)

    def article_result(self, article: Article, day: str, *, reference: LawReference | None = None) -> LawDetails:
        """Return an article as it is shown."""
        version = article.version
        piece = pieces_of(article.text, reference.paragraphs, reference.items) if reference else Piece()
        label = label_of(article)
        base = self.standing.law_result(version.law, day, version=version, article=article)
        comparable = article.number is not None and len(self.index.store.versions_of(version.law.id)) > 1
        return replace(
            base,
            article_number=label,
            content=article.text,
            chapter=" ".join(article.headings),
            url=address_of(version.law.name, label, version),
            excerpt=piece.text,
            cited=cited_articles(self.index.store, article, day),
            notes=(*base.notes, *piece.notes),
            diff=comparison_of(version.law.name, label, version) if comparable else "",
        )

    def with_changes(
        self, article: Article, day: str, *, reference: LawReference | None = None, score: float | None = None
    ) -> list[LawDetails]:
        """Return an article with what later amendments make of it, which no text here holds."""
        result = replace(self.article_result(article, day, reference=reference), score=score)
        changes = (self.article_result(item, day) for item in self.standing.changes_of(article, day))
        return [result, *(replace(change, amends=f"{result.law_name}{result.article_number}") for change in changes)]

    def law_result(self, law: Law, day: str, *, version: LawVersion | None = None) -> LawDetails:
        """Return a law as it is shown, without the text of an article."""
        return self.standing.law_result(law, day, version=version)


def first(results: tuple[LawDetails, ...], most: int) -> tuple[LawDetails, ...]:
    """Return the first results, the last of them with what amends it: nobody shall read the old text alone."""
    end = most
    while end < len(results) and results[end].amends:
        end += 1
    return results[:end]


def once(results: Sequence[LawDetails]) -> tuple[LawDetails, ...]:
    """Return the results without those that stand there already."""
    unique: dict[tuple[str, ...], LawDetails] = {}
    for result in results:
        unique.setdefault((result.law_name, result.article_number, result.version, result.excerpt), result)
    return tuple(unique.values())

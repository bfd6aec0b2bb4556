"""What changed: the article that is named, beside the version before it."""

from __future__ import annotations

from qiusuo.errors import InvalidQuery
from qiusuo.legal.answers.compared import Comparison, compare_article
from qiusuo.legal.answers.finding.changes import article_of
from qiusuo.legal.answers.finding.regulations import RegulationSearch
from qiusuo.words import Fact


def compare(search: RegulationSearch, reference: str, as_of: str | None = None) -> Comparison:
    """Compare the article that is named, in the version that holds (or that is named), with the version before it.

    Where there is none before, with the one after it.

    Raises:
        InvalidQuery: no article of the index is named.
    """
    answer = search.search(reference, as_of, 1)
    found = next((result for result in answer.results if result.article_number and result.score is None), None)
    article = article_of(search.index, found) if found else None
    if article is None:
        raise InvalidQuery(Fact("legal_diff.no_article", reference=reference))
    return compare_article(search.index.store, article)

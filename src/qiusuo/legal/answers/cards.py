"""The law behind a result's address, with all that a card on a page shows."""

from __future__ import annotations

from typing import Any

from qiusuo.errors import SearchError
from qiusuo.legal.answers.addresses import ArticleAddress, read_address
from qiusuo.legal.answers.finding.regulations import RegulationSearch
from qiusuo.legal.answers.results import LawDetails
from qiusuo.legal.answers.validity import best_for
from qiusuo.legal.index.handle import IndexHandle, LegalIndex
from qiusuo.legal.models import LawVersion
from qiusuo.legal.reading.numbers import read_label


def law_card(handle: IndexHandle, url: str) -> dict[str, Any] | None:
    """Return the article (or law) of a result of the engine ``laws``, in the JSON shape of ``regulationSearch``.

    Always there: ``lawName articleNumber content effectiveDate source origin``; where known: ``status version chapter
    url successor cited notes``. None where the address is none of this index's, or the index cannot be read: a result
    without a card is a result like any other. Reads a file (about a millisecond); call it in a thread.
    """
    address = read_address(url)
    if address is None:
        return None
    try:
        found = _find(handle.get(), address, handle)
    except SearchError:
        return None
    return found.to_dict() if found else None


def _find(index: LegalIndex, address: ArticleAddress, handle: IndexHandle) -> LawDetails | None:
    search, day = RegulationSearch(index, handle.today), handle.today().isoformat()
    version = _version(index, address, day)
    if version is None:
        return None
    if not address.label:
        return search.law_result(version.law, day, version=version)
    number = read_label(address.label)
    articles = index.store.articles(version, number) if number else []
    return search.article_result(articles[0], day) if articles else None


def _version(index: LegalIndex, address: ArticleAddress, day: str) -> LawVersion | None:
    if address.page:
        return index.version_at(address.page)
    versions = [version for law_id in index.names.find(address.law_name) for version in index.store.versions_of(law_id)]
    if address.published:
        return next((version for version in versions if version.published == address.published), None)
    return best_for(versions, day)

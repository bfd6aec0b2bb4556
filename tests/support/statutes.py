"""An index over the installed statutes; a plug-in. Where they are absent the tests are skipped, loudly."""

from __future__ import annotations

import pytest

from qiusuo.legal.building.imports import Importer
from qiusuo.legal.building.install import LABEL
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.index.handle import IndexHandle, LegalIndex
from tests.support.legal_data import STATUTES


@pytest.fixture(scope="session")
def statutes_folder(tmp_path_factory: pytest.TempPathFactory) -> IndexFolder:
    if STATUTES is None:
        pytest.skip("NO STATUTES, NOT TESTED: run scripts/statutes.py")
    folder = IndexFolder(tmp_path_factory.mktemp("statutes"))
    report = Importer(folder).run([STATUTES], LABEL)
    assert report.articles > 26_000
    assert report.seconds < 60
    return folder


@pytest.fixture(scope="session")
def statutes(statutes_folder: IndexFolder) -> LegalIndex:
    return IndexHandle(statutes_folder).get()

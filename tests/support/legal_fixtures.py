"""An index over the laws and judgments of ``legal_samples``; a plug-in, because test folders have no packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from qiusuo.legal.index.handle import IndexHandle
from tests.support.legal_samples import build, opened, write_sources


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index over everything that ``write_sources`` writes, built once."""
    base = tmp_path_factory.mktemp("legal")
    build(base / "index", write_sources(base / "sources"))
    return base / "index"


@pytest.fixture
def samples(sample_folder: Path) -> IndexHandle:
    """That index, opened."""
    return opened(sample_folder)

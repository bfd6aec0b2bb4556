"""Sources that the citation tests share."""

from __future__ import annotations

import pytest

from qiusuo.citations import CitationProcessor
from qiusuo.models import SearchResultItem


@pytest.fixture
def results() -> list[SearchResultItem]:
    return [
        SearchResultItem("量子计算进展", "https://www.example.com/a", "2024年，量子计算机达到1000个量子比特。"),
        SearchResultItem("Paris guide", "https://paris.example.org/guide", "Paris is the capital of France."),
        SearchResultItem("天气", "http://weather.example.cn/?city=北京", "北京今天最高气温30摄氏度。"),
    ]


@pytest.fixture
def processor(results: list[SearchResultItem]) -> CitationProcessor:
    return CitationProcessor(results)

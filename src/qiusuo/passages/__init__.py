"""Finds the passages of sources that answer a question, and says how well they do. No model, Chinese and English."""

from qiusuo.passages.covering import ANSWERS_FROM, coverage
from qiusuo.passages.differing import Difference, Statement, differences
from qiusuo.passages.picking import Passage, pick, ranked_sentences
from qiusuo.passages.reading import MOST_READ, Text

__all__ = [
    "ANSWERS_FROM",
    "MOST_READ",
    "Difference",
    "Passage",
    "Statement",
    "Text",
    "coverage",
    "differences",
    "pick",
    "ranked_sentences",
]

"""Finds the passages of sources that answer a question, and says how well they do. No model, Chinese and English."""

from qiusuo.passages.breadth import asks_for_much, spread
from qiusuo.passages.covering import ANSWERS_FROM, WEAK_BELOW, coverage, words_covered
from qiusuo.passages.differing import Difference, Statement, differences
from qiusuo.passages.picking import Passage, pick, ranked_sentences
from qiusuo.passages.question import questions_in
from qiusuo.passages.reading import MOST_READ, Text

__all__ = [
    "ANSWERS_FROM",
    "MOST_READ",
    "WEAK_BELOW",
    "Difference",
    "Passage",
    "Statement",
    "Text",
    "asks_for_much",
    "coverage",
    "differences",
    "pick",
    "questions_in",
    "ranked_sentences",
    "spread",
    "words_covered",
]

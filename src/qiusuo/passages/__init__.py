"""Finds the passages of sources that answer a question, and says how well they do. No model, Chinese and English."""

from qiusuo.passages.picking import Passage, pick
from qiusuo.passages.reading import MOST_READ, Text

__all__ = ["MOST_READ", "Passage", "Text", "pick"]

"""Everything a person may read, in Chinese and English: facts below, sentences at the edge.

The program carries :class:`Fact` (a code with values) in errors, notes, notices and findings. The sentences stand in
one catalogue (``texts/*.toml``, and a folder ``words`` beside a plug-in's module), Chinese beside English, and are
composed where somebody reads them.
"""

from qiusuo.words.facts import Fact, Value, as_fact, said, sentences
from qiusuo.words.languages import Language, language_of

__all__ = ["Fact", "Language", "Value", "as_fact", "language_of", "said", "sentences"]

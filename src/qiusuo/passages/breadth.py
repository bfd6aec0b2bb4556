"""Tells whether a question wants more than one fact, and spreads passages over whole texts for those that do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from qiusuo.passages.picking import Passage
from qiusuo.passages.reading import Page, Text

# So many characters say something by themselves.
_PIECE: Final = 400

_MUCH: Final = re.compile(
    r"为什么|为何|为啥|原因|缘由|怎么(?!样的?天)|怎样|如何|步骤|流程|教程|方法|攻略|"
    r"区别|差别|不同|对比|比较|相比|优缺点|利弊|好坏|哪个(?:更|好)|"
    r"哪些|有什么|有啥|标准|条件|要求|政策|规则|列出|列举|清单|名单|盘点|总结|介绍|详细|注意事项|影响|"
    r"\b(?:why|how (?:do|does|did|to|can|could|should|is|are)|steps?|guide|tutorial|instructions|"
    r"compar(?:e|ed|ing|ison)|differences?|differ|versus|vs|pros and cons|advantages|disadvantages|better|"
    r"list|which (?:\w+ ){0,3}\w+s\b|what are|what kinds?|reasons?|causes?|effects?|explain|describe|"
    r"summar(?:y|i[sz]e)|overview)\b",
    re.IGNORECASE,
)


def asks_for_much(question: str) -> bool:
    """Tell whether a few lines of a search result can hardly answer a question, whatever they say."""
    return _MUCH.search(question) is not None


def spread(texts: Sequence[Text], budget: int) -> list[Passage]:
    """Return passages from all over texts, in their order, of ``budget`` characters together: all where there is room.

    For questions about the whole, such as a summary: no word of theirs stands in what answers them.
    """
    texts = [text for text in texts if text.text.strip()]
    if sum(len(text.text) for text in texts) <= budget:
        return [_passage(Page(text, place), 0, len(text.text)) for place, text in enumerate(texts)]
    pieces = max(budget // _PIECE, 1)
    # The first and the last are among those that are chosen: what it is about, and how it ends.
    last = max(min(pieces, len(texts)) - 1, 1)
    chosen = dict.fromkeys(round(at * (len(texts) - 1) / last) for at in range(min(pieces, len(texts))))
    share = budget // max(len(chosen), 1)
    return [passage for place in chosen for passage in _pieces(Page(texts[place], place), share)]


def _pieces(page: Page, budget: int) -> Iterator[Passage]:
    """Yield pieces of one text, from its beginning on at even distances, of whole sentences."""
    count = max(budget // _PIECE, 1)
    end = 0
    for number in range(count):
        at = page.sentence_at(number * len(page.text) // count)
        start = max(page.spans[at][0], end) if page.spans else 0
        taken = [stop for begin, stop in page.spans if begin >= start and stop - start <= budget // count]
        if taken and taken[-1] > start:
            end = taken[-1]
            yield _passage(page, start, end)


def _passage(page: Page, start: int, end: int) -> Passage:
    at = page.sentence_at(start)
    sentence = page.sentence(at) if page.spans else page.text
    heading = page.heading(at) if page.spans else ""
    return Passage(page.source.number, page.text[start:end], start, end, 1.0, sentence, page.source.title, heading)

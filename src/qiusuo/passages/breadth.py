"""Tells whether a question wants more than one fact: a list, a comparison, steps, a reason."""

from __future__ import annotations

import re
from typing import Final

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

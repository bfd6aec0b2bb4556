"""Citations that hold: numbering, links, reference lists, and a check against the source.

::

    from qiusuo.citations import CitationProcessor, check_support

    processor = CitationProcessor(response.results)
    stream = processor.stream()
    for chunk in model:                      # "...巴黎[1" "]。"
        print(stream.feed(chunk), end="")    # "...巴黎[[1]](https://...)。"
    print(stream.finish())
    print(processor.references(answer))      # "## 参考文献 ..."
    report = check_support(answer, processor)

An agent that searches several times numbers its sources with a ``CitationRegistry``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiusuo.lazily import loader

if TYPE_CHECKING:
    from qiusuo.citations.checking.additions import AddedCitation, CitedAnswer, add_citations
    from qiusuo.citations.checking.claims import CitedClaim
    from qiusuo.citations.checking.evidence import Evidence
    from qiusuo.citations.checking.lexical import LexicalJudge
    from qiusuo.citations.checking.support import (
        CheckPlan,
        CitationCheck,
        ClaimCheck,
        ClaimPair,
        SupportJudge,
        SupportReport,
        check_support,
        plan_check,
    )
    from qiusuo.citations.checking.verdict import Reason, Support, Verdict
    from qiusuo.citations.linking.markers import Marker
    from qiusuo.citations.linking.processor import CitationProcessor, CitationStream, Conversion
    from qiusuo.citations.linking.references import Reference, escape_markdown
    from qiusuo.citations.linking.registry import CitationRegistry, SearchRound

# Names are loaded when first used: who only numbers and links does not pay for the support check.
_HOME = {
    "AddedCitation": "checking.additions",
    "CheckPlan": "checking.support",
    "CitationCheck": "checking.support",
    "CitationProcessor": "linking.processor",
    "CitationRegistry": "linking.registry",
    "CitationStream": "linking.processor",
    "CitedAnswer": "checking.additions",
    "CitedClaim": "checking.claims",
    "ClaimCheck": "checking.support",
    "ClaimPair": "checking.support",
    "Conversion": "linking.processor",
    "Evidence": "checking.evidence",
    "LexicalJudge": "checking.lexical",
    "Marker": "linking.markers",
    "Reason": "checking.verdict",
    "Reference": "linking.references",
    "SearchRound": "linking.registry",
    "Support": "checking.verdict",
    "SupportJudge": "checking.support",
    "SupportReport": "checking.support",
    "Verdict": "checking.verdict",
    "add_citations": "checking.additions",
    "check_support": "checking.support",
    "escape_markdown": "linking.references",
    "plan_check": "checking.support",
}

__all__ = [
    "AddedCitation",
    "CheckPlan",
    "CitationCheck",
    "CitationProcessor",
    "CitationRegistry",
    "CitationStream",
    "CitedAnswer",
    "CitedClaim",
    "ClaimCheck",
    "ClaimPair",
    "Conversion",
    "Evidence",
    "LexicalJudge",
    "Marker",
    "Reason",
    "Reference",
    "SearchRound",
    "Support",
    "SupportJudge",
    "SupportReport",
    "Verdict",
    "add_citations",
    "check_support",
    "escape_markdown",
    "plan_check",
]


__getattr__ = loader(__name__, _HOME)


def __dir__() -> list[str]:
    return __all__

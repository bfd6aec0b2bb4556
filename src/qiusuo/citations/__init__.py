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

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qiusuo.citations.additions import AddedCitation, CitedAnswer, add_citations
    from qiusuo.citations.claims import CitedClaim
    from qiusuo.citations.evidence import Evidence
    from qiusuo.citations.lexical import LexicalJudge
    from qiusuo.citations.markers import Marker
    from qiusuo.citations.processor import CitationProcessor, CitationStream, Conversion
    from qiusuo.citations.references import Reference, escape_markdown
    from qiusuo.citations.registry import CitationRegistry, SearchRound
    from qiusuo.citations.support import (
        CheckPlan,
        CitationCheck,
        ClaimCheck,
        ClaimPair,
        SupportJudge,
        SupportReport,
        check_support,
        plan_check,
    )
    from qiusuo.citations.verdict import Reason, Support, Verdict

# Names are loaded when first used: who only numbers and links does not pay for the support check.
_HOME = {
    "AddedCitation": "additions",
    "CheckPlan": "support",
    "CitationCheck": "support",
    "CitationProcessor": "processor",
    "CitationRegistry": "registry",
    "CitationStream": "processor",
    "CitedAnswer": "additions",
    "CitedClaim": "claims",
    "ClaimCheck": "support",
    "ClaimPair": "support",
    "Conversion": "processor",
    "Evidence": "evidence",
    "LexicalJudge": "lexical",
    "Marker": "markers",
    "Reason": "verdict",
    "Reference": "references",
    "SearchRound": "registry",
    "Support": "verdict",
    "SupportJudge": "support",
    "SupportReport": "support",
    "Verdict": "verdict",
    "add_citations": "additions",
    "check_support": "support",
    "escape_markdown": "references",
    "plan_check": "support",
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


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'qiusuo.citations' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"qiusuo.citations.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

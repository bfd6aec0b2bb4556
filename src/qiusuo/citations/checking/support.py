"""Checks the citations of an answer against the text of their sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from qiusuo.citations.checking.claims import CitedClaim, cited_claims
from qiusuo.citations.checking.evidence import Evidence
from qiusuo.citations.checking.lexical import LexicalJudge
from qiusuo.citations.checking.verdict import Support, Verdict
from qiusuo.citations.linking.processor import CitationProcessor
from qiusuo.citations.linking.references import Reference

_ORDER = (Support.SUPPORTED, Support.WEAK, Support.NOT_FOUND)


class ClaimPair(NamedTuple):
    """A claim and the text that should support it."""

    claim: str
    evidence: Evidence


class SupportJudge(Protocol):
    """Tells whether texts support claims.

    The default compares words, numbers and names. One that asks an embedding or a language model gets all pairs of an
    answer at once; if it has to be awaited, use ``plan_check``.
    """

    def judge_all(self, pairs: Sequence[ClaimPair]) -> Sequence[Verdict]:
        """Return one verdict per pair, in the same order."""


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """One citation: ``snippet_only`` says that the page itself was not read."""

    number: int
    verdict: Verdict
    snippet_only: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the check in its JSON shape."""
        return {"number": self.number, "snippetOnly": self.snippet_only, **self.verdict.to_dict()}


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """One cited statement with its citations; ``support`` is that of the best source, or of all taken together."""

    claim: CitedClaim
    support: Support
    citations: tuple[CitationCheck, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the check in its JSON shape."""
        return {
            "claim": self.claim.text,
            "start": self.claim.start,
            "end": self.claim.end,
            "support": self.support.value,
            "citations": [citation.to_dict() for citation in self.citations],
        }


@dataclass(frozen=True, slots=True)
class SupportReport:
    """The checks of all cited statements of an answer, in their order."""

    claims: tuple[ClaimCheck, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many statements are supported, weak and not found."""
        counter = Counter(claim.support for claim in self.claims)
        return {support.value: counter[support] for support in _ORDER}

    def to_dict(self) -> dict[str, Any]:
        """Return the report in its JSON shape."""
        return {"counts": self.counts, "claims": [claim.to_dict() for claim in self.claims]}


class CheckPlan:
    """What has to be judged in an answer: ``pairs``, and ``report`` to turn the verdicts on them into a report."""

    def __init__(self, claims: Sequence[CitedClaim], evidence: Mapping[int, Evidence]) -> None:
        self._claims = claims
        self._evidence = evidence
        pairs: list[ClaimPair] = []
        for claim in claims:
            pairs.extend(ClaimPair(claim.text, evidence[number]) for number in claim.numbers)
            if len(claim.numbers) > 1:
                pairs.append(ClaimPair(claim.text, _joined([evidence[number] for number in claim.numbers])))
        self.pairs = tuple(pairs)

    def report(self, verdicts: Sequence[Verdict]) -> SupportReport:
        """Return the report for the verdicts, which are in the order of ``pairs``."""
        remaining = iter(verdicts)
        checks = []
        for claim in self._claims:
            citations = tuple(
                CitationCheck(number, next(remaining), self._evidence[number].snippet_only) for number in claim.numbers
            )
            found = {citation.verdict.support for citation in citations}
            if len(citations) > 1:
                found.add(next(remaining).support)
            checks.append(ClaimCheck(claim, next(support for support in _ORDER if support in found), citations))
        return SupportReport(tuple(checks))


def plan_check(answer: str, processor: CitationProcessor, pages: Mapping[int, str] | None = None) -> CheckPlan:
    """Return what has to be judged in ``answer`` (before or after conversion).

    ``pages`` gives the full text of the sources that were read, by number; for the others the snippet has to do.
    """
    sources = processor.sources
    claims = []
    for claim in cited_claims(answer, processor.analyse(answer).markers):
        numbers = tuple(dict.fromkeys(sources[number].number for number in claim.numbers if number in sources))
        claims.append(claim if numbers == claim.numbers else replace(claim, numbers=numbers))
    used = {number for claim in claims for number in claim.numbers}
    return CheckPlan(claims, {number: evidence_of(sources[number], pages) for number in used})


def check_support(
    answer: str,
    processor: CitationProcessor,
    pages: Mapping[int, str] | None = None,
    judge: SupportJudge | None = None,
) -> SupportReport:
    """Tell for each cited sentence of ``answer`` whether its sources say what it says."""
    plan = plan_check(answer, processor, pages)
    return plan.report((judge or LexicalJudge()).judge_all(plan.pairs))


def evidence_of(reference: Reference, pages: Mapping[int, str] | None) -> Evidence:
    """Return what is known of a source: the text of its page if it was read, else its snippet."""
    return Evidence(reference.title, reference.snippet, (pages or {}).get(reference.number))


def _joined(evidence: Sequence[Evidence]) -> Evidence:
    return Evidence(". ".join(e.title for e in evidence), "\n".join(e.text for e in evidence))

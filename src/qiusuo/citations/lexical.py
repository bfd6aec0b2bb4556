"""The default judge of support: compares words, numbers, names and negations. No model, well under a millisecond."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qiusuo.citations.conflicts import Comparison, Finding, check_names, check_quantities
from qiusuo.citations.evidence import Evidence
from qiusuo.citations.names import Names, names
from qiusuo.citations.negation import denied, negations
from qiusuo.citations.opposites import opposed, sides
from qiusuo.citations.quantities import quantities
from qiusuo.citations.quantity import DATE_PARTS, Quantity
from qiusuo.citations.replacement import new_subject, replaced
from qiusuo.citations.verdict import Reason, Support, Verdict
from qiusuo.citations.wording import fold, is_chinese, terms

SUPPORTED_FROM = 0.55
WEAK_FROM = 0.24
_COMPARABLE_FROM = 0.35  # with less in common, a negation may belong to something else
_QUANTITY_BONUS = 0.18
_DATE_BONUS = 0.08
_MOST_BONUS = 0.4
_NAME_BONUS = 0.1
_PAIR_SHARE = 0.75
_MAX_CLAIM = 1000
_MAX_QUANTITIES = 40
_BEGINNING = 5
_ALIKE = 0.7
_CLAUSE_TERMS = 5
_EVERY_CLAUSE = 0.9
_CLAUSE_COVERAGE = 0.2
_CLAUSE_END = re.compile("[,，;；、]")
_HAN = re.compile(r"[\u3400-\u9fff]")


class LexicalJudge:
    """Compares a claim with the passage of its source that is most like it."""

    def judge_all(self, pairs: Sequence[tuple[str, Evidence]]) -> list[Verdict]:
        """Return one verdict per pair of claim and evidence."""
        return [self.judge(claim, evidence) for claim, evidence in pairs]

    def judge(self, claim: str, evidence: Evidence) -> Verdict:
        """Tell whether ``evidence`` supports ``claim``."""
        folded = fold(claim[:_MAX_CLAIM])
        wanted = quantities(folded)[:_MAX_QUANTITIES]
        if bool(evidence.text) and is_chinese(folded) != evidence.is_chinese:
            return _judge_across_languages(wanted, evidence)
        content = terms(folded)
        passage = evidence.best_passage(content, wanted)
        if passage is None:
            return Verdict(Support.NOT_FOUND, 0.0, reasons=(Reason.NO_PASSAGE,))
        both = Comparison(folded, wanted, passage, passage.terms | evidence.title_terms, evidence)
        numbers, agreeing = check_quantities(both)
        coverage = _coverage(both, content)
        named = names(folded)
        score = min(1.0, coverage + _bonus(agreeing) + _NAME_BONUS * _has_special_name(named, both))
        if score < WEAK_FROM:
            return Verdict(Support.NOT_FOUND, score, passage.text, (Reason.NO_PASSAGE,))
        conflicts, doubts = _objections(both, named, coverage, numbers)
        if conflicts:
            return Verdict(Support.NOT_FOUND, score, passage.text, tuple(conflicts))
        if score < SUPPORTED_FROM:
            doubts.append(Reason.LITTLE_IN_COMMON)
        support = Support.WEAK if doubts else Support.SUPPORTED
        return Verdict(support, score, passage.text, tuple(doubts))


def _objections(
    both: Comparison, named: Names, coverage: float, numbers: Finding | None
) -> tuple[list[Reason], list[Reason]]:
    """Return what contradicts the claim, and what leaves doubts."""
    conflicts, doubts = [], []
    claim, passage = both.claim, both.passage.folded
    for finding, differs, missing in (
        (numbers, Reason.NUMBER_DIFFERS, Reason.NUMBER_MISSING),
        (check_names(both, named), Reason.NAME_DIFFERS, Reason.NAME_MISSING),
    ):
        if finding is Finding.CONFLICT:
            conflicts.append(differs)
        elif finding is Finding.MISSING:
            doubts.append(missing)
    if coverage >= _COMPARABLE_FROM and denied(negations(claim), both.passage.negations):
        conflicts.append(Reason.DENIED)
    if coverage >= _COMPARABLE_FROM and opposed(sides(claim), both.passage.sides):
        conflicts.append(Reason.OPPOSITE)
    if replaced(claim, passage, both.evidence.folded, coverage):
        conflicts.append(Reason.REPLACED)
    if Reason.NAME_MISSING not in doubts and new_subject(claim, both.evidence.folded, coverage):
        doubts.append(Reason.NAME_MISSING)
    if coverage < _EVERY_CLAUSE and any(
        not both.covers(clause, _CLAUSE_COVERAGE, _CLAUSE_TERMS) for clause in _CLAUSE_END.split(claim)
    ):
        doubts.append(Reason.PART_MISSING)
    return conflicts, doubts


def _bonus(agreeing: Sequence[Quantity]) -> float:
    """Return what agreeing numbers add: a distinctive number says more than a year."""
    return min(_MOST_BONUS, sum(_DATE_BONUS if q.kind in DATE_PARTS else _QUANTITY_BONUS for q in agreeing))


def _has_special_name(named: Names, both: Comparison) -> bool:
    """Tell whether claim and passage share a name that is not in the title, where every sentence has it."""
    first = both.claim.partition(" ")[0].lower()
    return bool((named.latin | {first}) & both.passage.names.latin - both.evidence.title_names.latin)


def _coverage(both: Comparison, content: set[str]) -> float:
    """Return the share of the claim's words that the passage (or the title) has."""
    wanted = {term for term in content if term[0] != "#"}
    if not wanted:
        return 0.0
    shared = float(len(wanted & both.given))
    beginnings = {term[:_BEGINNING] for term in both.given if len(term) >= _BEGINNING}
    shared += _ALIKE * sum(term[:_BEGINNING] in beginnings for term in wanted - both.given if len(term) >= _BEGINNING)
    coverage = shared / len(wanted)
    characters = set(_HAN.findall(both.claim))
    if not characters:
        return coverage
    known = set(both.passage.folded) | set(both.evidence.title)
    return _PAIR_SHARE * coverage + (1 - _PAIR_SHARE) * len(characters & known) / len(characters)


def _judge_across_languages(wanted: Sequence[Quantity], evidence: Evidence) -> Verdict:
    """Compare only what languages share. Words cannot be compared, so nothing is better than weak."""
    required = [quantity for quantity in wanted if not quantity.soft]
    agreeing = [q for q in required if any(q.agrees_with(other) for other in evidence.quantities)]
    score = len(agreeing) / len(required) if required else 0.0
    if len(agreeing) < len(required):
        return Verdict(Support.NOT_FOUND, score, reasons=(Reason.NUMBER_DIFFERS, Reason.OTHER_LANGUAGE))
    return Verdict(Support.WEAK, score, reasons=(Reason.OTHER_LANGUAGE,))

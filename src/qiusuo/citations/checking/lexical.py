"""The default judge of support: compares words, numbers, names and negations. No model, well under a millisecond."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from qiusuo.citations.checking.conflicts import Comparison, Conflict, check_names, check_quantities, moves_otherwise
from qiusuo.citations.checking.evidence import Evidence, Passage
from qiusuo.citations.checking.replacement import new_subject, replaced
from qiusuo.citations.checking.verdict import Reason, Support, Verdict
from qiusuo.citations.meaning.names import Names, names
from qiusuo.citations.meaning.negation import Negations, denied, may_deny, negations
from qiusuo.citations.meaning.opposites import Side, opposed, sides
from qiusuo.citations.meaning.quantities import quantities
from qiusuo.citations.meaning.quantity import DATE_PARTS, Quantity
from qiusuo.citations.meaning.wording import STOP_WORDS, fold, is_chinese, terms, words_of

SUPPORTED_FROM = 0.55
WEAK_FROM = 0.16
# With less in common, a number, a negation or an opposite may belong to something else.
_COMPARABLE_FROM, _NUMBERS_FROM, _DENIED_FROM, _OPPOSED_FROM = 0.35, 0.4, 0.45, 0.6
_NEARLY_AS_MUCH = 0.25
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
_CUT_WORD = re.compile(r"\b[A-Za-z]+ ?(?:…|\.\.\.)\W*\Z")
_CLAUSE_END = re.compile("[,，;；、]")


class LexicalJudge:
    """Compares a claim with the passage of its source that is most like it."""

    def judge_all(self, pairs: Sequence[tuple[str, Evidence]]) -> list[Verdict]:
        """Return one verdict per pair of claim and evidence."""
        # A statement with several citations is read once.
        claims = {text: _Claim(text) for text in {text for text, _ in pairs}}
        return [_judge(claims[text], evidence) for text, evidence in pairs]

    def judge(self, claim: str, evidence: Evidence) -> Verdict:
        """Tell whether ``evidence`` supports ``claim``."""
        return _judge(_Claim(claim), evidence)


class _Claim:
    """A statement in one spelling, and what it says once that is asked for."""

    def __init__(self, text: str) -> None:
        # Of a quotation that was cut the last word may be half a word.
        self.folded = _CUT_WORD.sub("", fold(text[:_MAX_CLAIM]))
        self.quantities = quantities(self.folded)[:_MAX_QUANTITIES]
        self.is_chinese = is_chinese(self.folded)
        self.terms = terms(self.folded)
        self.words = words_of(self.terms)

    @cached_property
    def names(self) -> Names:
        return names(self.folded)

    @cached_property
    def negations(self) -> Negations:
        return negations(self.folded)

    @cached_property
    def sides(self) -> set[Side]:
        return sides(self.folded)


def _judge(claim: _Claim, evidence: Evidence) -> Verdict:
    if bool(evidence.text) and claim.is_chinese != evidence.is_chinese:
        return _judge_across_languages(claim.quantities, evidence)
    passage = evidence.best_passage(claim.terms, claim.words, claim.quantities)
    if passage is None:
        return Verdict(Support.NOT_FOUND, 0.0, reasons=(Reason.NO_PASSAGE,))
    found = _compare(claim, evidence, passage)
    if found.numbers is Conflict.CONFLICT:
        found = _with_its_numbers(claim, found) or found
    if found.score < WEAK_FROM:
        return Verdict(Support.NOT_FOUND, found.score, found.both.passage.text, (Reason.NO_PASSAGE,))
    conflicts, doubts = _objections(claim, found)
    if conflicts:
        return Verdict(Support.NOT_FOUND, found.score, found.both.passage.text, tuple(conflicts))
    if found.score < SUPPORTED_FROM and Reason.LITTLE_IN_COMMON not in doubts:
        doubts.append(Reason.LITTLE_IN_COMMON)
    support = Support.WEAK if doubts else Support.SUPPORTED
    return Verdict(support, found.score, found.both.passage.text, tuple(doubts))


class _Found(NamedTuple):
    """A claim beside one passage: how much they share, and what their numbers say."""

    both: Comparison
    coverage: float
    score: float
    numbers: Conflict | None


def _compare(claim: _Claim, evidence: Evidence, passage: Passage) -> _Found:
    both = Comparison(claim.folded, claim.quantities, passage, passage.terms | evidence.title_terms, evidence)
    numbers, agreeing = check_quantities(both)
    coverage = _coverage(both, claim.words)
    if not coverage:
        agreeing = [quantity for quantity in agreeing if quantity.is_telling]  # any text has a 3 somewhere
    score = min(1.0, coverage + _bonus(agreeing) + _NAME_BONUS * _has_special_name(claim.names, both))
    return _Found(both, coverage, score, numbers)


def _with_its_numbers(claim: _Claim, first: _Found) -> _Found | None:
    """Return a passage that says nearly as much of the claim as the ``first``, and gives its numbers."""
    # A date may stand in another sentence.
    numbers = [q for q in claim.quantities if q.kind not in DATE_PARTS] or claim.quantities
    for passage in first.both.evidence.passages_with(numbers):
        found = _compare(claim, first.both.evidence, passage)
        if found.numbers is None and found.coverage >= first.coverage - _NEARLY_AS_MUCH:
            return found
    return None


def _objections(claim: _Claim, found: _Found) -> tuple[list[Reason], list[Reason]]:
    """Return what contradicts the claim, and what leaves doubts (which count for nothing beside the former)."""
    both, coverage = found.both, found.coverage
    numbers = found.numbers
    if numbers is Conflict.CONFLICT and coverage < _NUMBERS_FROM:
        numbers = Conflict.MISSING
    findings = [
        (numbers, Reason.NUMBER_DIFFERS, Reason.NUMBER_MISSING),
        (check_names(both, claim.names), Reason.NAME_DIFFERS, Reason.NAME_MISSING),
        *((finding, reason, Reason.LITTLE_IN_COMMON) for reason, finding in _turned_round(claim, both, coverage)),
    ]
    conflicts = [differs for finding, differs, _ in findings if finding is Conflict.CONFLICT]
    doubts = list(dict.fromkeys(missing for finding, _, missing in findings if finding is Conflict.MISSING))
    if conflicts:
        return conflicts, doubts
    if Reason.NAME_MISSING not in doubts and new_subject(claim.folded, both.evidence.folded, coverage):
        doubts.append(Reason.NAME_MISSING)
    if coverage < _EVERY_CLAUSE and not _has_every_clause(claim, both):
        doubts.append(Reason.PART_MISSING)
    return conflicts, doubts


def _has_every_clause(claim: _Claim, both: Comparison) -> bool:
    clauses = _CLAUSE_END.split(claim.folded)
    if len(clauses) == 1:
        return both.covers_words(claim.words, _CLAUSE_COVERAGE, _CLAUSE_TERMS)
    return all(both.covers(clause, _CLAUSE_COVERAGE, _CLAUSE_TERMS) for clause in clauses)


def _turned_round(claim: _Claim, both: Comparison, coverage: float) -> Iterator[tuple[Reason, Conflict]]:
    """Yield how the claim may say something else than the passage, and whether that is sure."""
    passage = both.passage
    if coverage >= _COMPARABLE_FROM:
        if (may_deny(claim.folded) or may_deny(passage.folded)) and denied(claim.negations, passage.negations):
            yield Reason.DENIED, Conflict.CONFLICT if coverage >= _DENIED_FROM else Conflict.MISSING
        if claim.sides and opposed(claim.sides, passage.sides):
            yield Reason.OPPOSITE, Conflict.CONFLICT if coverage >= _OPPOSED_FROM else Conflict.MISSING
        elif claim.sides and moves_otherwise(both):
            yield Reason.OPPOSITE, Conflict.CONFLICT
    if finding := replaced(claim.folded, passage.folded, both.evidence.folded, coverage):
        yield Reason.REPLACED, finding


def _bonus(agreeing: Sequence[Quantity]) -> float:
    """Return what agreeing numbers add: a distinctive number says more than a year."""
    return min(_MOST_BONUS, sum(_DATE_BONUS if q.kind in DATE_PARTS else _QUANTITY_BONUS for q in agreeing))


def _has_special_name(named: Names, both: Comparison) -> bool:
    """Tell whether claim and passage share a name that is not in the title, where every sentence has it."""
    wanted = (named.latin | {both.claim.partition(" ")[0].lower()}) - STOP_WORDS - both.evidence.title_latin_names
    lowered = both.passage.folded.lower()
    # The names of the passage are read only where they can matter.
    return any(word in lowered for word in wanted) and not wanted.isdisjoint(both.passage.latin_names)


def _coverage(both: Comparison, wanted: set[str]) -> float:
    """Return the share of the claim's words that the passage (or the title) has."""
    if not wanted:
        return 0.0
    missing = wanted - both.given
    shared = float(len(wanted) - len(missing))
    if others := [term[:_BEGINNING] for term in missing if len(term) >= _BEGINNING]:
        beginnings = {term[:_BEGINNING] for term in both.given if len(term) >= _BEGINNING}
        shared += _ALIKE * sum(beginning in beginnings for beginning in others)
    coverage = shared / len(wanted)
    if both.claim.isascii():
        return coverage
    characters = [character for character in set(both.claim) if "\u3400" <= character <= "\u9fff"]
    if not characters:
        return coverage
    source = both.passage.folded + both.evidence.title
    known = [character for character in characters if character in source]
    return _PAIR_SHARE * coverage + (1 - _PAIR_SHARE) * len(known) / len(characters)


def _judge_across_languages(wanted: Sequence[Quantity], evidence: Evidence) -> Verdict:
    """Compare only what languages share. Words cannot be compared, so nothing is better than weak."""
    required = [quantity for quantity in wanted if not quantity.soft]
    agreeing = [q for q in required if any(q.agrees_with(other) for other in evidence.quantities)]
    score = len(agreeing) / len(required) if required else 0.0
    if len(agreeing) < len(required):
        return Verdict(Support.NOT_FOUND, score, reasons=(Reason.NUMBER_DIFFERS, Reason.OTHER_LANGUAGE))
    return Verdict(Support.WEAK, score, reasons=(Reason.OTHER_LANGUAGE,))

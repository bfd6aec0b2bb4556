"""Gives citations to an answer that has none, where a sentence clearly comes from a source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from qiusuo.citations.checking.evidence import Evidence
from qiusuo.citations.checking.lexical import LexicalJudge
from qiusuo.citations.checking.support import ClaimPair, SupportJudge, evidence_of
from qiusuo.citations.checking.verdict import Support
from qiusuo.citations.linking.processor import CitationProcessor
from qiusuo.citations.meaning.sentences import Sentence, split_sentences
from qiusuo.citations.meaning.wording import fold, is_chinese, terms
from qiusuo.words import Fact, Language
from qiusuo.words.script import chinese_of

ADDED: Final = Fact("citations.added")
_CLEARLY = 0.75
_ENOUGH_TERMS = 4
_WORTH_JUDGING = 0.5
_FENCE = re.compile(r"\s*(?:```|~~~)")
_NO_STATEMENT = re.compile(r"\s*(?:#|\||\[[^\]]*\]:)| {4,}|\t")
_CLOSERS = "”’」』）)\"'*_"
_ENDS = "。！？!.…"


@dataclass(frozen=True, slots=True)
class AddedCitation:
    """A citation that the model did not write: its number, where it stands in the new text, and for which sentence."""

    number: int
    position: int
    sentence: str
    passage: str

    def to_dict(self) -> dict[str, Any]:
        """Return the citation in its JSON shape."""
        return {
            "number": self.number,
            "position": self.position,
            "sentence": self.sentence,
            "passage": self.passage,
            "added": True,
        }


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """An answer with added citations. ``text`` has plain markers, ``markdown`` links that say they were added."""

    text: str
    markdown: str
    added: tuple[AddedCitation, ...]


def add_citations(
    answer: str,
    processor: CitationProcessor,
    pages: Mapping[int, str] | None = None,
    judge: SupportJudge | None = None,
) -> CitedAnswer:
    """Add ``[n]`` to the sentences of ``answer`` that one source clearly supports.

    Only for answers without any citation; others come back as they are.
    """
    if processor.analyse(answer).used:
        return CitedAnswer(answer, processor.convert(answer), ())
    sources = {reference.number: evidence_of(reference, pages) for reference in processor.sources.values()}
    pieces: list[str] = []
    added: list[AddedCitation] = []
    position = length = 0
    for sentence in _statements(answer):
        found = _best_source(sentence.text, sources, judge or LexicalJudge())
        if found is None:
            continue
        number, passage = found
        # Before the full stop, and before what closes a quotation or emphasis.
        place = sentence.start + len(sentence.text.rstrip("”’」』\"'*_").rstrip(_ENDS).rstrip())
        marker = f" [{number}]" if answer[place - 1].isascii() else f"[{number}]"
        pieces += [answer[position:place], marker]
        length += place - position + len(marker)
        added.append(AddedCitation(number, length - len(marker.lstrip()), sentence.text, passage))
        position = place
    text = "".join([*pieces, answer[position:]])
    note = ADDED.text(chinese_of(text) if is_chinese(text) else Language.ENGLISH)
    return CitedAnswer(text, processor.convert(text, note=note), tuple(added))


def _statements(answer: str) -> Iterator[Sentence]:
    """Yield the sentences that may be cited: no code, headings, tables, definitions or questions."""
    offset, in_code = 0, False
    for line in answer.splitlines(keepends=True):
        if _FENCE.match(line):
            in_code = not in_code
        elif not in_code and not _NO_STATEMENT.match(line):
            for sentence in split_sentences(line):
                if not sentence.text.rstrip(_CLOSERS).endswith(("?", "？")) and "`" not in sentence.text:
                    yield Sentence(sentence.text, sentence.start + offset, sentence.end + offset)
        offset += len(line)


def _best_source(sentence: str, sources: Mapping[int, Evidence], judge: SupportJudge) -> tuple[int, str] | None:
    """Return the number of the source that clearly supports a sentence, and the passage that does."""
    wanted = terms(fold(sentence))
    if len(wanted) < _ENOUGH_TERMS:
        return None
    likely = [number for number, evidence in sources.items() if evidence.share_of(wanted) >= _WORTH_JUDGING]
    verdicts = judge.judge_all([ClaimPair(sentence, sources[number]) for number in likely])
    clear = [
        (verdict.score, -number, verdict.passage)
        for verdict, number in zip(verdicts, likely, strict=True)
        if verdict.support is Support.SUPPORTED and verdict.score >= _CLEARLY
    ]
    if not clear:
        return None
    _, negative, passage = max(clear)  # of equals the first source
    return -negative, passage

"""Documents that a question names and an index lacks: told as missing, never answered out of other laws."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from qiusuo.commands import typed
from qiusuo.legal.answers.results import RELATED, LawDetails
from qiusuo.legal.judgments.judgment_text import case_number
from qiusuo.legal.models import Law, LawKind, LawVersion
from qiusuo.legal.reading.documents import NamedDocument, documents_in, title_before
from qiusuo.legal.reading.mentions import FindLaw, LawMention, as_question, law_before
from qiusuo.legal.reading.names import name_key
from qiusuo.legal.reading.references import LawReference, without_references
from qiusuo.words import Fact

# 民法典第1064条的司法解释: the article is not what is asked for.
_OF_AN_ARTICLE: Final = re.compile(r"[条款项]\)?的?(?:相关|有关)?司法解释")
_INTERPRETATIONS: Final = re.compile(r"司法解释")
_WHAT_IT_IS: Final = re.compile(r"什么(?:是|叫)司法解释|司法解释(?:是什么|的(?:效力|性质|制定))")
# A statute that nobody has made, or not yet: only names that end so, since …法 may be any method.
_STATUTE: Final = re.compile(
    r"(?:促进|保护|管理|保障|责任|监督|处罚|组织|程序|赔偿|安全|防治|救助|破产|税|诉讼|登记|征收|福利|养老|租赁|隐私|遗产税|房产税)法(?![律院官规人学定则制庭])"
)
_LACKING: Final = frozenset(
    {"law.no_document", "law.no_interpretations", "law.unknown_document", "law.unknown_law", "law.told_elsewhere"}
)
_BELOW_STATUTES: Final = re.compile(r"条例|规定|办法|细则|规则|解释|批复|意见|法释")
_PLACE: Final = re.compile(r"^[\u4e00-\u9fff]{2,8}?(?:省|市|自治区|自治州|县|特区)")


@dataclass(frozen=True, slots=True)
class Missing:
    """What is missing, as notes; ``of_article``: it is about an article that the question names."""

    notes: tuple[Fact, ...] = ()
    of_article: bool = False

    def __bool__(self) -> bool:
        return bool(self.notes)


def missing_documents(
    question: str, find_law: FindLaw, laws: Iterable[Law], told: Sequence[LawReference] = ()
) -> Missing:
    """Return which documents that a question names there are not; ``told`` are the references that are told of."""
    text = as_question(question)
    named = {name_key(reference.law_name) for reference in told if _is_unknown(reference)}
    names = [one.name for one in documents_in(text) if one.case or not _is_held(text, one, find_law)]
    if number := case_number(question):
        names.append(number)
    names += _statutes(text, find_law)
    untold = [name for name in dict.fromkeys(names) if not any(_same(name_key(name), other) for other in named)]
    notes = [Fact("law.no_document", name=name) for name in untold]
    if not notes and not named and _asks_interpretation(text) and not any(map(_is_interpretation, laws)):
        notes.append(Fact("law.no_interpretations"))
    return Missing(tuple(notes), any(_OF_AN_ARTICLE.search(name) for name in names))


def with_pack(notes: Sequence[Fact], held: Iterable[LawVersion]) -> tuple[Fact, ...]:
    """Return notes, and where one tells of a missing law the pack that may have it, unless such laws are held."""
    lacking = any(note.code in _LACKING and _in_pack(note.values) for note in notes)
    if not lacking or any(version.law.kind is LawKind.REGULATION for version in held):
        return tuple(notes)
    return (*notes, Fact("law.pack_may_have", command=typed("qiusuo legal install --pack lawrefbook")))


def as_related(results: Sequence[LawDetails]) -> tuple[LawDetails, ...]:
    """Return results as what is related to a question and not what it asks for."""
    return tuple(result.with_note(RELATED) for result in results)


def _is_held(text: str, document: NamedDocument, find_law: FindLaw) -> bool:
    if find_law(document.name) or find_law(without_references(document.name)):  # 《第191条公司法》
        return True
    law = law_before(text[: document.end], find_law) if document.guessed else None
    if law is None or law.mention is not LawMention.NAMED:
        return False
    # What stands before a known name may be words of the question; a place makes another document of it.
    return law.certain or not _PLACE.match(document.name)


def _is_unknown(law: LawReference) -> bool:
    return bool(law.law_name) and (law.mention is LawMention.UNKNOWN or not law.certain)


def _statutes(text: str, find_law: FindLaw) -> list[str]:
    found = []
    for ending in _STATUTE.finditer(text):
        law = law_before(text[: ending.end()], find_law)
        unknown = law.mention is LawMention.UNKNOWN or (len(law.law_ids) > 1 and not law.certain)
        core = title_before(text, ending.start())
        if unknown and len(core) > 1 and "》" not in text[ending.end() : ending.end() + 1]:
            found.append(core + ending[0])
    return found


def _in_pack(values: Mapping[str, Any]) -> bool:
    """Tell whether a missing document is of a kind that the pack has: no case, no statute, which are held already."""
    name = str(values.get("name") or values.get("law") or "")
    return not name or bool(_BELOW_STATUTES.search(name))


def _same(one: str, other: str) -> bool:
    """Tell whether two names may be of one document: the shorter lacks its beginning or its number."""
    return one in other or (other in one and len(other) > 2)  # noqa: PLR2004 - 规定 is no name


def _asks_interpretation(text: str) -> bool:
    return bool(_INTERPRETATIONS.search(text)) and not _WHAT_IT_IS.search(text)


def _is_interpretation(law: Law) -> bool:
    return law.kind is LawKind.JUDICIAL_INTERPRETATION

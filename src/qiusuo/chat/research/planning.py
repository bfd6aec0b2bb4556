"""The sub-questions of a research: made by the model and checked, else by rule from the parts of the question."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from qiusuo.chat.followups import Exchange, resolve
from qiusuo.chat.models.extractive import cleaned, keywords
from qiusuo.citations.meaning.wording import fold, terms
from qiusuo.words import Fact, Language

FEWEST: Final = 3
_SHORTEST: Final = 4
_LONGEST: Final = 150
_SHORT_CLAUSE: Final = 3
_MARK: Final = re.compile(r"^\s*(?:[-*•·#>]+|[(（]?\d{1,2}\s*[.)）、:：]|[（(]?[一二三四五六七八九十][、)）.])\s*")
_QUOTES: Final = "\"'“”‘’「」`* "
_ASKS: Final = re.compile(
    r"[?？]$|什么|怎么|怎样|如何|为何|为什么|哪|谁|多少|多久|几|是否|吗$|呢$"
    r"|^(?:what|who|whom|whose|when|where|why|which|how|is|are|was|were|do|does|did|can|could|should|will|has|have)\b",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"(?<=[?？;；。!！\n])")
_CLAUSE_END: Final = re.compile(
    r"[,，;；:：]\s*|以及|并且|\band\b(?= (?:what|who|when|where|why|which|how)\b)", re.IGNORECASE
)
_COMPARED: Final = re.compile(
    r"(?:比较|对比|compare|difference between)?\s*(?P<one>[^,，。?？]{1,40}?)\s*"
    r"(?:和|与|跟|同|vs\.?|versus|\band\b|\bor\b)\s*"
    r"(?P<two>[^,，。?？]{1,40}?)\s*(?:的?(?:区别|差别|差异|不同|优缺点|对比|比较)|哪个|谁更|有什么不一样|有何不同"
    r"|\bcompared?\b|\bdiffer|[?？]?$)",
    re.IGNORECASE,
)
_COMPARES: Final = re.compile(
    r"比较|对比|区别|差别|差异|不同|哪个更|谁更|不一样|\bvs\b|versus|compare|differ|better", re.IGNORECASE
)
_BEFORE: Final = re.compile(
    r"([^,，。?？]*?)\s*(?:值得|[有是会要的]*(?:什么|哪|怎|如何|为何|多少|多高|多大|多久|谁|几|吗|呢))"
)
_NAME: Final = re.compile(
    r"(?:(?<=^)(?:What|Who|When|Where|Why|Which|How|Is|Are|Was|Were|Do|Does|Did|Can|Could|Should|Will|Has|Have) )?"
    r"([A-Z][\w.+-]*\w(?: (?:of |the |in |for )?[A-Z0-9][\w.+-]*\w)*)"
)
_FACETS: Final = ("research.facet_background", "research.facet_news", "research.facet_problems")


def questions_in(text: str, question: str, most: int) -> list[str]:
    """Return the sub-questions in a model's words: lines that ask, that are about the question, each once.

    None where they are fewer than three: then it was no plan.
    """
    about = _words(question)
    lines = (_MARK.sub("", line).strip(_QUOTES) for line in text.splitlines())
    asking = [line for line in lines if _SHORTEST <= len(line) <= _LONGEST and _ASKS.search(line)]
    found = _once(line for line in asking if _words(line) & about)[:most]
    return found if len(found) >= FEWEST else []


def by_rule(question: str, most: int, language: Language, *, facets: bool = True) -> list[str]:
    """Return sub-questions without a model: the question's parts, what it compares, and what is always worth asking.

    ``facets``: the latter, which is nothing for a question that a plug-in knows: who asks what is owed to him does not
    ask for its background.
    """
    line = " ".join(question.split())
    found = _once([*_parts(line), *_compared(line, language)])
    if not facets:
        return _once([line[:_LONGEST], *found])[:most]
    subject = _subject(line)
    sides = [Fact(code, subject=subject[:_LONGEST]).text(language) for code in _FACETS]
    wanted = found if len(found) >= FEWEST else _once([line[:_LONGEST], *found, *sides])[: max(FEWEST, len(found) + 1)]
    return wanted[:most]


def _parts(line: str) -> list[str]:
    """Return the questions that a text has, each understood by those before it, as the questions of a conversation."""
    sentences = [part.strip() for part in _SENTENCE_END.split(line) if part.strip()]
    clauses = [
        clause.strip()
        for sentence in sentences
        for clause in _CLAUSE_END.split(sentence)
        if len(clause.strip()) > _SHORT_CLAUSE
    ]
    if len(clauses) < 2:  # noqa: PLR2004 - one clause has no parts
        return []
    asked: list[Exchange] = []
    parts: list[str] = []
    for clause in clauses:
        meant = resolve(clause, asked).query
        if parts and meant == clause and not _words(keywords(clause)) & _words(keywords(parts[0])):
            meant = f"{_subject(parts[0])} {clause}"
        parts.append(meant)
        asked.append(Exchange(meant, ""))
    return parts


def _subject(clause: str) -> str:
    """Return the longest name of an English question, what a Chinese one says before it asks, else its key words."""
    if clause.isascii():
        names = [name for name in _NAME.findall(clause) if not _ASKS.search(name)]
        named = max(names, key=len, default="")
    else:
        before = _BEFORE.match(clause)
        named = before[1] if before and len(before[1]) > 1 else ""
    return named or keywords(cleaned(clause)) or clause


def _words(text: str) -> set[str]:
    return terms(fold(text.lower()))


def _compared(line: str, language: Language) -> list[str]:
    found = _COMPARED.search(line) if _COMPARES.search(line) else None
    if found is None:
        return []
    return [Fact("research.facet_features", subject=found[name].strip()).text(language) for name in ("one", "two")]


def _once(lines: Iterable[str]) -> list[str]:
    kept: dict[str, str] = {}
    for line in lines:
        key = "".join(character for character in line.lower() if character.isalnum())
        if key:
            kept.setdefault(key, line)
    return list(kept.values())

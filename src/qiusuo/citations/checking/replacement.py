"""Finds words that a claim puts in the place of others: 在[上海]举行 where the source has 在[北京]举行."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qiusuo.citations.checking.conflicts import Conflict
from qiusuo.citations.meaning.wording import STOP_WORDS, bigrams, stem
from qiusuo.numerals import HAN_NUMERALS

_NOT_WORD = re.compile(r"(?:[^\u3400-\u9fffA-Za-z0-9.]|\.(?![0-9]))+")
_ENGLISH_END = re.compile(r"[.!?;](?:\s|\Z)")
_ENGLISH_WORD = re.compile("[a-z][a-z'-]*")
_HAN = re.compile(r"[\u3400-\u9fff]+")
_STOP = "，"  # all punctuation, and the ends of the text
_AFTER_WHICH_A_NAME_COMES = "由在为于从向被经是至叫称"
_AGENTS = re.compile("[由被归向]")
_DATES = "年月日"
_NO_NAME = re.compile("[了着也就都才既还]|可以|这一")  # words around the facts
_PRONOUNS = "他她它其"
_POINTERS = _PRONOUNS + "这该此本那两"
_FUNCTION_WORDS = frozenset(
    "以的了在于为和与及也又还就都才很更最再曾已将被把给对从向到得地着过是有则且而并均共仅约近达至起来"
)
_ADVERBS = re.compile(
    "目前|此外|据悉|同时|其中|因此|例如|另外|总之|最终|随后|近日|当时|如今|现在|一般|通常|其实|不过|但是|而且|所以|如果|由于|为了|"
    "关于|对于|除了|今年|去年|当前|据此|最新|相关|根据|按照|事实上|总体"
)
_SURNAMES = frozenset(
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟"
    "汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文屠施颜"
)
_CHINESE_FROM, _SUBJECT_FROM, _ENGLISH_FROM = 0.5, 0.6, 0.6
_NUMERALS = frozenset(HAN_NUMERALS)  # numbers are compared apart
_REACH = 12
_OTHERWISE_NEW = 0.2
_LONGEST_RUN = 6
_BEGINNING = 5
_NAME_LENGTHS = range(2, 4)


def replaced(claim: str, passage: str, source: str, coverage: float) -> Conflict | None:
    """Tell whether between the same words the claim says something else than the passage of the source (all folded).

    The less the two have in common, the less is a difference in one place worth: where much else is new too, the
    sentence may only be told in other words (``MISSING``).
    """
    if coverage < _CHINESE_FROM:
        return None
    found = None
    if not claim.isascii():
        found = _replaced_chinese(claim, passage, source, subject=coverage >= _SUBJECT_FROM)
    if found is not Conflict.CONFLICT and coverage >= _ENGLISH_FROM:
        found = _replaced_english(claim, passage) or found
    return found


def _replaced_chinese(claim: str, passage: str, source: str, *, subject: bool) -> Conflict | None:
    claim, passage = (_STOP + _NOT_WORD.sub(_STOP, text).strip(_STOP) + _STOP for text in (claim, passage))
    runs = list(_new_runs(claim, passage))
    new_characters, characters = sum(end - start for start, end in runs), len(claim.replace(_STOP, ""))
    found = None
    for start, end in runs:
        new = claim[start : max(end, start + 2)] not in source
        if not new or end - start > _LONGEST_RUN or set(claim[start:end]) <= _NUMERALS:
            continue
        if _stands_for(claim, start, end, passage) or (subject and _opens_otherwise(claim, start, end, passage)):
            else_new = new_characters - (end - start)
            if else_new <= _OTHERWISE_NEW * characters and not _NO_NAME.search(claim, start, end):
                return Conflict.CONFLICT
            found = Conflict.MISSING
    if any(_other_agent(claim, agent.start(), passage) for agent in _AGENTS.finditer(claim)):
        return Conflict.CONFLICT
    return found


def new_subject(claim: str, source: str, coverage: float) -> bool:
    """Tell whether a Chinese claim, taken from the source else, begins with words that the source has nowhere."""
    if coverage < _SUBJECT_FROM or not _HAN.match(claim) or claim[0] in _POINTERS or _ADVERBS.match(claim):
        return False
    # Neither of the first two characters has a neighbour that it has in the source.
    return bool(_HAN.match(claim, 1)) and claim[:2] not in source and (claim[1:3] not in source or len(claim) == 2)  # noqa: PLR2004


def _new_runs(claim: str, passage: str) -> Iterator[tuple[int, int]]:
    """Yield the runs of Chinese characters that share no pair of neighbours with the passage."""
    covered = [False] * (len(claim) + 1)
    for index, pair in enumerate(bigrams(claim)):
        if pair in passage:
            covered[index] = covered[index + 1] = True
    for run in _HAN.finditer(claim):
        position = run.start()
        while position < run.end():
            start = position
            while position < run.end() and not covered[position]:
                position += 1
            if position - start > 1 or (position > start and claim[start] not in _FUNCTION_WORDS):
                yield start, position
            position += 1


def _stands_for(claim: str, start: int, end: int, passage: str) -> bool:
    """Tell whether other words stand in the source where the claim has ``claim[start:end]``."""
    mine, right = claim[start:end], claim[end : end + 2]
    lefts = [claim[start - 2 : start]] if start > 1 and claim[start - 1] not in _DATES + _STOP else []
    if claim[start - 1] in _AFTER_WHICH_A_NAME_COMES:
        lefts.append(claim[start - 1])
    for left in lefts:
        before_name = left[-1] in _AFTER_WHICH_A_NAME_COMES
        if right == _STOP and not before_name:
            continue
        for theirs in _between(passage, left, right):
            if set(theirs) <= _FUNCTION_WORDS:
                continue
            shared = set(mine) & set(theirs)
            # 石炭纪 and 侏罗纪 share what they are, 到达 and 抵达 what they mean.
            if not shared or (before_name and shared == {mine[-1]} == {theirs[-1]}):
                return True
    return False


def _between(passage: str, left: str, right: str) -> Iterator[str]:
    """Yield what stands between ``left`` and the next ``right``, if that is a few characters without a stop."""
    position = passage.find(left)
    while position >= 0:
        begin = position + len(left)
        end = passage.find(right, begin + 1, begin + _REACH + len(right))
        if end > begin and _STOP not in passage[begin:end]:
            yield passage[begin:end]
        position = passage.find(left, position + 1)


def _opens_otherwise(claim: str, start: int, end: int, passage: str) -> bool:
    """Tell whether a clause of the source begins with another subject than the claim."""
    mine, right = claim[start:end], claim[end : end + 2]
    if start != 1 or len(mine) < min(_NAME_LENGTHS) or mine[0] in _POINTERS or _STOP in right:
        return False
    for theirs in _between(passage, _STOP, right):
        if theirs in _PRONOUNS:
            return mine[0] in _SURNAMES and len(mine) in _NAME_LENGTHS
        if 1 < len(theirs) <= len(mine) + 1 and theirs != mine and not theirs.endswith(mine):
            return True
    return False


def _other_agent(claim: str, index: int, passage: str) -> bool:
    """Tell whether the source has another doer between 由 and the same verb (由消费者承担, 由经营者承担)."""
    for length in range(2, _LONGEST_RUN + 1):
        mine, right = claim[index + 1 : index + 1 + length], claim[index + 1 + length : index + 3 + length]
        if not _HAN.fullmatch(mine + right):
            return False
        for theirs in _between(passage, claim[index], right):
            return theirs not in mine and mine not in theirs
    return False


def _replaced_english(claim: str, passage: str) -> Conflict | None:
    """Tell whether one content word differs between the same neighbours (start pepper seeds, start tomato seeds)."""
    mine = _stems(claim)
    wanted = set(mine)
    if wanted == {_STOP}:
        return None  # no English in it
    theirs = _stems(passage)
    known = {word[:_BEGINNING] for word in theirs}
    new = [word for word in wanted if word[:_BEGINNING] not in known]
    if not new:
        return None
    between = {(left, right): middle for left, middle, right in zip(theirs, theirs[1:], theirs[2:], strict=False)}
    for left, middle, right in zip(mine, mine[1:], mine[2:], strict=False):
        other = between.get((left, right), middle)
        if other not in wanted and middle[:_BEGINNING] not in known and other != _STOP:
            return Conflict.CONFLICT if len(new) - 1 <= _OTHERWISE_NEW * len(wanted) else Conflict.MISSING
    return None


def _stems(text: str) -> list[str]:
    """Return the stems of the content words, with a stop at the beginning and end of each sentence."""
    stems = []
    for sentence in _ENGLISH_END.split(text.lower()):
        stems += [_STOP, *[stem(word) for word in _ENGLISH_WORD.findall(sentence) if word not in STOP_WORDS]]
    return [*stems, _STOP]

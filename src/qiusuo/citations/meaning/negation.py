"""What a sentence denies. "不支持存储卡" and "supports no cards" deny what "支持存储卡" asserts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from qiusuo.citations.meaning.wording import STOP_WORDS, bigrams, stem

# The look-aheads let the search skip what cannot begin one of the words.
_ZH_NOT_NEGATIVE = re.compile(
    "(?=[不无未没别特分类性级区个识告非东西南北中是能])(?:不仅|不但|不过|不断|不同|不少|不久|不管|不论|无论|不只|未来|无线|无锡|无数|无人机|不锈钢|不足|不到|不满|不超过|不得超过|不低于|"
    "不得低于|不少于|不高于|不多于|不晚于|不早于|不含|不变|无固定|无理由|无乳糖|无障碍|未成年|不适|不良|不全|不当|不便|不动产|"
    "不可避免|不可或缺|不得不|不限于|无疑|没收|别的|特别|分别|类别|性别|级别|区别|别墅|个别|识别|告别|别名|非常|非洲|[东西南北中]非|"
    "非典|是否|能否|无偿|不等|不易|无人|不利)"
)
_ZH_NEGATION = re.compile(
    "(?=[并从尚未暂没不无用禁严拒否别莫非])(?:并未|从未|尚未|未曾|未能|未经|暂未|未|没有|没|并非|并不|不再|不能|不得|不会|不可|不必|不须|无需|无须|不用|用不着|不要|不予|"
    "不宜|不应|不|无法|无|禁止|严禁|禁|拒绝|拒不|否认|别|莫|非)(?:能|会|再|要|用|必|须|予|宜|应|可以|可|主动|随便|自行|被|受)*"
)
_ZH_NOT_YET = re.compile("(..)(?:之|以)?前")
_ZH_HEAD = 3
_HAN = re.compile(r"[\u3400-\u9fff]+")
_EN_NOT_NEGATIVE = re.compile(
    r"\b(?:not (?:only|just|merely|necessarily)|no (?:more|less|fewer|later|earlier|doubt|matter|other)|no\.)"
    r"|\b(?:no|never)\b(?=[^.;!?]{0,80}\bthan\b)"
)
# Verbs that deny are words of the sentence too: "has not been removed".
_EN_DENYING_VERBS = frozenset({"fail", "fails", "failed", "refuse", "refused", "remove", "removed", "lack", "lacks"})
_EN_NEGATIVE = _EN_DENYING_VERBS | {"not", "never", "no", "none", "neither", "nor", "without", "unable", "non", "gone"}
_EN_LIGHT_VERBS = frozenset({"try", "need", "want", "intend", "plan", "seem", "get", "use"})
_EN_DETERMINERS = frozenset({"no", "neither", "without"})
_EN_CLAUSE_END = re.compile("[.,;:!?]")
_EN_WORD = re.compile("[a-z][a-z']*")
# What every negation has in it: a quick look that spares most texts the reading.
_ZH_SIGN = re.compile("[不无未没非别莫否禁拒]")
_EN_SIGN = re.compile("no(?:t|r|ne?)?(?![a-z'])|n't|never|neither|without|unable|gone|fail|refuse|remove|lack")


class Denial(NamedTuple):
    """What one negation denies: words that belong together; ``direct`` if they stand right behind it."""

    words: tuple[str, ...]
    direct: bool = True


@dataclass(frozen=True, slots=True)
class Negations:
    """The negations of a sentence.

    ``denials`` holds the words behind each of them; ``reach`` all that stands behind one in its clause; ``free`` what
    stands before or without one.
    """

    denials: tuple[Denial, ...]
    reach: frozenset[str]
    free: frozenset[str]


def negations(text: str) -> Negations:
    """Return the negations of folded text."""
    denials: list[Denial] = []
    reach: set[str] = set()
    free: set[str] = set()
    lowered = text.lower()
    if not text.isascii():
        _read_chinese(lowered, denials, reach, free)
    _read_english(lowered, denials, reach, free)
    return Negations(tuple(denials), frozenset(reach), frozenset(free))


def may_deny(text: str) -> bool:
    """Tell whether folded text may have negations; where it may not, it has none."""
    return bool(_EN_SIGN.search(text.lower()) or (not text.isascii() and _ZH_SIGN.search(text)))


def denied(claim: Negations, source: Negations) -> bool:
    """Tell whether one of the two denies what the other asserts."""
    # Where both deny something, only the word right behind a negation is telling.
    both = bool(claim.denials and source.denials)
    for denial in claim.denials:
        if (denial.direct or not both) and _asserted(denial.words, source.free - source.reach):
            return True
    return any(
        (denial.direct or not both) and _asserted(denial.words, claim.free - claim.reach - source.free)
        for denial in source.denials
    )


def _asserted(words: tuple[str, ...], text: frozenset[str]) -> bool:
    return bool(words) and text.issuperset(words)


def _read_chinese(text: str, denials: list[Denial], reach: set[str], free: set[str]) -> None:
    masked = _ZH_NOT_NEGATIVE.sub(lambda match: "\x00" * len(match[0]), text)
    for run in _HAN.finditer(masked):
        first = None
        for match in _ZH_NEGATION.finditer(run[0]):
            first = match.start() if first is None else first
            behind = run[0][match.end() :]
            # 不在现场售票: behind 在 comes a place, what is denied comes later.
            head = "" if behind[:1] == "在" else behind[:_ZH_HEAD].partition("的")[0]
            denials += [Denial((pair,), index == 0) for index, pair in enumerate(bigrams(head))] or [Denial(())]
            reach.update(bigrams(behind))
        # What comes before something has not happened: 断奶前 is 没断奶.
        reach.update(_ZH_NOT_YET.findall(run[0]))
        free.update(bigrams(run[0][:first]))


def _read_english(text: str, denials: list[Denial], reach: set[str], free: set[str]) -> None:
    text = _EN_NOT_NEGATIVE.sub(" ", text).replace("n't", " not").replace("cannot", "can not").replace("-", " ")
    for clause in _EN_CLAUSE_END.split(text):
        words = [word for word in _EN_WORD.findall(clause) if word in _EN_NEGATIVE or word not in STOP_WORDS]
        first = len(words)
        for index, word in enumerate(words):
            if word in _EN_NEGATIVE:
                first = min(first, index + (word in _EN_DENYING_VERBS))
                behind = [stem(other) for other in words[index + 1 :]]
                # "No headphone jack" denies the jack, not headphones.
                count = 2 if word in _EN_DETERMINERS else 1
                denials.append(Denial(tuple(other for other in behind if other not in _EN_LIGHT_VERBS)[:count]))
                reach.update(behind)
        free.update(map(stem, words[:first]))

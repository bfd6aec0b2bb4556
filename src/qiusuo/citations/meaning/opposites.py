"""Words that turn a statement round: where the claim has one side and the source only the other, they disagree."""

from __future__ import annotations

import re

from qiusuo.citations.meaning.wording import stem

# One pair of sides per line. English words stand as they are or as stems.
_CHINESE = """
增长 增加 上升 上涨 提高 提升 攀升 走高 涨 / 下降 减少 下跌 降低 下滑 回落 走低 跌
上调 调高 / 下调 调低
扩大 变大 扩张 / 缩小 变小 萎缩
高于 超过 多于 大于 / 低于 不及 少于 小于 仅次于 尚未超过 未超过
延长 / 缩短
支持 赞成 同意 接受 认可 / 反对 拒绝 否决 不认
允许 可以 准许 准予 / 禁止 不得 不能 严禁 不可 禁用 不予
继续 仍然 / 不再 停止 终止 停用
成功 / 失败
最大 / 最小
最高 / 最低
最快 / 最慢
最多 / 最少
盈利 / 亏损
需要 必须 应当 / 不需要 无需 不必 不用 无须 不须 用不着
有罪 / 无罪
酸性 / 碱性
有利 / 不利
强制 / 自愿
"""
_ENGLISH = """
increas ris risen rose grow grew grown climb rais gain / decreas fall fell fallen drop declin lowered cut shrink shrank
unchang steady / rais cut lowered increas
highest / lowest
largest biggest / smallest
before / after
accept approv agre / reject refus declin veto
allow permit / ban forbid forbidden prohibit
mandatory compulsory / optional opt-in voluntary
enough sufficient / insufficient little
higher / lower
high / low
more / less fewer
support / oppos
won win beat victory / lost los lose defeat
succeed success successful / fail failur
"""

Side = tuple[str, int]


def _sides(lines: str) -> dict[str, set[Side]]:
    table: dict[str, set[Side]] = {}
    for line in lines.strip().splitlines():
        for side, words in enumerate(line.split(" / ")):
            for word in words.split():
                table.setdefault(word, set()).add((line, side))
    return table


_CHINESE_SIDES, _ENGLISH_SIDES = _sides(_CHINESE), _sides(_ENGLISH)
_CHINESE_WORD = re.compile("|".join(sorted(_CHINESE_SIDES, key=len, reverse=True)))
_ENGLISH_WORD = re.compile("[a-z]+(?:-[a-z]+)*")


def sides(text: str) -> set[Side]:
    """Return which sides of which pairs of opposites the words of a folded text are on."""
    found: set[Side] = set()
    if not text.isascii():
        for word in _CHINESE_WORD.findall(text):
            found |= _CHINESE_SIDES[word]
    for word in _ENGLISH_WORD.findall(text.lower()):
        if side := _ENGLISH_SIDES.get(word) or _ENGLISH_SIDES.get(stem(word)):
            found |= side
    return found


def opposed(claim: set[Side], source: set[Side]) -> bool:
    """Tell whether the claim is on a side on which the source is not, while the source is on the other."""
    return any(
        (pair, 1 - side) in source and (pair, side) not in source and (pair, 1 - side) not in claim
        for pair, side in claim
    )

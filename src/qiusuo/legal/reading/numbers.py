"""Numbers of articles: 第五百七十七条, 第577条, 第１３３条之一."""

from __future__ import annotations

import re
import unicodedata

from qiusuo.legal.models import ArticleNumber
from qiusuo.numerals import HAN_NUMERALS, han_number

HAN = "".join(character for character in HAN_NUMERALS if character not in "万亿")
NUMBER = rf"(?:[0-9](?:\s*+[0-9]){{0,11}}(?!\s*+[0-9])|[{HAN}](?:\s*+[{HAN}]){{0,11}}(?!\s*+[{HAN}]))"
"""A number in digits or Chinese numerals, with blanks inside; for text that ``folded`` has prepared. It is bounded and
gives nothing back, as must every pattern that is made of it: else a line of digits is read again from each of them."""

_DIGITS = "零一二三四五六七八九"
_UNITS = ("", "十", "百", "千")
_LABEL = re.compile(rf"^第?\s*({NUMBER})\s*(?:条|条目)?\s*(?:之\s*({NUMBER}))?\s*条?$")
MAX_ARTICLE = 9999


# Circles are typed for zeros; marks without width come with text that was copied from pages.
_ALIKE = str.maketrans({"○": "〇", "◯": "〇"} | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff"))


def folded(text: str) -> str:
    """Return text with full-width digits and brackets folded; Chinese quotation marks stay."""
    return unicodedata.normalize("NFKC", text).translate(_ALIKE)


def number_of(text: str) -> int | None:
    """Return the value of a number in digits or Chinese numerals, None if it is none, absurd or badly written.

    五百七七 may be 577 or 507, 五百七 507 or 570: such a number is not guessed.
    """
    bare = "".join(text.split())
    if bare.isdecimal():
        value = int(bare[:6])
    else:
        value = int(han_number(bare) or 0)
        if any(unit in bare for unit in _UNITS[1:]) and _spelt_out(bare) != han_of(value):
            return None
    return value if 0 < value <= MAX_ARTICLE else None


def _spelt_out(numeral: str) -> str:
    """Return a numeral as laws write it: 两百十二 is 二百一十二."""
    text = numeral.replace("〇", "零").replace("两", "二")
    text = re.sub(r"(?<=[百千零])十", "一十", text)
    return text.removeprefix("一") if text.startswith("一十") else text


def han_of(value: int) -> str:
    """Write a number below ten thousand in Chinese numerals, as laws do: 577 is 五百七十七, 1043 一千零四十三."""
    text, pending_zero = "", False
    for place in range(3, -1, -1):
        digit = value // 10**place % 10
        if digit == 0:
            pending_zero = bool(text)
            continue
        if pending_zero:
            text += "零"
            pending_zero = False
        text += _DIGITS[digit] + _UNITS[place]
    return text.removeprefix("一") if text.startswith("一十") else text


def article_label(number: ArticleNumber) -> str:
    """Return the label of an article: 第一百三十三条之一."""
    tail = f"之{han_of(number.suffix)}" if number.suffix else ""
    return f"第{han_of(number.number)}条{tail}"


def read_label(label: str) -> ArticleNumber | None:
    """Read an article's label (第一百三十三条之一, 条目一, 12); None where it holds no number."""
    match = _LABEL.match(folded(label).removeprefix("条目").strip())
    if match is None:
        return None
    number = number_of(match[1])
    suffix = number_of(match[2]) if match[2] else 0
    return None if number is None or suffix is None else ArticleNumber(number, suffix)

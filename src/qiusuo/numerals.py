"""Numbers written in words: 三百, 一百五十万, 二〇二四, twenty-five, three hundred."""

from __future__ import annotations

_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SMALL = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10**4, "亿": 10**8}

HAN_NUMERALS = "零〇一二两三四五六七八九十百千万亿"

_TEENS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
ENGLISH_NUMBERS = {word: value for value, word in enumerate(_TEENS.split())} | {
    word: 10 * tens for tens, word in enumerate(_TENS.split(), 2)
}
ENGLISH_ORDINALS = {word: value for value, word in enumerate(_ORDINALS.split(), 1)}
_ENGLISH_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}


def han_number(text: str) -> float | None:
    """Return the value of a Chinese numeral (三百, 二〇二四, 五点八), None if it is none."""
    whole, point, decimals = text.partition("点")
    if point:
        head, digits = han_number(whole), "".join(str(_DIGITS[c]) for c in decimals if c in _DIGITS)
        return None if head is None or len(digits) != len(decimals) or not digits else head + float(f"0.{digits}")
    if not text:
        return None
    if len(text) > 1 and all(c in _DIGITS for c in text):
        return float("".join(str(_DIGITS[c]) for c in text))
    total = section = digit = 0
    smallest = max(_LARGE.values()) * 10
    for character in text:
        if character in _DIGITS:
            digit = _DIGITS[character]
        elif character in _SMALL:
            # 十二 begins without a one.
            section += (digit or 1) * _SMALL[character]
            digit = 0
        elif character in _LARGE:
            size = _LARGE[character]
            # 一亿二千万 adds, 一万亿 multiplies.
            total = total + (section + digit) * size if size < smallest else (total + section + digit) * size
            total = total or size
            smallest = min(smallest, size)
            section = digit = 0
        else:
            return None
    return float(total + section + digit)


def english_number(words: list[str]) -> float | None:
    """Return the value of English number words (``["three", "hundred"]``), None if they are none."""
    total = current = 0
    for word in words:
        if word in ENGLISH_NUMBERS:
            current += ENGLISH_NUMBERS[word]
        elif word == "hundred":
            current = (current or 1) * 100
        elif word in _ENGLISH_SCALES:
            total += (current or 1) * _ENGLISH_SCALES[word]
            current = 0
        elif word != "and":
            return None
    return float(total + current)

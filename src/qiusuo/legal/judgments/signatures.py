"""The day on which a judgment was given, as it stands beside the signatures at its end."""

from __future__ import annotations

import re

from qiusuo.legal.reading.dates import read_day
from qiusuo.legal.reading.numbers import folded

# Long appendices (the text of the articles applied) may follow the signatures.
_SIGNED_WITHIN = 6000
# A case that began in one year is seldom decided more than a few years later: ends of sentences and of terms are.
_LONGEST_CASE_YEARS = 5
_HAN_YEAR = r"[一二][〇零Oo0九一二三四五六七八]{3}"
_HAN_DAY = rf"{_HAN_YEAR}\s?年\s?[元一二三四五六七八九十]{{1,2}}\s?月\s?[一二三四五六七八九十廿]{{1,3}}\s?日"
_DIGIT_DAY = r"(?:19|20)\d{2}\s?年\s?\d{1,2}\s?月\s?\d{1,2}\s?日"
# Signatures are spaced out (审　判　长) or run together (审判长张三审判员李四).
_SIGNER = "(?:{})".format(
    "|".join(
        r"\s{0,4}".join(signer) for signer in ("审判长", "审判员", "陪审员", "执行员", "执行长", "书记员", "法官助理")
    )
)
# Between a signer and the day stand names, blanks and other signers. 由审判员…于…公开开庭 is a sentence.
_NAMES_ONLY = r"[^。,;!?《》“”\"/\d第起至止从自担庭录诉被犯附效]{1,120}?(?<![于在至从自即到])"
_GOES_ON = r"(?!\s?(?:[止起至前后内,]|以[前后]|[公开受立宣]))"
_BELOW_SIGNERS = re.compile(rf"{_SIGNER}{_NAMES_ONLY}({_HAN_DAY}|{_DIGIT_DAY}){_GOES_ON}")
_ABOVE_CLERK = re.compile(
    rf"(?:^|[\s。)])({_HAN_DAY}|{_DIGIT_DAY})\s{{0,40}}(?:代\s?理?)?(?:{_SIGNER}|本件与原本)", re.MULTILINE
)
_OWN_LINE = re.compile(rf"^[ \t]*({_HAN_DAY})[ \t]*$", re.MULTILINE)
_LAST_WORDS = re.compile(rf"[。)]\s{{0,40}}({_HAN_DAY})\s*\Z")
# Most copies of judgments end before the signatures; folding their text to find that out costs more than this look.
_MAY_BE_DATED = re.compile(rf"{_SIGNER}|[一二][〇○◯零OoＯ0０九]\w\w\s?年")
_YEAR = re.compile(r"(?:19|20)\d{2}")


def day_of_judgment(text: str, number: str) -> str:
    """Return the day beside the signatures, an empty string where none is sure.

    Other days near the end are those of the sentence (刑期自…起至…止), of terms and of what is quoted. The year of the
    案号, ``number``, bounds the day; without it only a day beside a signature counts.
    """
    end = text[-_SIGNED_WITHIN:]
    if not _MAY_BE_DATED.search(end):
        return ""
    end = folded(end)
    year = _YEAR.search(folded(number))
    ways = (_BELOW_SIGNERS, _ABOVE_CLERK, _OWN_LINE, _LAST_WORDS) if year else (_BELOW_SIGNERS, _ABOVE_CLERK)
    for way in ways:
        days = [read_day(written.replace("o", "〇")) for written in way.findall(end)]
        plausible = [day for day in days if day and (year is None or _fits(day, int(year[0])))]
        if plausible:
            return plausible[-1]
    return ""


def _fits(day: str, began: int) -> bool:
    return began <= int(day[:4]) <= began + _LONGEST_CASE_YEARS

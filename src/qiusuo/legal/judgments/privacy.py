"""Personal data in judgments, masked before anything is shown: names of people, numbers, addresses."""

from __future__ import annotations

import re

from qiusuo.legal.judgments.people import DOTS, HAN, is_name, lists, people_in
from qiusuo.legal.models import Case

_ID_CARD = re.compile(r"(?<!\d)(\d{6})\d{8,11}([\dXx])(?!\d)|(?<!\d)(\d{6})\d{9}(?!\d)")
_LONG_NUMBER = re.compile(r"(?<![\d.])(\d{4})\d{8,12}(\d{3,4})(?!\d)")
_MOBILE = re.compile(r"(?<!\d)(1[3-9]\d)\d{4}(\d{4})(?!\d)")
_PHONE = re.compile(r"(?<!\d)(0\d{2,3}-)\d{4}(\d{3,4})(?!\d)")
_MAIL = re.compile(r"[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9-]{1,63}\.[A-Za-z0-9.]{1,63}")
_PLATE = re.compile(
    r"([京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼])([A-Z])[·\s]?[A-Z0-9]{5,6}(?![A-Z0-9])"
)
_BORN = re.compile(r"((?:19|20)\d{2})年\d{1,2}月\d{1,2}日(出生|生(?![效产活意成前]))")
_LEAVES = "在于至到将对被与和因从向并期时内后及"
# An address goes on to its last street, number or village; what somebody did there is no part of it.
_HOME = re.compile(
    rf"((?:户籍所在地|户籍地|住所地?|住处|住址|[现居暂租家]住|(?<![{HAN}])住)[在于地]?[：:]?\s{{0,3}}"
    rf"(?:(?![的{_LEAVES}])[{HAN}]){{2,12}}?(?:省|自治区|市|县|区|州))"
    rf"[^,，。;；（(\s的归{_LEAVES}]{{1,50}}(?<=[路街道巷弄号村组室楼栋元幢层镇乡区县市州院屯队庄苑园城舍里坊桥房])(?!屋)"
)
# Signatures are spaced out: 审　判　员　　张伟民.
_LOOK_BACK = 24
SHORTEST_PART = 2
_NUMERAL = re.compile("[一二三四五六七八九十百千万]{2,4}")
_SAID_OF_PEOPLE = frozenset("称说供辩述的在与和犯等被将于系")
_COMPANY_NAME = re.compile(rf"[{HAN}]{{2,12}}?(?:有限|股份|集团)")


def mask_text(text: str, names: tuple[str, ...] = ()) -> str:
    """Mask numbers, addresses and the given people's names."""
    text = _ID_CARD.sub(lambda match: f"{match[1] or match[3]}********", text)
    text = _MOBILE.sub(r"\1****\2", text)
    text = _LONG_NUMBER.sub(r"\1****\2", text)
    text = _PHONE.sub(r"\1****\2", text)
    text = _MAIL.sub("***@***", text)
    text = _PLATE.sub(r"\1\2*****", text)
    text = _BORN.sub(r"\1年*月*日\2", text)
    text = _HOME.sub(r"\1***", text)
    return _mask_names(text, names) if names else text


def _mask_names(text: str, names: tuple[str, ...]) -> str:
    """Mask people's names wherever they stand, but not those of officials nor of companies that begin alike."""
    known = lists()
    pattern = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))

    def masked(match: re.Match[str]) -> str:
        name, start, end = match[0], match.start(), match.end()
        if "".join(text[max(0, start - _LOOK_BACK) : start].split()).rstrip(":：").endswith(known.officials):
            return name
        company = _COMPANY_NAME.match(text, end)
        if company and not any(character in known.never for character in company[0][:-2]):
            return name
        before = text[start - 1 : start]
        # 和任伟, 向马云, 伙同高飞: these end no word that goes on.
        apart = before in known.small or text[max(0, start - _LOOK_BACK) : start].endswith(("同", *known.roles))
        if name in known.words or _NUMERAL.fullmatch(name):  # somebody is called 许可 or 五十八
            after_role = text[max(0, start - _LOOK_BACK) : start].rstrip(" \u3000:：").endswith((*known.roles, "、"))
            if not after_role and (re.match(f"[{HAN}]", before) or text[end : end + 1] not in _SAID_OF_PEOPLE):
                return name
        elif len(name) == 2 and name[0] in known.wordlike and before in known.given and not apart:  # noqa: PLR2004 - 早高峰, 海马路
            return name
        return masked_name(name)

    return pattern.sub(masked, text)


def masked_name(name: str) -> str:
    """Return 刘某 for 刘超, 欧阳某某 for 欧阳小明."""
    if any(dot in name for dot in DOTS):
        return name[:1] + "某某"
    surname = name[:2] if name.startswith(lists().compound) else name[:1]
    return surname + "某" * max(1, len(name) - len(surname))


def people_of(case: Case) -> tuple[str, ...]:
    """Return the people whom a judgment names; each text of it that is shown is masked with all of them."""
    apart = [part for part in (case.facts, case.reasoning, case.verdict) if part not in case.text]
    names = {part for part in re.split(r"[,，、;；\s]+", case.parties) if is_name(part)}
    for name in people_in("\n".join([case.text, *apart])):
        names.add(name)
        # 买买提·吐尔逊 is called 买买提 further on.
        first = re.split(f"[{''.join(DOTS)}]", name)[0]
        if len(first) >= SHORTEST_PART:
            names.add(first)
    return tuple(names)

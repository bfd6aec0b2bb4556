"""Days in laws and judgments: 二〇一六年三月一日, 2021年1月1日, 2021-01-01; and when a version really took effect."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from types import MappingProxyType

from qiusuo.legal.models import DateBasis
from qiusuo.legal.reading.names import name_key
from qiusuo.legal.reading.numbers import folded
from qiusuo.numerals import han_number

_DAY = re.compile(
    r"(?P<year>(?:19|20)\d{2}|[一二][〇○零0O九一二三四五六七八]{3})\s*年\s*"
    r"(?P<month>\d{1,2}|[元一二三四五六七八九十]{1,2})\s*月\s*"
    r"(?P<day>\d{1,2}|[一二三四五六七八九十廿]{1,3})\s*日"
)
_ISO = re.compile(r"(?P<year>(?:19|20)\d{2})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})")
# Versions whose source states the day of the original law, or that of publication: the day on which they took effect.
# An amended law's own text names the first day only. Each entry was compared with the day (施行日期) that the national
# database gives in its public copies; 反垄断法, 立法法 and 民事诉讼法 with the order that published the decision; and
# 慈善法, 会计法, 监察法, 代表法, 台湾同胞投资保护法 and 常务委员会议事规则 with press reports or other collections.
KNOWN_EFFECTIVE: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("专利法", "2020-10-17"): "2021-06-01",
        ("著作权法", "2020-11-11"): "2021-06-01",
        ("商标法", "2019-04-23"): "2019-11-01",
        ("安全生产法", "2021-06-10"): "2021-09-01",
        ("反垄断法", "2022-06-24"): "2022-08-01",
        ("消费者权益保护法", "2013-10-25"): "2014-03-15",
        ("劳动合同法", "2012-12-28"): "2013-07-01",
        ("刑法", "2020-12-26"): "2021-03-01",
        ("土地管理法", "2019-08-26"): "2020-01-01",
        ("城市房地产管理法", "2019-08-26"): "2020-01-01",
        ("农村土地承包法", "2018-12-29"): "2019-01-01",
        ("慈善法", "2023-12-29"): "2024-09-05",
        ("立法法", "2023-03-13"): "2023-03-15",
        ("种子法", "2021-12-24"): "2022-03-01",
        ("审计法", "2021-10-23"): "2022-01-01",
        ("行政诉讼法", "2017-06-27"): "2017-07-01",
        ("国旗法", "2020-10-17"): "2021-01-01",
        ("国徽法", "2020-10-17"): "2021-01-01",
        ("仲裁法", "2017-09-01"): "2018-01-01",
        ("公证法", "2017-09-01"): "2018-01-01",
        ("律师法", "2017-09-01"): "2018-01-01",
        ("个人所得税法", "2018-08-31"): "2019-01-01",
        ("国家赔偿法", "2012-10-26"): "2013-01-01",
        ("监狱法", "2012-10-26"): "2013-01-01",
        ("农业法", "2012-12-28"): "2013-01-01",
        ("水污染防治法", "2017-06-27"): "2018-01-01",
        ("招标投标法", "2017-12-27"): "2017-12-28",
        ("清洁生产促进法", "2012-02-29"): "2012-07-01",
        ("居民身份证法", "2011-10-29"): "2012-01-01",
        ("可再生能源法", "2009-12-26"): "2010-04-01",
        ("银行业监督管理法", "2006-10-31"): "2007-01-01",
        ("促进科技成果转化法", "2015-08-29"): "2015-10-01",
        ("教育法", "2021-04-29"): "2021-04-30",
        ("公路法", "2017-11-04"): "2017-11-05",
        ("境外非政府组织境内活动管理法", "2017-11-04"): "2017-11-05",
        ("母婴保健法", "2017-11-04"): "2017-11-05",
        ("地方各级人民代表大会和地方各级人民政府组织法", "2022-03-11"): "2022-03-12",
        ("水法", "2016-07-02"): "2016-09-01",
        ("航道法", "2016-07-02"): "2016-09-01",
        ("防洪法", "2016-07-02"): "2016-09-01",
        ("渔业法", "2013-12-28"): "2014-03-01",
        ("中国人民银行法", "2003-12-27"): "2004-02-01",
        ("人民警察法", "2012-10-26"): "2013-01-01",
        ("全国人民代表大会和地方各级人民代表大会选举法", "2020-10-17"): "2020-10-18",
        ("全国人民代表大会组织法", "2021-03-11"): "2021-03-12",
        ("全国人民代表大会议事规则", "2021-03-11"): "2021-03-12",
        ("工会法", "2021-12-24"): "2022-01-01",
        ("香港特别行政区基本法", "1990-04-04"): "1997-07-01",
        ("澳门特别行政区基本法", "1993-03-31"): "1999-12-20",
        ("民事诉讼法", "2023-09-01"): "2024-01-01",
        ("会计法", "2024-06-28"): "2024-07-01",
        ("监察法", "2024-12-25"): "2025-06-01",
        ("台湾同胞投资保护法", "2019-12-28"): "2020-01-01",
        ("全国人民代表大会常务委员会议事规则", "2022-06-24"): "2022-06-25",
        ("全国人民代表大会和地方各级人民代表大会代表法", "2025-03-11"): "2025-03-12",
    }
)


def _value(text: str) -> int | None:
    text = text.replace("元", "一").replace("廿", "二十").replace("○", "〇").replace("O", "〇").replace("0", "〇")
    number = int(text.replace("〇", "0")) if text.replace("〇", "0").isdecimal() else han_number(text)
    return None if number is None else int(number)


def read_day(text: str) -> str:
    """Return the first day in ``text`` as ISO 8601, an empty string if there is none that exists."""
    days = all_days(text)
    return days[0] if days else ""


def all_days(text: str) -> list[str]:
    """Return every day in ``text``, in its order."""
    text = folded(text)
    found: list[str] = []
    for match in sorted((*_DAY.finditer(text), *_ISO.finditer(text)), key=lambda match: match.start()):
        year, month, day = (_value(match[part]) for part in ("year", "month", "day"))
        try:
            found.append(date(year or 0, month or 0, day or 0).isoformat())
        except ValueError:
            continue
    return found


def effective_day(name: str, published: str, effective: str, decisions: Mapping[str, str]) -> tuple[str, DateBasis]:
    """Return when a version took effect and how that is known.

    A day before the publication is that of the original law. ``decisions`` has the days of the decisions that made a
    version, under ``key|published``.
    """
    key = name_key(name)
    known = decisions.get(f"{key}|{published}") or KNOWN_EFFECTIVE.get((key, published))
    if known:
        return known, DateBasis.STATED if known == effective else DateBasis.CORRECTED
    if effective and (not published or effective >= published):
        return effective, DateBasis.STATED
    if published:
        return published, DateBasis.PUBLISHED
    return "", DateBasis.UNKNOWN

"""Units of measurement in Chinese and English: for each spelling its kind and its size in the kind's base unit."""

from __future__ import annotations

_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0
_MONTH = 30.44 * _DAY

# kind -> size in the base unit -> spellings
_TABLE: dict[str, dict[float, str]] = {
    # 提升300% is 提升3倍.
    "percent": {1: "%|percent|per cent|pct", 0.1: "‰", 100: "倍|fold"},
    "points": {1: "个百分点|百分点|percentage points|percentage point", 0.01: "个基点|基点|basis points|bps"},
    "money:cny": {1: "元人民币|人民币|元|块钱|块|yuan|rmb|cny"},
    "money:usd": {1: "美元|美金|us dollars|u.s. dollars|dollars|dollar|usd", 0.01: "美分|cents"},
    "money:eur": {1: "欧元|euros|euro|eur"},
    "money:hkd": {1: "港元|港币|hk dollars"},
    "money:jpy": {1: "日元|yen"},
    "money:gbp": {1: "英镑|pounds sterling"},
    "length": {
        1e-9: "纳米|nm",
        1e-6: "微米|µm",
        1e-3: "毫米|mm|millimetres|millimeters",
        1e-2: "厘米|公分|cm|centimetres|centimeters",
        1: "米|m|metres|meters|metre|meter",
        1e3: "公里|千米|km|kilometres|kilometers|kilometre|kilometer",
        1609.344: "英里|miles|mile",
        1852: "海里|nautical miles",
        0.3048: "英尺|feet|foot|ft",
        0.0254: "英寸|inches|inch",
        9.461e15: "光年|light-years|light years|light-year",
    },
    "area": {
        1: "平方米|m2|square metres|square meters",
        1e4: "公顷|hectares",
        666.67: "亩",
        1e6: "平方公里|平方千米|km2|square kilometres|square kilometers|square kilometre|square kilometer",
        2.59e6: "平方英里|square miles",
        4046.86: "英亩|acres",
    },
    "volume": {1: "升|litres|liters", 1e-3: "毫升|ml", 1e3: "立方米|m3|cubic metres|cubic meters"},
    "mass": {
        1e-3: "毫克|mg",
        1: "克|g|grams|gram",
        500: "斤",
        1e3: "公斤|千克|kg|kilograms|kilos",
        1e6: "吨|tonnes|tons|tonne|ton",
        453.592: "磅|pounds|lbs",
    },
    "time": {
        1e-6: "微秒|microseconds|μs",
        1e-3: "毫秒|milliseconds|ms",
        1: "秒钟|秒|seconds|second",
        _MINUTE: "分钟|minutes|minute|mins",
        _HOUR: "个多小时|个小时|小时|个钟头|钟头|hours|hour|hrs",
        _DAY: "个工作日|工作日|天|日|days|day",
        7 * _DAY: "个多星期|个星期|星期|周|weeks|week",
        _MONTH: "个多月|个月|months|month",
        12 * _MONTH: "周年|年|years|year",
    },
    "clock": {1: "时|点钟"},
    "power": {1: "瓦|w|watts", 1e3: "千瓦|kw|kilowatts", 1e6: "兆瓦|mw|megawatts", 1e9: "吉瓦|gw|gigawatts"},
    "energy": {1: "千瓦时|度电|kwh|kilowatt-hours", 1e3: "兆瓦时|mwh", 1e6: "吉瓦时|gwh"},
    "charge": {1: "毫安时|mah"},
    "voltage": {1: "伏特|伏|volts"},
    "frequency": {1: "赫兹|hz", 1e6: "兆赫|mhz", 1e9: "吉赫|ghz"},
    "temperature": {1: "摄氏度|℃|°c|degrees celsius|degree celsius|degrees centigrade"},
    "temperature:f": {1: "华氏度|°f|degrees fahrenheit"},
    "pressure": {1: "毫米汞柱|mmhg"},
    "data": {1e6: "mb|megapixel|megapixels", 1e9: "gb", 1e12: "tb", 1: "像素|pixels|pixel"},
    "speed": {1: "米/秒|m/s", 1 / 3.6: "公里/小时|千米/小时|km/h"},
    "concentration": {1: "毫克/升|mg/l|ppm"},
    # Words that only say what is counted. Two counts differ in kind where the word differs.
    "count": {
        1: "分|个人|个|名|位|人|家|台|座|辆|艘|件|部|项|次|届|颗|枚|只|头|条|份|所|种|类|场|球|张|架|片|面|层|级|号|型|"
        "章|册|株|棵|口|户|组|队|支|套|批|轮|站|节|课|门|集|首|幅|行|列|处|则|本|匹|局|盘|阶|段|步|岁|席|票|股|笔|单|箱|袋|"
        "瓶|杯|碗|勺|滴|粒|字|页|卷|回|代|楼|价|学期|学年"
    },
}

UNITS: dict[str, tuple[str, float]] = {
    spelling: (f"count:{spelling}" if kind == "count" else kind, size)
    for kind, sizes in _TABLE.items()
    for size, spellings in sizes.items()
    for spelling in spellings.split("|")
}

CURRENCY_SIGNS = {
    "us$": "money:usd",
    "hk$": "money:hkd",
    "$": "money:usd",
    "€": "money:eur",
    "£": "money:gbp",
    "¥": "money:cny",
}

MAGNITUDES = {
    "百": 1e2, "千": 1e3, "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "万亿": 1e12,
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "mn": 1e6, "bn": 1e9, "k": 1e3,
}  # fmt: skip

_LENGTHS = {
    first: sorted({len(unit) for unit in UNITS if unit[0] == first}, reverse=True) for first in {u[0] for u in UNITS}
}


def unit_at(text: str, start: int) -> tuple[str, int]:
    """Return the longest unit that stands at ``start``, and its end; an empty string for none."""
    for length in _LENGTHS.get(text[start : start + 1].lower(), ()):
        unit, follows = text[start : start + length].lower(), text[start + length : start + length + 1]
        if unit in UNITS and not (_is_letter(unit[-1]) and _is_letter(follows)):
            return unit, start + length
    return "", start


def _is_letter(character: str) -> bool:
    return character.isascii() and character.isalpha()

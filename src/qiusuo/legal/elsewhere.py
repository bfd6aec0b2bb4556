"""Other jurisdictions, whose laws have the same names as ours."""

from __future__ import annotations

import re
from typing import Final

# Words run together: 内蒙古, 即日本人, 依法国家赔偿.
_COUNTRIES: Final = (
    "美国|英国|法国(?![家土有])|德国|(?<![今当即生次每近节假])日本|韩国|欧盟|俄罗斯|俄国|苏联|加拿大|澳大利亚|新西兰|新加坡|马来西亚|印度|"
    "印尼|越南|泰国|菲律宾|缅甸|柬埔寨|老挝|朝鲜(?!族)|(?<!内)蒙古(?!族)|巴基斯坦|土耳其|伊朗|以色列|沙特|阿联酋|埃及|南非|乌克兰|波兰|"
    "奥地利|意大利|西班牙|葡萄牙|瑞士|荷兰|瑞典|挪威|丹麦|芬兰|比利时|希腊|巴西|墨西哥|阿根廷"
)
_OTHER_COURTS: Final = "中华民国|民国|台湾(?:地区)?|香港|澳门"
_ABROAD: Final = re.compile(rf"{_COUNTRIES}|联邦|国际法")
_BEFORE_A_LAW: Final = re.compile(rf"在?(?P<place>{_COUNTRIES}|{_OTHER_COURTS})(?:的|,|\s)*$")


def is_abroad(question: str) -> bool:
    """Tell whether a question is about another country; some laws of ours are about Hong Kong, Macao and Taiwan."""
    return bool(_ABROAD.search(question))


def elsewhere_before(words: str) -> tuple[int, str] | None:
    """Return where the jurisdiction at the end of the words before a law begins, and its name: 德国, 香港."""
    found = _BEFORE_A_LAW.search(words)
    return (found.start(), found["place"]) if found else None


def begins_elsewhere(name: str) -> bool:
    """Tell whether the name of a law begins with another jurisdiction."""
    return bool(re.match(rf"(?:{_COUNTRIES}|{_OTHER_COURTS})", name))

"""Documents that a text names, be they in an index or not: regulations, rules, interpretations, letters, leading cases.

A name in 《》 is one where it ends as titles do. Without the marks a title is told by the way in which titles are
built: 条例 with something before it, 最高人民法院关于…的批复, …管理办法, 法释〔2020〕25号. 公司的规定, 解决办法 and
医生的意见 are none. Where such a name begins is known where it stands in ``documents.txt``; else the words of asking
are cut off.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qiusuo.legal.reading.names import STATE, looks_like_law
from qiusuo.legal.reading.numbers import folded

_LIST: Final = Path(__file__).parent.parent / "data" / "documents.txt"
MAX_CHARS: Final = 1000
_MOST: Final = 12
_COUNT: Final = (
    r"(?:\((?:[一二三四五六七八九十]{1,3}|\d{1,2})\)|[一二三四五六](?=第|里|中|的|关于|规定|对|[^\u4e00-\u9fff]|$))?"
)
_HAN: Final = "\u4e00-\u9fff"
_PLAIN: Final = rf"[{_HAN}、()·\d]"

_ISSUER: Final = (
    r"(?:最高人民法院|最高人民检察院|最高法院?|最高检察?院?|两高|国务院(?:办公厅)?|全国人民代表大会(?:常务委员会)?|全国人大(?:常委会)?"
    r"|中共中央(?:办公厅)?|中央军委|公安部|司法部|国家安全部|民政部|财政部|教育部|劳动部|劳动和社会保障部|人力资源和?社会保障部|人社部|"
    r"住房和?城乡建设部|住建部|建设部|国家税务总局|税务总局|国家市场监督管理总局|市场监管总局|国家?工商总局|卫生部|国家?卫健委|交通运输部|"
    r"自然资源部|国土资源部|农业农村部|商务部|文化和旅游部|生态环境部|应急管理部|中国人民银行|银保监会|证监会|国家发展改革委|发改委|"
    r"国家知识产权局|国家网信办|国家医保局)"
)
_TITLE_ENDS: Final = r"(?:解释|规定|批复|意见|通知|决定|答复|办法|复函|纪要|解答|公告|规则|安排|细则|决议)"
# 最高人民法院关于…的批复; what has no issuer must have words that titles have and people do not.
_BY_ISSUER: Final = re.compile(
    rf"(?:{_ISSUER}[、,和与及\s]{{0,3}}){{1,6}}(?:印发|发布)?关?于[^。?!;\n]{{2,90}}?的?{_TITLE_ENDS}{_COUNT}"
    rf"|关于[^。?!;\n]{{0,60}}?(?:若干问题|适用法律|应用法律|具体应用|有关问题|适用《[^》]{{2,30}}》)[^。?!;,\n]{{0,30}}?的?{_TITLE_ENDS}{_COUNT}"
)
_RULE_KINDS: Final = (
    "管理|实施|暂行|试行|处罚|监督|登记|征收|交纳|缴纳|认定|鉴定|申领|发放|备案|许可|收费|评定|核准|征缴|安置|救助|保障|申报|审批|听证|仲裁|调解"
    "|信息公开|评估|奖励|审理|召回|扣除|放假|统计|征集|注册|检验|监察|检查|优待|抚恤|供养|分级|分类|配置|使用|保护|征用|征兵|扣押"
)
_ENDINGS: Final = re.compile(
    rf"(?:条例(?:实施(?:细则|办法))?(?!外)|实施细则|(?:{_RULE_KINDS})办法|(?:事故|争议|案件|行为)处理(?:办法|程序规定)"
    r"|(?:特别|若干|补充|程序)规定|若干问题的?(?:规定|解释|意见)|(?:管理|暂行|试行|登记|使用|监督|处罚|保护|责任|证据|备案|许可)规定"
    rf"|司法解释{_COUNT}|(?:制度|编|编通则|诉讼法|诉法|公司法|担保法|合同法|婚姻法|物权法|继承法|破产法|保险法|民法典)解释{_COUNT}(?![一了说得清给])"
    r"|(?:办案|诉讼|诉讼监督|仲裁|程序|调解|审理)规则)(?:\((?:试行|暂行)\))?"
)
# 法释〔2020〕25号; the number of a case has a letter for its kind and is read elsewhere.
_PAPER_NUMBER: Final = re.compile(
    rf"(?:法释|法发|法办|法函|法复|高检发|国发|国办发|国函|中发|公通字|人社部发|劳部发|劳社部发|财税|财税字|国税发|国税函|银发|银保监发|建房|司发通|民发|[{_HAN}]{{1,4}}发(?:释字)?)"
    r"\s?[〔\[(【]\s?(?:19|20)\d\d\s?[〕\])】]\s?第?\d{1,5}\s?号"
)
_LEADING_CASE: Final = re.compile(
    r"(?:最高(?:人民)?(?:法院?|检察?院?))?(?:发布的?)?(?:指导性?案例|检例|指导性案例)\s?第?\s?(?P<one>\d{1,4}|[一二三四五六七八九十百]{1,6})\s?号"
    r"|第?\s?(?P<two>\d{1,4}|[一二三四五六七八九十百]{1,6})\s?号\s?(?:指导性?案例)"
)
# What no title has: a name begins behind it.
_NEVER_IN_TITLES: Final = re.compile(
    r"[我你他她它吗呢吧啊嘛怎谁这那哪没给叫找了?!。;:,\s“”\"'<>{}]|什么|请问|根据|依据|依照|按照|违反|符合|参照|查询|想问|一下|知道|了解|告诉|咨询"
    r"|现行的?|最新的?|受伤|(?<=[法例定释典])[和与及、]|是否|属于|如何|能否|可以|应该|为啥|最近|今年"
)
_PLACE_BEFORE: Final = re.compile(rf"[{_HAN}]{{2,7}}?(?:省|自治区|自治州|市|县|经济特区)$")
_LEAD_IN: Final = re.compile(
    r"^(?:关于|有关|的|在|对|把|将|是|看|问|查|按|依|据|照|从|用|和|与|及|或|、|以及|还有|或者|适用|执行|解读|学习|引用|援引|触犯|新|旧|原|现行|我国|国家的|国家出台|出台|颁布|发布|下载|里|中|上|下|请|说|讲|求|搜|介绍|说明|公布|为)+"
)
# 相关条例, 管理办法, 国家法律规定: words for any document.
_ANY: Final = re.compile(
    r"(?:相关|有关|相应|具体|现行|最新|新|旧|国家|地方|法律|法规|行政|政府|公司|单位|企业|学校|医院|小区|物业|部门|员工|职工|考勤|宿舍|班级|内部|"
    r"本|该|此|上述|以上|其他|一些|各种|所有|任何|某|几|有|无|个|条|部|款|项|管理|实施|暂行|试行|处罚|工作|安全|规章|制度|奖惩|绩效|一般|通常|"
    r"明确|统一|强制|法定|法|等|中央|基本|专门|全部|多数|许多|很多|不少|中国|民法|这样|那样|必须|需要|不|要|会|就|也|都|还|已|已经|\d)*"
)
# 公司考勤管理办法, 小区停车管理规定 and 学校奖惩办法 are papers of these, not the state's.
_OWNERS: Final = re.compile(
    r"^(?:公司|单位|工厂|厂里|店里|店铺|学校|幼儿园|班级|医院|小区|物业|宿舍|部门|老板|领导|房东|平台|商家|开发商|居委会|村委会|村里|业委会|协会|俱乐部|健身房|超市|饭店|酒店)"
)
_OWN_PAPER: Final = re.compile(r"(?:办法|规定|细则|纪要|规则)$")


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """A document that a text names, and where. ``case``: a leading case, which no collection of laws has.

    ``guessed``: where the name begins was told by the words before it.
    """

    name: str
    start: int
    end: int
    case: bool = False
    guessed: bool = False


def documents_in(text: str) -> list[NamedDocument]:
    """Return the documents that a text names, in their order, whether an index has them or not.

    Statutes (…法) are not among them unless they stand in 《》: which of these are known only an index can tell.
    """
    text = folded(text[:MAX_CHARS])
    found: list[NamedDocument] = []
    for one in (*_leading_cases(text), *_official(text), *_quoted(text), *_numbered(text), *_bare(text)):
        if not any(one.start < other.end and other.start < one.end for other in found):
            found.append(one)
    return sorted(found, key=lambda one: one.start)[:_MOST]


def names_document(text: str) -> bool:
    """Tell whether a text names a document of law."""
    return bool(documents_in(text))


def names_nothing(name: str) -> bool:
    """Tell whether what was read as the name of a document is a word for any: 有关规定, 解释(一), 一."""
    core = _LEAD_IN.sub("", re.sub(r"(?:规定|办法|解释|条例|意见|通知|决定|细则|法)?" + _COUNT + "$", "", name))
    return len(core) < 2 or bool(_ANY.fullmatch(core))  # noqa: PLR2004 - as below


def leading_case(text: str) -> str:
    """Return the leading case that a text names in its usual writing: 指导案例24号; empty where it names none."""
    found = _LEADING_CASE.search(folded(text[:MAX_CHARS]))
    return _case_name(found) if found else ""


def _case_name(found: re.Match[str]) -> str:
    number = found["one"] or found["two"]
    return f"检例第{number}号" if "检例" in found[0] else f"指导案例{number}号"


def _leading_cases(text: str) -> Iterator[NamedDocument]:
    for found in _LEADING_CASE.finditer(text):
        yield NamedDocument(_case_name(found), found.start(), found.end(), case=True)


def _official(text: str) -> Iterator[NamedDocument]:
    for found in _BY_ISSUER.finditer(text):
        yield NamedDocument(found[0].strip(), found.start(), found.end())


def _quoted(text: str) -> Iterator[NamedDocument]:
    depth, start = 0, 0
    for place, character in enumerate(text):
        if character == "《":
            start, depth = (place, 1) if not depth else (start, depth + 1)
        elif character == "》" and depth:
            depth -= 1
            name = text[start + 1 : place]
            if not depth and looks_like_law(name):
                count = re.match(r"\s?\([一二三四五六七八九十\d]{1,3}\)", text[place + 1 :])
                tail = count[0].strip() if count else ""
                yield NamedDocument(name + tail, start, place + 1 + len(count[0] if count else ""))


def _numbered(text: str) -> Iterator[NamedDocument]:
    for found in _PAPER_NUMBER.finditer(text):
        yield NamedDocument("".join(found[0].split()), found.start(), found.end())


def _bare(text: str) -> Iterator[NamedDocument]:
    for found in _listed().finditer(text):
        place = _PLACE_BEFORE.search(text[: found.start()])
        start = place.start() if place else found.start()  # 北京市物业管理条例 is not the state's
        yield NamedDocument(text[start : found.end()], start, found.end())
    for ending in _ENDINGS.finditer(text):
        core = title_before(text, ending.start())
        name = core + ending[0]
        if _is_title(core, name):
            yield NamedDocument(name, ending.end() - len(name), ending.end(), guessed=True)


def title_before(text: str, end: int) -> str:
    """Return what of the words that end there can belong to a title: they begin behind words that no title has."""
    run = re.search(rf"{_PLAIN}*$", text[max(0, end - 60) : end])
    before = run[0] if run else ""
    cut = [one.end() for one in _NEVER_IN_TITLES.finditer(before)]
    return _LEAD_IN.sub("", before[cut[-1] :] if cut else before).removeprefix(STATE)


def _is_title(core: str, name: str) -> bool:
    bare = core.strip("()、·")
    if re.match(r"(?!司法)(?:.{1,3}法|民法典|.{1,2}编)(?:通则)?解释", name):  # the ending is the whole name
        return True
    if len(bare) < 2 or _ANY.fullmatch(bare):  # noqa: PLR2004 - a single character names nothing
        return False
    if not _OWN_PAPER.search(name):
        return True
    # 关于…的暂行规定 is a title, 公司的管理规定 is none.
    if bare.endswith(("有", "无", "作", "做", "作出", "作了", "另")):  # 法律对彩礼有特别规定
        return False
    whose = bare.endswith("的") and not re.search(r"(?:暂行|补充|若干)(?:规定|办法)$", name)
    return not whose and not _OWNERS.match(bare)


@functools.cache
def _listed() -> re.Pattern[str]:
    names = [line for line in _LIST.read_text("utf-8").split("\n") if line and not line.startswith("#")]
    return re.compile(f"(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})(?!外){_COUNT}")

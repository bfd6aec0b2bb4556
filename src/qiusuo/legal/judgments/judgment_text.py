"""What a judgment's text tells about it: court, 案号, kind, date, facts, verdict."""

from __future__ import annotations

import re
from collections.abc import Mapping

from qiusuo.legal.judgments.signatures import day_of_judgment
from qiusuo.legal.models import CaseDocument
from qiusuo.legal.reading.dates import read_day
from qiusuo.legal.reading.numbers import folded
from qiusuo.legal.recognising.crimes import crimes_named

CASE_TYPES = ("民事", "刑事", "行政", "执行", "国家赔偿")
# A 案号 says what kind of case it is. Other papers have a bracketed year and a number too: 法释〔2016〕15号.
_KIND = "刑民行执赔破商知经海督催清减假辖申再终初监调救保特诉认协"
_LETTERS = f"{_KIND}委外前财强司惩台港澳异复恢罚请更核医没抗撤他审非环资少金重提一二三四五"
_COUNT = r"\d{1,7}(?:\s?[-之]\s?\d{1,4})?"
_PLAIN = r"[^\s()\[\]〔〕,。;:]"
_NUMBER = re.compile(
    rf"[(\[〔【〈<{{]\s?((?:19|20)\d{{2}})\s?[)\]〕】〉>}}]\s{{0,3}}"
    rf"((?:(?![{_KIND}]){_PLAIN}\s?){{0,12}}[{_KIND}](?:{_PLAIN}\s?){{0,12}}?{_COUNT}\s?号)"
)
# Without brackets, or with one of them lost, only what looks like a number given by a court counts.
_PROVINCE = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼兵军"
_COURT_CODE = rf"(?:最高法|内?[{_PROVINCE}]\s?(?:\d\s?){{0,4}}|[\u4e00-\u9fff]{{1,2}}\s?\d{{2,4}})"
_NEW_STYLE = rf"{_COURT_CODE}\s?[{_LETTERS}]{{1,8}}(?:字?第)?"
_OLD_STYLE = rf"[\u4e00-\u9fff]{{0,8}}?[{_KIND}][{_LETTERS}]{{0,6}}字第?"
_YEAR = r"((?:19|20)\d{2})\s?[)\]〕】〉>}-]?\s{0,3}"
_BARE_NUMBER = re.compile(rf"(?<!\d){_YEAR}((?:年?{_NEW_STYLE}|(?!年){_OLD_STYLE})\s?{_COUNT}\s?号)")
_ONLY_A_NUMBER = re.compile(rf"\W?{_YEAR}((?:年?{_NEW_STYLE}|(?!年){_OLD_STYLE})\s?{_COUNT})\s?号?\W?")
_COURT = re.compile(
    r"(?:[\u4e00-\u9fff]{2,30}?(?:高级|中级|基层|铁路运输|海事|知识产权|金融|互联网|军事)?人民法院"
    r"|[\u4e00-\u9fff]{2,12}(?:海事|知识产权|金融|互联网|铁路运输(?:中级)?|军事)法院|最高人民法院)"
)
_TITLE_TYPE = re.compile(r"(民事|刑事|行政|执行|国家赔偿|赔偿)(?:附带民事)?(?:判决书|裁定书|决定书|调解书|通知书)")
_LETTER_TYPE = (("赔", "国家赔偿"), ("执", "执行"), ("刑", "刑事"), ("行", "行政"), ("民", "民事"), ("知", "民事"))
_PROCEDURE = re.compile(r"(一审|二审|再审(?:审查与审判监督)?|审判监督|特别程序|简易程序|死刑复核|刑罚变更|执行)")
_VERDICT = re.compile(
    r"(?:判决|裁定|决定)如下[：:]?\s*(.+?)(?=如不服本|本判决为终审|本裁定为终审|审\s*判\s*长|代理审判员|$)", re.DOTALL
)
_FACTS = re.compile(
    r"((?:经审理|经本院审理|本院经审理)(?:查明|认定).+?)(?=本院认为|上述事实|以上事实|$)|"
    r"((?:公诉机关|检察院)指控[：:,，].+?)(?=本院认为|$)",
    re.DOTALL,
)
_REASONING = re.compile(r"(本院认为.+?)(?=(?:判决|裁定|决定)如下|$)", re.DOTALL)
_CHARGE = re.compile(r"犯([\u4e00-\u9fff、]{2,24}?罪)")
_BODIES = "公司|工厂|商店|银行|中心|合作社|支行|医院|委员会|政府|学校|事务所"
_APPEAL = re.compile(r"如不服本|审\s*判\s*长\s|本(?:判决|裁定)为终审")
_DOCUMENT = re.compile(r"判决书|裁定书|决定书|通知书|调解书|一案")
_CAUSE = re.compile(r"(?:犯)?([\u4e00-\u9fff、]{2,30}?(?:罪|纠纷|合同纠纷|争议))")


def case_number(text: str) -> str:
    """Return the first 案号 in ``text`` in its usual writing, an empty string if there is none.

    The brackets may be of any kind or missing; 号 may be missing where the text is nothing but the number.
    """
    plain = folded(text).strip()
    match = _NUMBER.search(plain) or _BARE_NUMBER.search(plain) or _ONLY_A_NUMBER.fullmatch(plain)
    return f"（{match[1]}）{''.join(match[2].split()).removeprefix('年').removesuffix('号')}号" if match else ""


def case_number_key(number: str) -> str:
    """Return the form under which 案号 are compared."""
    return re.sub(r"[\s()\[\]〔〕【】第字]", "", folded(number)).lower()


def case_type(title: str, number: str, head: str = "") -> str:
    """Tell the type of a case from its document's title, else from its 案号."""
    for text in (title, head):
        match = _TITLE_TYPE.search("".join(text.split()))
        if match:
            return "国家赔偿" if match[1] == "赔偿" else match[1]
    letters = re.sub(r"^\(\d{4}\)", "", folded(number))
    return next((kind for letter, kind in _LETTER_TYPE if letter in letters), "")


def build_case(row: Mapping[str, str]) -> CaseDocument:
    """Build a case from what a row says (the fields of :class:`CaseDocument`); the text fills the gaps."""
    text = row.get("text", "").strip()
    head = row.get("head", "") or text[:400]
    title = row.get("title", "") or row.get("name", "")
    number = case_number(row.get("number", "")) or row.get("number", "").strip() or case_number(head)
    court = row.get("court", "").strip() or _DOCUMENT.split(_first(_COURT, "".join(head.split())))[-1]
    procedure = row.get("procedure", "").strip() or _first(_PROCEDURE, title)
    stated_type = row.get("case_type", "").strip()
    kind = next((known for known in CASE_TYPES if known in stated_type), "") or case_type(title, number, head)
    verdict = _APPEAL.split(row.get("verdict", ""))[0].strip() or _part(_VERDICT, text)
    return CaseDocument(
        name=row.get("name", "").strip() or title or number or "（无标题）",
        text=text,
        number=number,
        court=court,
        case_type=kind or stated_type,
        procedure=procedure,
        date=read_day(row.get("date", "")) or day_of_judgment(text, number),
        parties=row.get("parties", "").strip(),
        cause=row.get("cause", "").strip()
        or _dispute_in(f"{row.get('name', '')} {title}")
        or _first(_CHARGE, verdict)
        or cause_in(title),
        legal_basis=row.get("legal_basis", "").strip(),
        facts=row.get("facts", "").strip() or _part(_FACTS, text),
        reasoning=row.get("reasoning", "").strip() or _part(_REASONING, text),
        verdict=verdict,
        url=row.get("url", "").strip(),
    )


def cause_in(text: str) -> str:
    """Return the crime or the kind of dispute that a text names first; empty where it names none."""
    found = _first(_CAUSE, _without_party(text))
    crimes = list(crimes_named(found))
    return "、".join(crimes) if crimes else found  # without the name of who has committed it


def _dispute_in(title: str) -> str:
    """Return the dispute that a title names: it says more than the crimes that a verdict mentions."""
    return cause_in(title) if "纠纷" in title else ""


def _without_party(title: str) -> str:
    """Cut the parties off a title, where a blank or 与…之间 shows where they end."""
    rest = re.sub(r"^.*?(?:与|诉|、)[^、与诉]{2,20}?(?=[\u4e00-\u9fff]{2,8}纠纷)", "", title)
    return re.sub(rf"^[\u4e00-\u9fff]*(?:{_BODIES})(?=[\u4e00-\u9fff]{{2,14}}纠纷)", "", rest)


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return (match[1] if match.groups() else match[0]) if match else ""


def _part(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return next((group.strip() for group in match.groups() if group), "") if match else ""

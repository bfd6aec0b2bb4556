"""What a judgment's text tells about it: court, 案号, kind, date, facts, verdict."""

from __future__ import annotations

import re
from collections.abc import Mapping

from qiusuo.legal.dates import read_day
from qiusuo.legal.models import CaseDocument
from qiusuo.legal.numbers import folded

CASE_TYPES = ("民事", "刑事", "行政", "执行", "国家赔偿")
_NUMBER = re.compile(
    r"[(\[〔【]\s*((?:19|20)\d{2})\s*[)\]〕】]\s*([^\s()，。,;；:：]{1,24}?[字]?第?\s*\d+(?:[-之]\d+)?\s*号)"
)
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
_APPEAL = re.compile(r"如不服本|审\s*判\s*长\s|本(?:判决|裁定)为终审")
_DOCUMENT = re.compile(r"判决书|裁定书|决定书|通知书|调解书|一案")
# The day of a judgment is written in Chinese numerals, or stands below the names of the judges.
_SIGNED = re.compile(
    r"(?:审判长|审判员|陪审员|书记员|法官助理).{0,200}?((?:19|20)\d{2}\s*年\s*\d{1,2}\s*月\s*\d{1,2}\s*日)", re.DOTALL
)
_HAN_DAY = re.compile(
    r"[一二][〇○零O0九一二三四五六七八]{3}\s*年\s*[元一二三四五六七八九十]{1,2}\s*月\s*[一二三四五六七八九十廿]{1,3}\s*日"
)
_CAUSE = re.compile(r"(?:犯)?([\u4e00-\u9fff、]{2,30}?(?:罪|纠纷|合同纠纷|争议))")


def case_number(text: str) -> str:
    """Return the first 案号 in ``text`` in its usual writing, an empty string if there is none."""
    match = _NUMBER.search(folded(text))
    return f"（{match[1]}）{''.join(match[2].split())}" if match else ""


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
        date=read_day(row.get("date", "")) or _day_of_judgment(text),
        parties=row.get("parties", "").strip(),
        cause=row.get("cause", "").strip() or _first(_CHARGE, verdict) or _first(_CAUSE, _without_party(title)),
        legal_basis=row.get("legal_basis", "").strip(),
        facts=row.get("facts", "").strip() or _part(_FACTS, text),
        reasoning=row.get("reasoning", "").strip() or _part(_REASONING, text),
        verdict=verdict,
        url=row.get("url", "").strip(),
    )


def _without_party(title: str) -> str:
    """Cut the parties off a title, where a blank or 与…之间 shows where they end."""
    return re.sub(r"^.*?(?:与|诉|、)[^、与诉]{2,20}?(?=[\u4e00-\u9fff]{2,8}纠纷)", "", title)


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return (match[1] if match.groups() else match[0]) if match else ""


def _part(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return next((group.strip() for group in match.groups() if group), "") if match else ""


def _day_of_judgment(text: str) -> str:
    """Return the day on which a judgment was given; other days near the end are those of the sentence."""
    end = text[-600:]
    written = _HAN_DAY.findall(folded(end))
    signed = _SIGNED.findall(end)
    return read_day(written[-1]) if written else read_day(signed[-1]) if signed else ""

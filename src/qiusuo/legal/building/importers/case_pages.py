"""Cases that courts have published as examples (指导性案例, 典型案例), one Markdown page each, told by its headings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from qiusuo.legal.building.importers.articles import HEADING
from qiusuo.legal.judgments.judgment_text import build_case, case_number
from qiusuo.legal.models import CaseDocument
from qiusuo.legal.reading.dates import all_days

_FACTS: Final = frozenset({"基本案情", "简要案情", "案情回顾", "案情简介", "案情", "原告诉讼请求", "申请人请求"})
_VERDICT: Final = frozenset({"裁判结果", "处理结果", "法院裁判", "判决结果"})
_REASONS: Final = frozenset(
    {"裁判理由", "裁判要点", "裁判要旨", "案例分析", "典型意义", "法官解读", "法官说法", "适用解析", "司法解释相关法条",
     "司法解释相关条文", "相关法条"}
)  # fmt: skip
_PARTS: Final = _FACTS | _VERDICT | _REASONS
_COURT = re.compile(
    r"([\u4e00-\u9fff]{2,24}?(?:人民法院|海事法院|知识产权法院|金融法院|互联网法院|铁路运输法院))(?!第)"
)
_SENTENCE = re.compile(r"[。\n]")
_TITLE: Final = re.compile(r".*(?:诉|与|申请).*案$")


def case_page(path: Path, lines: list[str]) -> CaseDocument | None:
    """Return the case of a page, None where the page is no case."""
    title, names, sections, before = _sections(lines)
    if not (_FACTS & set(sections)) or not ((_VERDICT | _REASONS) & set(sections)):
        return None

    def part(wanted: frozenset[str]) -> str:
        return "\n".join(text for heading, text in sections.items() if heading in wanted and text)

    verdict = part(_VERDICT)
    number, court, day = _decision(verdict or part(_FACTS))
    name = next((name for name in (*names, title, path.stem) if _TITLE.fullmatch(name)), title or path.stem)
    return build_case(
        {
            "name": name,
            "title": title,
            "text": "\n".join(line.strip() for line in lines if line.strip() and not line.lstrip().startswith("<!--")),
            "number": number,
            "court": court,
            "case_type": _kind(path, name),
            "date": day or next(reversed([found for line in before for found in all_days(line)]), ""),
            "facts": part(_FACTS),
            "reasoning": part(_REASONS),
            "verdict": verdict,
            "head": "（无）",  # the text begins with no head from which court and number could be read
        }
    )


def _sections(lines: list[str]) -> tuple[str, list[str], dict[str, str], list[str]]:
    """Return the title, other headings, the text under each known heading, and what stands before them."""
    title, names, before = "", list[str](), list[str]()
    texts: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in lines:
        plain = line.replace("\u3000", " ").strip()
        heading = HEADING.match(plain)
        if heading and heading[2] in _PARTS:
            current = texts.setdefault(heading[2], [])
        elif heading and heading[1] == "#" and not title:
            title = heading[2]
        elif heading:
            names.append(heading[2])
        elif plain and not plain.startswith("<!--"):
            (before if current is None else current).append(plain)
    return title, names, {heading: "\n".join(text) for heading, text in texts.items()}, before


def _decision(verdict: str) -> tuple[str, str, str]:
    """Return number, court and day of the last decision that a text tells of: it is the one that stands."""
    sentences = [sentence for sentence in _SENTENCE.split(verdict) if sentence]
    for sentence in reversed(sentences):
        number = case_number(sentence)
        if number and "撤销" not in sentence.partition("作出")[0]:
            court, days = _COURT.search(sentence), all_days(sentence)
            return number, court[1] if court else "", days[0] if days else ""
    courts = [found[1] for sentence in sentences for found in _COURT.finditer(sentence)]
    return "", courts[0] if courts else "", ""


def _kind(path: Path, name: str) -> str:
    """Tell the type of a case that names no number, from the folder or the name."""
    words = f"{path.parent.name} {name}"
    if "行政" in words:
        return "行政"
    return "民事" if re.search(r"合同|纠纷|侵权|继承|婚姻|民法典|劳动|消费", words) else ""

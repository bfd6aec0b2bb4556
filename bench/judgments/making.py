"""Judgments made out of real ones: sentences of several, with other people, sums, days, courts and numbers.

The words are those of real judgments (LeCaRD) and lay questions (STARD), which lie beside the repository and are never
copied into it. The same seed gives the same files, each shard by itself; nothing is held but the sentences.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.legal.data import SHARED
from qiusuo.legal.building.importers.json_lines import JSON_LINES
from qiusuo.legal.judgments.people import people_in
from qiusuo.legal.models import CaseDocument

SHARD = 20_000
SEED = 20261116
FIRST_YEAR, LAST_YEAR = 2012, 2025
# A private character stands for each person of a sentence, until somebody else takes the place.
_PERSON = 0xE000
_MOST_PEOPLE = 60
_SENTENCE = re.compile(r"[^。；]{8,400}[。；]")
_CHANGES = re.compile(r"(?:19|20)\d{2}(?=年)|\d{1,2}(?=[月日时])|\d{2,}|[\ue000-\ue03c]")
_SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金"
    "石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
)
_GIVEN = (
    "伟芳娜敏静丽强磊军洋勇艳杰娟涛明超霞平刚桂兰英华玉梅红建国文志海波鹏辉宇浩凯斌林峰婷雪飞玲慧丹萍琴云龙亮成东春生"
)
_PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼"
_DISPUTES = (
    "民间借贷纠纷", "买卖合同纠纷", "离婚纠纷", "机动车交通事故责任纠纷", "劳动争议", "房屋租赁合同纠纷",
    "物业服务合同纠纷", "金融借款合同纠纷", "建设工程施工合同纠纷", "追索劳动报酬纠纷", "抚养费纠纷", "继承纠纷",
    "保证合同纠纷", "侵害商标权纠纷", "相邻关系纠纷", "健康权纠纷", "商品房预售合同纠纷", "信用卡纠纷",
)  # fmt: skip
# Of what kind a judgment is, and how many of a hundred.
_KINDS = (("刑事", "刑初", 45), ("民事", "民初", 45), ("行政", "行初", 4), ("执行", "执异", 6))


@dataclass(frozen=True, slots=True)
class Sentences:
    """What judgments are made of: sentences on facts by the matter (案由), on reasons, verdicts, courts, questions."""

    facts: dict[str, list[str]]
    reasons: dict[str, list[str]]
    verdicts: dict[str, list[str]]
    matters: list[str]
    courts: list[str]
    questions: list[str]


def real_sentences(most: int | None = None) -> Sentences:
    """Cut the real judgments into sentences, each person's name taken out."""
    facts, reasons, verdicts = (defaultdict[str, list[str]](list) for _ in range(3))
    matters, courts = [], []
    for number, case in enumerate(JSON_LINES.read(SHARED / "lecard_cases.jsonl.gz")):
        if most is not None and number >= most:
            break
        if not isinstance(case, CaseDocument):
            continue
        matter = case.cause or "盗窃罪"
        matters.append(matter)
        courts.append(case.court)
        for found, text in ((facts, case.facts), (reasons, case.reasoning), (verdicts, case.verdict)):
            found[matter] += _SENTENCE.findall(_without_people(text, case.text))
    lines = (SHARED / "stard_train.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line)["query"] for line in lines]
    known = [court for court in courts if court.endswith("法院")]
    usable = [matter for matter in matters if facts[matter] and reasons[matter] and verdicts[matter]]
    return Sentences(dict(facts), dict(reasons), dict(verdicts), usable, known, questions)


def _without_people(text: str, whole: str) -> str:
    for number, name in enumerate(sorted(people_in(whole), key=len, reverse=True)[:_MOST_PEOPLE]):
        text = text.replace(name, chr(_PERSON + number))
    return text


class Maker:
    """Makes judgments one after the other; each is told by its number alone."""

    def __init__(self, sentences: Sentences, seed: int = SEED) -> None:
        self._from = sentences
        self._seed = seed
        self._all_matters = list(sentences.facts)

    def judgment(self, number: int) -> dict[str, Any]:
        """Return the judgment of that number as a line of JSON has it."""
        chance = random.Random(self._seed * 1_000_003 + number)
        kind, letters, _ = chance.choices(_KINDS, [share for *_, share in _KINDS])[0]
        people = [self._name(chance) for _ in range(6)]
        year = chance.randint(FIRST_YEAR, LAST_YEAR)
        court = chance.choice(self._from.courts)
        told = chance.choice(self._from.matters)
        matter = told if kind == "刑事" else chance.choice(_DISPUTES)
        facts = self._facts(chance, told, kind, matter)
        reasons = self._some(chance, self._from.reasons[told], 2, 10)
        verdict = self._some(chance, self._from.verdicts[told], 2, 7)
        code = f"{chance.choice(_PROVINCES)}{chance.randint(1, 9):02d}{chance.randint(1, 30):02d}"
        case_number = f"（{year}）{code}{letters}{number + 1}号"
        role = "被告人" if kind == "刑事" else "被告"
        title = f"{people[0]}{matter}一审{kind}判决书"
        row = {
            "id": str(number),
            "name": f"{people[0]}{matter}一案" if kind == "刑事" else f"{people[1]}与{people[0]}{matter}",
            "doc": title,
            "head": f"{court} {kind}判决书 {case_number} {role}{people[0]}，{chance.choice('男女')}，汉族。",
            "facts": self._changed(chance, facts, people, year),
            "reasoning": "本院认为，" + self._changed(chance, reasons, people, year),
            "verdict": self._changed(chance, verdict, people, year),
            "案由": matter,
        }
        if chance.random() < 0.85:
            row["裁判日期"] = f"{year}-{chance.randint(1, 12):02d}-{chance.randint(1, 28):02d}"
        return row

    def _facts(self, chance: random.Random, told: str, kind: str, matter: str) -> str:
        if kind == "刑事":
            own = self._some(chance, self._from.facts[told], 10, 42)
            other = self._from.facts[chance.choice(self._all_matters)]
            return own + (self._some(chance, other, 0, 3) if other else "")
        asked = "".join(
            chance.choice(self._from.questions).rstrip("？?。") + "。" for _ in range(chance.randint(5, 16))
        )
        return f"经审理查明：原告与被告因{matter}成讼。{asked}{self._some(chance, self._from.facts[told], 5, 22)}"

    @staticmethod
    def _some(chance: random.Random, sentences: Sequence[str], least: int, most: int) -> str:
        return "".join(chance.choice(sentences) for _ in range(chance.randint(least, most)))

    @staticmethod
    def _name(chance: random.Random) -> str:
        return chance.choice(_SURNAMES) + "".join(chance.choice(_GIVEN) for _ in range(chance.choice((1, 2, 2))))

    @staticmethod
    def _changed(chance: random.Random, text: str, people: Sequence[str], year: int) -> str:
        """Put other people, years, days and numbers into a text."""

        def other(match: re.Match[str]) -> str:
            found = match[0]
            if found[0] >= "\ue000":
                return people[(ord(found) - _PERSON) % len(people)]
            if text.startswith("年", match.end()):
                return str(year - chance.randint(0, 1))
            if text[match.end() : match.end() + 1] in {"月", "日", "时"}:
                return str(chance.randint(1, 12))
            return str(chance.randint(10 ** (len(found) - 1), 10 ** len(found) - 1))

        return _CHANGES.sub(other, text)


def write_shards(out: Path, count: int, seed: int = SEED, shard: int = SHARD) -> Iterator[Path]:
    """Write the judgments, a shard at a time; a shard that is there already is not made again."""
    out.mkdir(parents=True, exist_ok=True)
    maker = Maker(real_sentences(), seed)
    for first in range(0, count, shard):
        target = out / f"judgments-{first // shard:04d}.jsonl.gz"
        if not target.exists():
            pending = target.with_suffix(".part")
            with gzip.open(pending, "wt", encoding="utf-8", compresslevel=1) as file:
                for number in range(first, min(first + shard, count)):
                    file.write(json.dumps(maker.judgment(number), ensure_ascii=False) + "\n")
            pending.rename(target)
        yield target

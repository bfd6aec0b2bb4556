"""Laws and judgments written for the tests, in the layouts that importers read. None of them exists."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from qiusuo.legal.answers.results import LawDetails, LegalAnswer
from qiusuo.legal.building.imports import Importer, ImportReport
from qiusuo.legal.index.folder import IndexFolder
from qiusuo.legal.index.handle import IndexHandle
from qiusuo.legal.reading.numbers import read_label
from qiusuo.words import Language

TODAY = date(2026, 11, 15)

TEA_LAW_2010 = """\
# 中华人民共和国茶叶法

2010年3月1日第一届茶叶大会通过

<!-- INFO END -->

## 第一章 总则

第一条 为了保护茶农的合法权益，制定本法。

第二条 本法所称茶叶，是指茶树的叶和芽。

## 第二章 茶农的权利

第三条 茶农有权自行决定采摘时间。

采摘时间由茶农书面告知茶厂：

（一）春茶应当提前十日告知；

（二）秋茶应当提前五日告知。

第四条 茶厂拖欠茶款的，应当依照本法第三条和《中华人民共和国水壶法》第二条的规定承担责任。

第四条之一 茶厂不得压低等级收购茶叶。

第五条 本法自2010年7月1日起施行。《中华人民共和国采茶法》同时废止。
"""
TEA_LAW_2025 = (
    TEA_LAW_2010.replace("2010年3月1日", "2025年10月1日")
    .replace("自行决定采摘时间", "自行决定采摘时间和方式")
    .replace("2010年7月1日起施行。《中华人民共和国采茶法》同时废止。", "2027年1月1日起施行。")
)
POT_LAW = """\
# 水壶法

**第一条**　水壶应当标明容量。

**第二条**　水壶漏水的，出卖人应当更换，买受人可以请求赔偿损失。

**第四条**　本法自2015年5月1日起施行。
"""
PICKING_RULES = """\
# 最高人民法院关于适用《中华人民共和国茶叶法》采摘编的解释（一）

**第一条**　茶叶法第三条规定的告知，可以采用电子形式。

**第二十五条**　本解释自公布之日起施行。
"""
JUDGMENT = """\
某省清水市中级人民法院
民 事 判 决 书
（2019）某01民终88号
上诉人（原审被告）：李四海，男，1980年5月8日出生，住某省清水市东湖区茶园路12号，身份证号110101198005081234，电话13812345678。
被上诉人：王小明，女。
经审理查明：李四海在清水市经营茶厂，拖欠王小明茶款三万元。
本院认为，李四海应当支付茶款。依照《中华人民共和国茶叶法》第四条之规定，判决如下：
一、驳回上诉，维持原判。
二、李四海于十日内支付王小明茶款三万元。
本判决为终审判决。
审判长　赵某
二〇一九年三月一日
"""
COLUMNS = "原始链接,案号,案件名称,法院,案件类型,审理程序,裁判日期,公开日期,当事人,案由,法律依据,全文"


def csv_row(number: str, text: str = JUDGMENT, name: str = "李四海与王小明买卖合同纠纷二审民事判决书") -> str:
    quoted = text.replace('"', '""')
    return (
        f"https://wenshu.example/{number},（2019）某01民终{number}号,{name},清水市中级人民法院,民事案件,二审,"
        f'2019-03-01,2019-05-01,"李四海,王小明",买卖合同纠纷,茶叶法第四条,"{quoted}"'
    )


def crime(number: int, facts: str, court: str = "某省黑山县人民法院") -> str:
    row = {
        "id": str(number),
        "name": f"赵某{number}盗窃一案",
        "doc": f"赵某{number}盗窃罪一审刑事判决书",
        "head": f"{court} 刑事判决书 （2020）某0102刑初{number}号 公诉机关黑山县人民检察院。 被告人赵铁柱，男。",
        "facts": facts,
        "reasoning": "本院认为，被告人赵铁柱的行为构成盗窃罪。",
        "verdict": "被告人赵铁柱犯盗窃罪，判处拘役三个月。 如不服本判决，可在十日内上诉。",
    }
    return json.dumps(row, ensure_ascii=False)


def write_sources(folder: Path) -> Path:
    """Write one source in each layout."""
    laws = folder / "经济法"
    laws.mkdir(parents=True)
    (laws / "茶叶法(2010-03-01).md").write_text(TEA_LAW_2010, "utf-8")
    (laws / "茶叶法(2025-10-01).md").write_text(TEA_LAW_2025, "utf-8")
    (laws / "水壶法.md").write_text(POT_LAW, "utf-8")
    (laws / "采摘编解释.md").write_text(PICKING_RULES, "utf-8")
    (folder / "judgments.csv").write_text(
        "\n".join([COLUMNS, csv_row("88"), csv_row("89", JUDGMENT + "附：茶样。")]), "utf-8"
    )
    crimes = [
        crime(1, "被告人赵铁柱夜间潜入茶园，窃取茶叶二十斤。"),
        crime(2, "被告人赵铁柱在车站扒窃手机一部。", "某省清水市人民法院"),
    ]
    (folder / "crimes.jsonl").write_text("\n".join(crimes), "utf-8")
    return folder


class Statute(NamedTuple):
    """A law as the data wheel has it. Its articles are labels with texts."""

    name: str
    published: str
    effective: str
    articles: tuple[tuple[str, str], ...]
    status: str = "现行有效"
    kind: str = "法律"


def write_statutes(path: Path, statutes: Iterable[Statute]) -> Path:
    """Write laws into a file with the tables of the data wheel."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE laws (law_id TEXT, law_name TEXT, doc_type TEXT, level TEXT, issuing_body TEXT,"
            " publish_date TEXT, effective_date TEXT, version_date TEXT, status TEXT, law_department TEXT);"
            "CREATE TABLE articles (id INTEGER PRIMARY KEY, law_id TEXT, law_name TEXT, chapter TEXT, section TEXT,"
            " article_no TEXT, article_no_arabic INTEGER, article_text TEXT);"
        )
        for number, law in enumerate(statutes):
            days = (law.published, law.effective, law.published)
            row = (str(number), law.name, law.kind, law.kind, "大会", *days, law.status, "经济法")
            database.execute("INSERT INTO laws VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            for label, text in law.articles:
                # The arabic column does not tell 第一条之一 from 第一条.
                arabic = read_label(label.partition("之")[0])
                database.execute(
                    "INSERT INTO articles (law_id, law_name, chapter, article_no, article_no_arabic, article_text)"
                    " VALUES (?, ?, '第一章 总则', ?, ?, ?)",
                    (str(number), law.name, label, arabic.number if arabic else None, text),
                )
        database.commit()
    return path


def write_statutes_db(path: Path, laws: int = 1) -> Path:
    """Write a number of laws on lakes, whose source states a day before their publication."""
    labels = ("第一条", "第一条之一", "第一条之二", "第二条")
    names = (f"中华人民共和国第{number}号湖泊法" for number in range(laws))
    statutes = (
        Statute(
            name,
            "2020-06-01",
            "1990-01-01",
            tuple((label, f"{name}{label}：湖泊应当保护，编号{number}。") for label in labels),
        )
        for number, name in enumerate(names)
    )
    return write_statutes(path, statutes)


def build(folder: Path, *paths: Path) -> ImportReport:
    return Importer(IndexFolder(folder)).run(list(paths))


def opened(folder: Path) -> IndexHandle:
    return IndexHandle(IndexFolder(folder), lambda: TODAY)


def said(found: LegalAnswer[Any] | LawDetails) -> tuple[str, ...]:
    """What an answer or a law notes, in Chinese."""
    return tuple(note.text(Language.CHINESE) for note in found.notes)

"""Laws and cases as Markdown, with the faults that public collections have."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from qiusuo.legal.answers.finding.regulations import RegulationSearch
from qiusuo.legal.building.imports import ImportReport
from qiusuo.legal.index.handle import LegalIndex
from qiusuo.legal.judgments.cases import CaseFilters, CaseSearch
from qiusuo.legal.models import ArticleNumber, LawKind, LawVersion
from tests.support.legal_samples import build, opened

KITE_RULES = """\
# 中华人民共和国风筝规则

2007年10月18日 国务院令第1号公布

<!-- INFO END -->

## 第一章 总则

第一条 为了风筝，制定本规则。 第二条 放风筝的人，依照本规则 第一条 放飞。 第三条 风筝由国家管理。

## 第二章 附则

笫四条 风筝应当有线。

第五 条线断的，应当追回。

第一条规定的风筝，包括纸鸢。

第六条 本规则自2008年1月1日起施行。
"""

BROKEN_OFF = """\
# 陀螺管理条例

2016年2月6日 国务院令第2号公布

<!-- INFO END -->

## 第一章 总则

第一条 为加强陀螺的管理，制定本条例。

第二条 本条例所称陀螺，是指目录公布并实施的陀螺。
"""

AMENDMENT = """\
# 中华人民共和国茶叶法修正案（二）

2001年8月31日 通过

<!-- INFO END -->

为了保护茶树，对茶叶法作如下修改：

一、将茶叶法第三条修改为：

“茶农应当自行采摘。”

二、本修正案自公布之日起施行。
"""

WHOLE = """\
# 最高人民法院关于如何认定茶农的解释

2005年7月31日 最高人民法院审判委员会会议通过

2005年8月1日 最高人民法院公告公布

2005年8月11日 施行

<!-- INFO END -->

为准确认定茶农，现对有关问题解释如下：

受委派到茶园从事采摘的人员，以茶农论。
"""

NUMBERED = """\
# 最高人民法院关于采摘的规定（试行）

<!-- INFO END -->

一、总则

"""

CASE = """\
# 市场支配者搭售茶具

消费者权益保护典型案例

2022-03-15

<!-- INFO END -->

## 吴某诉某茶具公司买卖合同纠纷案

## 裁判要点

搭售茶具侵害选择权。

第十条 消费者有权自主选择茶具。

## 基本案情

吴某购买茶叶时被要求同时购买紫砂壶。

<!-- FORCE BREAK -->

吴某请求退款。

## 裁判结果

某省甲市中级人民法院于2013年1月5日作出（2012）甲民四初字第438号民事判决：驳回请求。

最高人民法院于2016年5月31日作出（2016）最高法民再98号民事判决：1.撤销某省高级人民法院（2013）甲民三终字第38号民事判决；2.返还货款。

## 裁判理由

法院生效裁判认为：公司没有正当理由搭售。
"""


def imported(folder: Path, files: dict[str, str]) -> tuple[LegalIndex, ImportReport]:
    for name, text in files.items():
        place = folder / "collection" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    report = build(folder / "index", folder / "collection")
    return opened(folder / "index").get(), report


def version_of(index: LegalIndex, name: str) -> LawVersion:
    (law_id,) = index.names.find(name)
    (version,) = index.store.versions_of(law_id)
    return version


def text_of(index: LegalIndex, name: str, number: int) -> str:
    (article,) = index.store.articles(version_of(index, name), ArticleNumber(number))
    return article.text


def test_articles_that_share_a_line_or_are_badly_set_are_told_apart(tmp_path: Path) -> None:
    index, report = imported(tmp_path, {"行政法规/风筝规则(2007-10-18).md": KITE_RULES})
    assert (report.articles, report.gaps) == (6, ())
    assert text_of(index, "风筝规则", 2) == "放风筝的人，依照本规则 第一条 放飞。"
    assert text_of(index, "风筝规则", 4) == "风筝应当有线。"
    # A line that begins with a reference is no article.
    assert text_of(index, "风筝规则", 5) == "线断的，应当追回。\n第一条规定的风筝，包括纸鸢。"


def test_a_file_that_breaks_off_is_no_law_of_three_articles(tmp_path: Path) -> None:
    files = {"行政法规/陀螺管理条例(2016-02-06).md": BROKEN_OFF, "行政法规/风筝规则(2007-10-18).md": KITE_RULES}
    index, report = imported(tmp_path, files)
    (broken,) = [source for source in report.sources if source.rejected]
    assert "breaks off within the first chapter" in broken.reasons[0][0]
    found = RegulationSearch(index).search("陀螺管理条例第三十条")
    assert "no_such_number" not in str(found.notes)


def test_items_and_whole_texts_are_read_where_there_are_no_articles(tmp_path: Path) -> None:
    numbered = "\n\n".join(f"{number}．第{number}号事项由执行机构办理。" for number in range(1, 13))
    files = {
        "刑法/茶叶法修正案（二）.md": AMENDMENT,
        "司法解释/如何认定茶农(2005-08-01).md": WHOLE,
        "司法解释/采摘(2020-12-29).md": NUMBERED + numbered,
        "其他/攻略.md": "# 采茶诉讼的攻略\n\n<!-- INFO END -->\n\n这是一篇没有条文的文章，不是法律。\n",
    }
    index, report = imported(tmp_path, files)
    assert text_of(index, "茶叶法修正案（二）", 1).startswith("将茶叶法第三条修改为：")
    version = version_of(index, "最高人民法院关于如何认定茶农的解释")
    assert (version.published, version.effective, version.article_count) == ("2005-08-01", "2005-08-11", 1)
    assert text_of(index, "最高人民法院关于采摘的规定（试行）", 12) == "第12号事项由执行机构办理。"
    assert [source.path.name for source in report.sources if source.rejected] == ["攻略.md"]


def test_a_published_case_is_a_judgment(tmp_path: Path) -> None:
    index, report = imported(tmp_path, {"案例/消费购物/搭售.md": CASE, "法律/风筝规则(2007-10-18).md": KITE_RULES})
    assert (report.articles, report.cases) == (6, 1)
    (found,) = CaseSearch(index, masked=False).search("搭售 紫砂壶", CaseFilters(), 5).results
    assert found.case_name == "吴某诉某茶具公司买卖合同纠纷案"
    assert (found.case_number, found.court, found.date) == ("（2016）最高法民再98号", "最高人民法院", "2016-05-31")
    assert found.case_type == "民事"
    (case,) = index.store.cases_by_number("（2016）最高法民再98号")
    assert case.facts == "吴某购买茶叶时被要求同时购买紫砂壶。\n吴某请求退款。"
    assert case.reasoning.startswith("搭售茶具侵害选择权。")


def test_the_folder_tells_the_kind_and_the_collections_index_the_day(tmp_path: Path) -> None:
    place = tmp_path / "collection"
    place.mkdir()
    with closing(sqlite3.connect(place / "db.sqlite3")) as database:
        database.execute("CREATE TABLE law (name TEXT, publish DATE, valid_from DATE, expired INTEGER)")
        rows = [("山城风筝条例", "2010-03-01", "2010-05-01", 1), ("风筝规则", "2007-10-18", "2001-01-01", 0)]
        database.executemany("INSERT INTO law VALUES (?, ?, ?, ?)", rows)
        database.commit()
    local = "# 山城风筝条例\n\n<!-- INFO END -->\n\n第一条 风筝应当有线。\n"
    files = {
        "DLC/地方性法规/山城/山城风筝条例(2010-03-01).md": local,
        "部门规章/某部/陀螺办法(2011-01-01).md": local.replace("山城风筝条例", "陀螺办法"),
        "行政法规/风筝规则(2007-10-18).md": KITE_RULES,
    }
    index, report = imported(tmp_path, files)
    assert sum(source.rejected for source in report.sources) == 0  # the index itself is no law
    local_version = version_of(index, "山城风筝条例")
    assert (local_version.law.kind, local_version.effective) == (LawKind.LOCAL, "2010-05-01")
    assert "已废止" in local_version.stated_status
    assert version_of(index, "陀螺办法").law.kind is LawKind.RULE
    assert version_of(index, "风筝规则").law.kind is LawKind.REGULATION
    # What the text states is better than the day of the first version.
    assert version_of(index, "风筝规则").effective == "2008-01-01"


def test_the_same_version_from_two_sources_is_one(tmp_path: Path) -> None:
    closing = "\n\n第二条 本解释自2019年7月1日起施行。\n"
    law = "# 最高人民法院关于风筝的解释\n\n<!-- INFO END -->\n\n第一条 风筝（纸鸢）应当有“线”。"
    undated = "# 中华人民共和国陀螺法\n\n第一条 陀螺应当能转。\n\n第二条 陀螺由国家管理。\n"
    files = {
        "a/风筝的解释(2018-12-12).md": law + closing,
        "b/风筝的解释(2019-06-27).md": law.replace("（纸鸢）", "(纸鸢)").replace("“线”", '"线"') + closing,
        "a/陀螺法.md": undated,
        "b/陀螺法(1993-03-31).md": undated.replace("\n\n第一条", "\n\n1993年3月31日 通过\n\n第一条"),
        "c/陀螺法.md": undated,
    }
    index, report = imported(tmp_path, files)
    assert sum(source.rejected for source in report.sources) == 0
    assert version_of(index, "最高人民法院关于风筝的解释").published == "2019-06-27"
    assert version_of(index, "陀螺法").published == "1993-03-31"
    assert report.articles == 4


def test_a_law_in_a_folder_of_its_own(tmp_path: Path) -> None:
    head = "---\nsidebar: auto\n---\n\n"
    made = "2020年5月28日全国人民代表大会通过\n"
    files = {
        "README.md": "# 说明\n\n**第一条**　怎样参加这个项目。\n",
        "docs/category/README.md": "# 类别\n\n[风筝法](../kite/)\n",
        "docs/kite/README.md": f"{head}# 中华人民共和国风筝法\n\n{made}\n**第一条**　风筝应当有线。\n",
        "docs/whole/README.md": f"# 全国人民代表大会关于风筝的决定\n\n{made}\n为保护风筝，决定每年三月为全国的风筝月。",
        "docs/code/README.md": f"{head}# 中华人民共和国玩具法\n\n{made}",
        "docs/code/preamble.md": "# 序言\n\n玩具是世界上历史最悠久的发明之一，应当予以保护。\n",
        "docs/code/01-first.md": "# 第一编　总则\n\n## 第一章　一般规定\n\n**第一条**　玩具应当安全。\n",
        "docs/code/02-second.md": "# 第二编　陀螺\n\n**第二条**　陀螺应当能转。\n",
        "docs/code/03-amendment.md": "# 修正案\n\n## 中华人民共和国玩具法修正案（1988年）\n\n*1988年4月12日通过*\n\n"
        "**第一条**　玩具法第二条修改为：“陀螺应当会转。”\n\n## 中华人民共和国玩具法修正案（1993年）\n\n"
        "*1993年3月29日通过*\n\n"
        "**第二条**　玩具法第一条修改为：“玩具应当好玩。”\n",
    }
    index, report = imported(tmp_path, files)
    names = {version.law.name: version.published for version in index.store.versions.values()}
    assert names == {
        "中华人民共和国风筝法": "2020-05-28",
        "全国人民代表大会关于风筝的决定": "2020-05-28",
        "中华人民共和国玩具法": "2020-05-28",
        "中华人民共和国玩具法修正案（1988年）": "1988-04-12",
        "中华人民共和国玩具法修正案（1993年）": "1993-03-29",
    }
    assert sum(source.rejected for source in report.sources) == 0
    version = version_of(index, "玩具法")
    labels = [
        (article.label, article.headings)
        for article in index.store.articles(version, ArticleNumber(0), ArticleNumber(9))
    ]
    assert labels == [
        ("序言", ()),
        ("第一条", ("第一编 总则", "第一章 一般规定")),
        ("第二条", ("第二编 陀螺",)),
    ]
    assert (
        "每年三月"
        in index.store.articles(version_of(index, "全国人民代表大会关于风筝的决定"), ArticleNumber(0))[0].text
    )

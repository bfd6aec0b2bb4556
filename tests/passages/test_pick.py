"""Which passages are picked out of sources, in both languages."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiusuo.passages import MOST_READ, Passage, Text, pick, questions_in, spread

TOWER = """# 东方塔

东方塔位于江城市东区，由建筑师李明华设计。

## 历史

该塔于1998年3月12日动工，2001年10月1日建成开放。建成当年接待游客120万人次。

## 数据

塔高468米，共有35层。观光厅可同时容纳800人。门票价格为每人180元。

更多信息请关注公众号。
"""

BRIDGE = """The Harlow Bridge crosses the River Wend in Northport.

Construction

Work began in May 1931 under the engineer Ada Whitcombe. It was opened to traffic on 14 June 1935 by the mayor.

Figures

The bridge is 512 metres long and carries about 40,000 vehicles a day. Repainting it took three years and cost
$12 million. Subscribe to our newsletter to read more about bridges.
"""

LEASE = """租房合同
第一条 甲方将房屋出租给乙方，租期一年。
第二条 月租金人民币2800元，按月支付，押金5600元。
第三条 乙方应于每月5日前支付租金。
第四条 乙方逾期支付租金的，每逾期一日按应付租金的1%支付违约金；拖欠租金超过30日的，甲方有权解除合同。
"""


def best(question: str, *texts: str, budget: int = 600) -> Passage:
    return pick(question, [Text(number, "", text) for number, text in enumerate(texts, 1)], budget)[0]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("东方塔是谁设计的？", "李明华"),
        ("东方塔有多高", "468米"),
        ("东方塔什么时候动工", "1998年3月12日"),
        ("东方塔的门票价格是多少", "180元"),
        ("东方塔在哪里", "江城市东区"),
        ("东方塔有多少层", "35层"),
        ("How long is the Harlow Bridge?", "512 metres"),
        ("Who was the engineer of the Harlow Bridge?", "Ada Whitcombe"),
        ("When was the Harlow Bridge opened?", "14 June 1935"),
        ("How much did repainting the bridge cost?", "$12 million"),
        ("Which river does the Harlow Bridge cross?", "River Wend"),
    ],
)
def test_the_best_sentence_answers(question: str, answer: str) -> None:
    assert answer in best(question, TOWER, BRIDGE).sentence


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        # what is asked for, not only the words
        ("2021年全国粮食产量是多少？", "2021年全国粮食总产量13657亿斤。", "2021年全国粮食产量的统计方法有了新的说明。"),
        ("首届海洋大会在哪里举行", "首届海洋大会将在青岛举行。", "首届海洋大会的主题是合作，首届海洋大会影响深远。"),
        (
            "When was the Pelican 6 released?",
            "Pelican 6 was released on 19 May 2021.",
            "Pelican 6 released: what we know.",
        ),
        # the year that is asked for, not another one
        ("2021年星海公司的销量", "星海公司2021年销量为252万辆。", "星海公司2022年销量为240万辆。"),
        ("Who won the Northport Cup in 2019?", "In 2019 Ann Lee won the cup.", "In 2015 Bo Ray won the Northport Cup."),
        # an answer, not a question or the furniture of a page
        ("长桥的设计师是谁", "长桥的设计师是王海涛。", "长桥的设计师是谁？小编带你了解长桥的设计师。"),
        ("北湖有多少个岛", "北湖共有12个岛。", "北湖有多少个岛？以上就是北湖有多少个岛的全部内容。"),
        # the day on which it happened, not the day on which it was reported
        ("暖流号发射时间", "暖流号于5月30日在东海发射升空。", "新华社5月22日电 暖流号发射准备就绪。"),
    ],
)
def test_the_right_one_comes_before_the_wrong_one(question: str, right: str, wrong: str) -> None:
    assert best(question, wrong, right).sentence == right
    assert best(question, f"{wrong}\n\n{right}").sentence == right


def test_neighbours_are_in_the_passage_and_headings_are_named() -> None:
    passage = best("东方塔有多高", TOWER)
    assert "塔高468米" in passage.sentence
    assert "观光厅可同时容纳800人。" in passage.text
    assert passage.heading == "数据"
    assert best("When was the Harlow Bridge opened?", BRIDGE).heading == "Construction"


@pytest.mark.parametrize(
    ("line", "is_heading"),
    [
        ("## 历史", True),
        ("建设经过", True),
        ("Early years", True),
        ("它建成于1998年。", False),
        ("- 门票", False),
        ("1. First", False),
        ("开放时间：", False),
        ("| 高度 |", False),
    ],
)
def test_what_is_a_heading(line: str, is_heading: bool) -> None:
    passage = pick("灯塔 lighthouse", [Text(1, "", f"{line}\n\n这座灯塔 (lighthouse) 高20米。另一句话。")], 25)[0]
    assert (passage.heading == line.lstrip("# ")) is is_heading


def test_the_title_tells_what_a_short_sentence_is_about() -> None:
    texts = [Text(1, "Mount Alder", "Its height is 2,114 m."), Text(2, "Mount Birch", "Its height is 3,020 m.")]
    assert pick("How high is Mount Birch?", texts, 200)[0].number == 2


def test_the_same_sentence_is_picked_once_with_all_its_sources() -> None:
    sentence = "北桥全长512米。"
    found = pick("北桥有多长", [Text(4, "", sentence), Text(7, "", f"{sentence}下雨了。"), Text(9, "", sentence)], 500)
    assert [passage.text.count("512") for passage in found].count(1) == 1
    assert (found[0].number, found[0].also) == (4, (7, 9))


def test_a_sentence_that_a_page_repeats_is_picked_once() -> None:
    (passage,) = pick("北桥有多长", [Text(1, "", "北桥全长512米。\n北桥全长512米。")], 1000)
    assert passage.text == "北桥全长512米。"


def test_the_date_of_a_source_tells_the_year() -> None:
    texts = [
        Text(1, "", "今年星海公司销量为240万辆。", "2022-12-30"),
        Text(2, "", "今年星海公司销量为252万辆。", "2021-12-30"),
    ]
    assert pick("2021年星海公司的销量", texts, 200)[0].number == 2


def test_without_a_word_in_common_the_beginnings_are_returned() -> None:
    found = pick("Wie hoch ist der Turm?", [Text(1, "", TOWER), Text(2, "", BRIDGE)], 300)
    assert {passage.number for passage in found} == {1, 2}
    assert all(passage.score == 0 for passage in found)
    assert found[0].start < 5


def test_the_beginning_of_a_text_is_read() -> None:
    filler = "天气很好。" * (MOST_READ // 5)
    assert best("塔高多少米", f"{filler[:-20]}塔高468米。").sentence == "塔高468米。"
    assert "468" not in best("塔高多少米", f"{filler}塔高468米。").text


@pytest.mark.parametrize(
    "text", ["", " \n\n ", "。。。", "…", "#", "a" * 5000, "很" * 5000, "\u0130" * 300 + "塔高9米"]
)
@pytest.mark.parametrize("question", ["", "？", "塔高多少", "a", "多少", "who", "(?:[", "的" * 900])
def test_odd_input_is_no_error(question: str, text: str) -> None:
    for passage in pick(question, [Text(1, text[:50], text)], 200):
        assert text[passage.start : passage.end] == passage.text


def test_nothing_is_picked_of_nothing() -> None:
    assert pick("塔高多少", [], 500) == []
    assert pick("塔高多少", [Text(1, "", TOWER)], 0) == []
    assert pick("塔高多少", [Text(1, "", TOWER)], -1) == []


PIECES = st.sampled_from(
    [
        "塔高468米。",
        "塔",
        "2021年",
        "Who won? ",
        "The tower is high. ",
        "\n\n",
        "# 数据\n",
        "…",
        "１２３",
        "㎡",
        "İ",
        "\t",
        "😀",
        "- a\n",
        "x" * 300,
    ]
)


@given(
    st.text(max_size=60) | st.sampled_from(["塔高多少米", "Who built the tower in 2021?"]),
    st.lists(st.lists(PIECES | st.text(max_size=20), max_size=30).map("".join), max_size=4),
    st.integers(0, 700),
)
def test_places_are_right_and_the_budget_is_kept(question: str, texts: list[str], budget: int) -> None:
    found = pick(question, [Text(number, "tower", text) for number, text in enumerate(texts)], budget)
    assert sum(len(passage.text) for passage in found) <= budget
    assert [passage.score for passage in found] == sorted((passage.score for passage in found), reverse=True)
    places: dict[int, list[tuple[int, int]]] = {}
    for passage in found:
        assert passage.text == texts[passage.number][passage.start : passage.end] != ""
        assert passage.sentence in passage.text
        assert passage.number not in passage.also
        places.setdefault(passage.number, []).append((passage.start, passage.end))
    for of_text in places.values():
        of_text.sort()
        assert all(one[1] <= other[0] for one, other in pairwise(of_text))


class TestPartsOfOneText:
    def test_their_order_says_nothing(self) -> None:
        pages = [
            Text(1, "", "塔高是很多人关心的问题，塔高的数字各有说法。"),
            *(Text(n, "", "这一页讲门票。") for n in range(2, 200)),
        ]
        pages.append(Text(200, "", "塔高468米。"))
        assert pick("塔高多少米", pages, 200, ordered=False)[0].number == 200

    @pytest.mark.parametrize(("pages", "length"), [(1, 100), (3, 40), (90, 40), (400, 3)])
    @pytest.mark.parametrize("budget", [300, 2500])
    def test_a_summary_has_passages_from_all_over(self, pages: int, length: int, budget: int) -> None:
        texts = [Text(n, "", "".join(f"第{n}页第{i}句说明事项{i}。" for i in range(length))) for n in range(pages)]
        found = spread(texts, budget)
        assert sum(len(passage.text) for passage in found) <= budget
        assert [passage.number for passage in found] == sorted(passage.number for passage in found)
        assert all(texts[each.number].text[each.start : each.end] == each.text for each in found)
        assert found[0].number == 0
        if pages > 1 and budget > 2000:
            assert found[-1].number == pages - 1

    def test_what_fits_is_all_there(self) -> None:
        texts = [Text(1, "", TOWER), Text(2, "", ""), Text(3, "", BRIDGE)]
        assert [passage.text for passage in spread(texts, 5000)] == [TOWER, BRIDGE]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("租金是多少", "2800元"),
        ("合同里租金是多少", "2800元"),
        ("押金是多少", "5600元"),
        ("拖欠租金多久可以解除合同", "超过30日"),
        ("违约金是多少", "1%"),
    ],
)
def test_a_sum_stands_beside_its_name_and_the_number_of_an_article_is_none(question: str, answer: str) -> None:
    assert answer in best(question, LEASE).sentence


def test_two_questions_in_one() -> None:
    assert questions_in("租金是多少，拖欠多久可以解除合同？") == ["租金是多少", "拖欠多久可以解除合同"]
    assert questions_in("How high is the rent, and when is it due?") == ["How high is the rent", "when is it due"]
    for one in ("违约金约定过高，法律怎么规定", "合同里，租金是多少？", "租金"):
        assert questions_in(one) == [one]

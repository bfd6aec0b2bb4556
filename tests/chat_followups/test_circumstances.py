"""Follow-ups that add a circumstance, an article or a part of one; no sentence is mutilated for them."""

from __future__ import annotations

import pytest

from qiusuo.chat.followups import Exchange, resolve
from tests.support.followups import understood


def replayed(*questions: str) -> list[str]:
    """Return what later questions mean where earlier ones are given as they were typed."""
    return [
        resolve(questions[at], [Exchange(question) for question in questions[:at]]).query
        for at in range(1, len(questions))
    ]


@pytest.mark.parametrize(
    ("before", "question", "query"),
    [
        ("民法典第577条怎么规定", "那584条呢", "民法典第584条怎么规定"),
        ("民法典第577条怎么规定", "584条呢", "民法典第584条怎么规定"),
        ("民法典第577条怎么规定", "那578呢？", "民法典第578条怎么规定"),
        ("民法典577条", "584条呢", "民法典第584条"),
        ("公司法第五十条", "五十一条呢", "公司法第五十一条"),
        ("劳动合同法怎么规定试用期", "那19条呢", "劳动合同法第19条"),
        ("刑法", "266条怎么规定", "刑法第266条怎么规定"),
        ("刑法第266条", "第二款呢", "刑法第266条第二款"),
        ("刑法第266条", "那第二款呢？", "刑法第266条第二款"),
        ("刑法266条", "第二款怎么规定", "刑法第266条第二款怎么规定"),
        ("民法典第577条第二款第一项怎么规定", "第二项呢", "民法典第577条第二款第二项怎么规定"),
        ("刑法第266條", "第二款呢", "刑法第266條第二款"),
        ("民法典第1118条", "那下一条呢", "民法典第1119条"),
        ("民法典第1118条", "下一条", "民法典第1119条"),
        ("民法典第一千一百一十八条怎么规定", "上一条呢？", "民法典第1117条怎么规定"),
        ("公司法第二十条", "前一条怎么规定", "公司法第19条怎么规定"),
        ("刑法第264条第二款", "后面一条呢", "刑法第265条"),
        ("刑法第264條", "那下一條呢", "刑法第265條"),
        # Nobody can tell what is next, or there is none.
        ("刑法第133条之一", "那下一条呢", "下一条"),
        ("宪法第一条", "上一条呢", "上一条"),
        # No article is meant.
        ("民法典第577条", "3条裤子多少钱", "3条裤子多少钱"),
        ("买3条裤子多少钱", "4条呢", "买4条裤子多少钱"),
        ("比亚迪2023年销量", "那2024呢", "比亚迪2024销量"),
    ],
)
def test_an_article_or_a_part_of_one_keeps_its_law(before: str, question: str, query: str) -> None:
    assert replayed(before, question) == [query]


def test_the_next_article_is_that_after_the_one_which_the_answer_has_quoted() -> None:
    quoting = "依照《中华人民共和国民法典》第一千二百五十四条，禁止从建筑物中抛掷物品。[1]\n《刑法》第二百九十一条之二"
    before = [Exchange("高空抛物怎么赔", quoting)]
    following = resolve("那下一条呢", before)
    assert (following.query, following.leans) == ("中华人民共和国民法典第1255条", True)
    before.append(Exchange("那下一条呢", "堆放物倒塌、滚落或者滑落造成他人损害……"))
    assert resolve("再下一条呢？", before).query == "中华人民共和国民法典第1256条"
    assert resolve("上一条呢", before).query == "中华人民共和国民法典第1254条"
    assert "第" not in resolve("那下一条呢", [Exchange("高空抛物怎么赔", "没有找到。")]).query


@pytest.mark.parametrize(
    ("before", "question", "query"),
    [
        ("彩礼能要回来吗", "那已经领证了呢？", "彩礼能要回来吗 已经领证了"),
        ("离婚后孩子归谁", "那两岁以下的呢？", "离婚后孩子归谁 两岁以下的"),
        ("离婚后孩子归谁", "那十岁的孩子呢", "离婚后十岁的孩子归谁"),
        ("酒驾撞人了判几年", "那逃逸了呢？", "酒驾撞人了判几年 逃逸了"),
        ("被公司辞退赔多少钱", "那试用期被辞退呢？", "被公司辞退赔多少钱 试用期被辞退"),
        ("被公司辞退赔多少钱", "那孕期呢？", "被公司辞退赔多少钱 孕期"),
        ("工伤怎么认定", "那上下班途中呢", "工伤怎么认定 上下班途中"),
        ("年假有几天", "那工作满十年呢", "年假有几天 工作满十年"),
        ("离婚怎么起诉 孩子抚养权", "那没领证呢", "离婚怎么起诉 孩子抚养权 没领证"),
        ("工伤赔偿标准", "那十级呢", "工伤赔偿标准 十级"),
        ("劳动合同怎么签", "没有合同呢", "劳动合同怎么签 没有合同"),
        ("租房押金不退怎么办", "那合同没到期呢", "租房押金不退怎么办 合同没到期"),
        # What befalls somebody is no thing by itself.
        ("产假多少天", "那难产呢", "产假多少天 难产"),
        ("产假有多少天？", "如果是双胞胎呢？", "产假有多少天 双胞胎"),
        ("產假多少天", "那難產呢", "產假多少天 難產"),
        ("年假有几天", "那离职的呢", "年假有几天 离职"),
        ("盗窃罪判几年", "那自首呢", "盗窃罪判几年 自首"),
        ("撞人了赔多少钱", "那酒驾呢", "撞人了赔多少钱 酒驾"),
        ("彩礼要退吗", "那家暴呢", "彩礼要退吗 家暴"),
        # Nothing takes the place of what happened.
        ("公司不交社保怎么办", "那公积金呢", "公司不交社保怎么办 公积金"),
        ("我的手机丢了怎么办", "身份证呢", "我的手机丢了怎么办 身份证"),
    ],
)
def test_a_circumstance_stands_beside_the_whole_question(before: str, question: str, query: str) -> None:
    resolved = resolve(question, [Exchange(before)])
    assert resolved.query == query
    assert resolved.changed
    assert resolved.leans


@pytest.mark.parametrize(
    ("before", "question", "query"),
    [
        ("加班费怎么算", "那法定节假日呢", "加班费法定节假日怎么算"),
        ("加班费怎么算", "那法定节假日怎么算", "加班费法定节假日怎么算"),
        ("马斯克是谁", "那人民怎么看他", "人民怎么看马斯克"),
        ("红楼梦好看吗", "那书的作者呢", "红楼梦的作者呢"),
    ],
)
def test_no_word_is_cut_in_the_middle(before: str, question: str, query: str) -> None:
    assert replayed(before, question) == [query]


@pytest.mark.parametrize(
    ("before", "question", "query"),
    [
        ("醉驾判几年", "那毒驾呢", "毒驾判几年"),
        ("难产产假多少天", "双胞胎呢", "双胞胎产假多少天"),
        ("什么是产假", "那难产呢", "什么是难产"),
        ("谈判几次", "那调解呢", "调解几次"),
        ("诈骗多少钱立案", "那盗窃呢", "盗窃多少钱立案"),
        ("劳动合同怎么签", "租赁合同呢", "租赁合同怎么签"),
        ("劳动合同试用期最长多久", "那实习期呢", "实习期最长多久"),
        ("试用期工资怎么算", "加班工资呢", "加班工资怎么算"),
        ("借条过了三年还有效吗", "那五年呢", "借条过了五年还有效吗"),
    ],
)
def test_what_is_of_the_same_kind_still_takes_the_place(before: str, question: str, query: str) -> None:
    assert replayed(before, question) == [query]


@pytest.mark.parametrize(
    ("questions", "queries"),
    [
        (
            ("公司试用期最长可以多久", "那试用期工资呢？", "如果公司违反了怎么办"),
            ["公司试用期工资", "公司试用期如果公司违反了怎么办"],
        ),
        (
            ("彩礼能要回来吗", "那已经领证了呢？", "那没领证呢", "需要什么证据"),
            ["彩礼能要回来吗 已经领证了", "彩礼能要回来吗 没领证", "彩礼需要什么证据"],
        ),
        (
            ("产假多少天", "那难产呢", "双胞胎呢", "工资怎么发"),
            ["产假多少天 难产", "产假多少天 双胞胎", "产假工资怎么发"],
        ),
    ],
)
def test_the_conversation_goes_on_with_its_thing(questions: tuple[str, ...], queries: list[str]) -> None:
    assert replayed(*questions) == queries
    assert understood(*questions) == queries


@pytest.mark.parametrize(
    ("before", "question", "query"),
    [
        (
            "How long can a probation period be under Chinese labor law?",
            "and article 578?",
            "How long can a probation period be under Chinese labor law, article 578?",
        ),
        (
            "What is the notice period in Germany?",
            "and Section 622?",
            "What is the notice period in Germany, Section 622?",
        ),
        ("What does article 577 of the Civil Code say?", "and 584?", "What does article 584 of the Civil Code say?"),
    ],
)
def test_a_numbered_part_takes_the_place_of_another_only(before: str, question: str, query: str) -> None:
    assert replayed(before, question) == [query]

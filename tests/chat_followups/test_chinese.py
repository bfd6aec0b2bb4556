"""Follow-up questions in Chinese, and in both languages at once."""

from __future__ import annotations

import pytest

from qiusuo.chat.followups import Exchange, leans_on_what_was_said, resolve
from tests.support.followups import understood


def asked(*questions: str) -> list[Exchange]:
    return [Exchange(question) for question in questions]


_THANKS = ("多谢你的帮助", "好的，明白了", "非常感谢您的耐心解答！", "谢谢你们的建议", "thanks, that helps")


@pytest.mark.parametrize(
    ("before", "question", "query"),
    [
        # 代词
        ("你知道白鹿原吗", "它的作者是谁", "白鹿原的作者是谁"),
        ("马斯克是谁", "他有几家公司", "马斯克有几家公司"),
        ("深圳房价", "那里的教育怎么样", "深圳的教育怎么样"),
        ("骆驼祥子讲了什么", "这本小说想批判什么", "骆驼祥子想批判什么"),
        ("《劳动合同法》是哪年实施的", "该法修改过吗", "《劳动合同法》修改过吗"),
        # 省略
        ("劳动合同试用期最长多久", "那违反了怎么赔偿？", "劳动合同试用期违反了怎么赔偿？"),
        ("西安天气", "明天有雨吗", "西安明天有雨吗"),
        ("离婚冷静期多少天", "可以撤回吗", "离婚冷静期可以撤回吗"),
        ("什么是工伤", "认定标准是什么", "工伤认定标准是什么"),
        ("高血压吃什么药", "副作用大吗", "高血压副作用大吗"),
        ("上海到北京高铁多久", "票价多少", "上海到北京高铁票价多少"),
        ("成都有哪些公园", "附近有什么酒店", "成都附近有什么酒店"),
        ("iPhone 15价格", "和华为Mate 60比哪个好", "iPhone 15和华为Mate 60比哪个好"),
        ("红楼梦的作者是谁", "怎么成名的", "红楼梦的作者怎么成名的"),
        # 替换
        ("比亚迪2023年销量", "那特斯拉呢", "特斯拉2023年销量"),
        ("比亚迪2023年销量", "2024年呢？", "比亚迪2024年销量"),
        ("法国的最低工资是多少", "那德国呢", "德国的最低工资是多少"),
        ("拉萨明天天气", "后天呢", "拉萨后天天气"),
        ("民法典第577条规定了什么", "那第584条呢", "民法典第584条规定了什么"),
        ("民法典第577条", "那第584条怎么规定的", "民法典第584条怎么规定的"),
        ("《民法典》第五百七十七条", "第五百八十四条", "《民法典》第五百八十四条"),
        ("特斯拉Model 3续航多少", "Model Y呢", "特斯拉Model Y续航多少"),
        ("python怎么读取csv", "json呢", "python怎么读取json"),
        ("孕妇能吃螃蟹吗", "虾呢", "孕妇能吃虾吗"),
        ("盗窃罪的量刑标准", "未成年人呢", "未成年人盗窃罪的量刑标准"),
        ("华为和小米谁更耐用", "价格呢", "华为和小米价格"),
        # 纠正
        ("苹果市值", "不对，我问的是微软", "微软市值"),
        ("iPhone 15价格", "我说的是iPhone 15 Pro", "iPhone 15 Pro价格"),
        # 再说一些
        ("红楼梦讲了什么", "为什么？", "红楼梦讲了什么 为什么"),
        ("红楼梦讲了什么", "还有呢？", "红楼梦讲了什么"),
        ("红楼梦讲了什么", "展开说说", "红楼梦讲了什么"),
        # 两种语言
        ("What is throat cancer?", "怎么治疗？", "throat cancer怎么治疗？"),
        ("What is the capital of France?", "那德国呢", "What is the capital of 德国?"),
        ("Python的GIL是什么", "how to disable it?", "how to disable Python的GIL?"),
        ("iPhone 15价格", "and iPhone 16?", "iPhone 16价格"),
        ("苹果公司市值", "and Microsoft?", "Microsoft 苹果公司市值"),
    ],
)
def test_a_follow_up_carries_what_the_conversation_is_about(before: str, question: str, query: str) -> None:
    resolved = resolve(question, asked(before))
    assert resolved.query == query
    assert resolved.changed
    assert leans_on_what_was_said(question, asked(before))


@pytest.mark.parametrize(
    "question",
    [
        "量子计算是什么",
        "民法典关于离婚冷静期的规定",
        "你知道苏炳添吗",
        "介绍一下都江堰",
        "什么是仲裁",
        "泸州有哪些古镇",
        "家的作者是谁",
        "支持无线充电的手机有哪些",
        "学生证丢了去哪里补办",
        "《三体》好看吗",
        "你读过呼兰河传这本书吗",
        "为什么打印机脱机",
        "Docker怎么安装",
        "谢谢",
        "谢谢！",
        "好的，谢谢",
        "你好",
        "明白了",
        "",
        "？",
    ],
)
def test_a_question_that_stands_alone_is_left_as_it_was_typed(question: str) -> None:
    before = asked("西安天气", "明天有雨吗")
    resolved = resolve(question, before)
    assert (resolved.query, resolved.changed, resolved.carried) == (question, False, ())
    assert not leans_on_what_was_said(question, before)


def test_the_topic_changes_in_the_middle() -> None:
    before = asked("西安天气", "明天有雨吗", "聊聊红楼梦", "谢谢")
    assert resolve("它的作者是谁", before).query == "红楼梦的作者是谁"


@pytest.mark.parametrize(
    ("questions", "queries"),
    [
        (
            ("云岭大桥的主跨有多长", "它的总设计师是谁", "那小客车收费多少？", "那青石隧道呢"),
            ["云岭大桥的总设计师是谁", "云岭大桥小客车收费多少？", "青石隧道小客车收费多少"],
        ),
        (("北极狐的寿命有多长", "它们吃什么", "那北极熊呢"), ["北极狐吃什么", "北极熊吃什么"]),
        (
            ("公积金贷款最多能贷多少", "利率是多少", "那商业贷款呢"),
            ["公积金贷款利率是多少", "商业贷款利率是多少"],
        ),
        (("松花江发源于哪里", "流经哪些城市", "它有哪些支流"), ["松花江流经哪些城市", "松花江有哪些支流"]),
        (
            ("石门水库的面积有多大", "谁负责管理", "那鱼能吃吗", "门票呢", "那南湾水库呢"),
            ["石门水库谁负责管理", "石门水库鱼能吃吗", "石门水库门票", "南湾水库门票"],
        ),
        (
            ("小米汽车SU7的续航多少", "充满电要多久", "多少钱"),
            ["小米汽车SU7充满电要多久", "小米汽车SU7多少钱"],
        ),
        (
            ("哈尔滨冰雪大世界几点开门", "学生有优惠吗", "怎么坐地铁去"),
            ["哈尔滨冰雪大世界学生有优惠吗", "哈尔滨冰雪大世界怎么坐地铁去"],
        ),
        (
            ("布洛芬一天吃几次", "能和头孢一起吃吗", "孕妇能吃吗", "那对乙酰氨基酚呢"),
            ["布洛芬能和头孢一起吃吗", "布洛芬孕妇能吃吗", "对乙酰氨基酚孕妇能吃吗"],
        ),
        (
            ("华为Mate 60 Pro多重", "支持无线充电吗", "多少钱"),
            ["华为Mate 60 Pro支持无线充电吗", "华为Mate 60 Pro多少钱"],
        ),
    ],
)
def test_what_was_asked_of_a_thing_is_not_carried_along(questions: tuple[str, ...], queries: list[str]) -> None:
    assert understood(*questions) == queries
    assert [resolve(questions[at], asked(*questions[:at])).query for at in range(1, len(questions))] == queries


@pytest.mark.parametrize(
    "said", ["谢谢", "好的", "好的谢谢你", "嗯好的", "明白了，谢谢你的帮助", "ok", "谢谢，再见", *_THANKS]
)
def test_thanks_ask_nothing(said: str) -> None:
    for before in (asked("西安天气"), []):
        resolved = resolve(said, before)
        assert (resolved.query, resolved.changed, resolved.leans, resolved.asks) == (said, False, False, False)
    assert resolve("明天有雨吗", asked("西安天气")).asks


def test_a_greeting_is_nothing_to_lean_on() -> None:
    assert not resolve("为什么", asked("你好")).changed
    assert resolve("明天有雨吗", asked("你好", "西安天气")).query == "西安明天有雨吗"


def test_what_is_understood_is_carried_on() -> None:
    before = asked("比亚迪2023年销量", "那特斯拉呢")
    assert resolve("2024年呢", before).query == "特斯拉2024年销量"
    assert resolve("需要什么材料", asked("如何注册公司", "流程是什么")).query == "注册公司需要什么材料"


def test_who_is_answered_by_the_answer() -> None:
    answer = "《红楼梦》的作者是**曹雪芹**[1]。" + "曹雪芹名霑，字梦阮。" * 400
    assert resolve("他是哪里人", [Exchange("《红楼梦》的作者是谁", answer)]).query == "曹雪芹是哪里人"


def test_a_long_answer_does_not_dominate() -> None:
    answer = "## 西安天气\n\n" + "- 西安、咸阳、宝鸡今天多云转小雨，东北风3级[1][2]。\n" * 200
    assert resolve("明天有雨吗", [Exchange("西安天气", answer)]).query == "西安明天有雨吗"


def test_what_is_carried_is_said() -> None:
    assert resolve("那违反了怎么赔偿", asked("劳动合同试用期最长多久")).carried == ("劳动合同试用期",)
    assert resolve("那特斯拉呢", asked("比亚迪2023年销量")).carried == ("2023年", "销量")


@pytest.mark.parametrize(
    ("before", "question"),
    [
        ("醉驾判几年", "今天吃什么好"),
        ("醉驾判几年", "讲个笑话"),
        ("醉驾判几年", "现在几点了"),
        ("醉驾判几年", "今天有什么新闻"),
        ("离婚冷静期多少天", "今天天气怎么样"),
        ("离婚冷静期多少天", "那明天会下雨吗"),
        ("长虹大桥有多长", "今晚吃什么好"),
        ("长虹大桥有多长", "今天星期几"),
        ("劳动合同试用期最长多久", "有没有民间借贷的案例"),
        ("什么是工伤", "有没有诈骗的案例"),
        ("Is coffee bad for you?", "今天吃什么好"),
        ("What is the penalty for late delivery in the contract?", "项目预算是多少?"),
        ("合同里逾期交货的违约金是多少？", "What is the project budget?"),
    ],
)
def test_a_change_of_subject_takes_nothing_along(before: str, question: str) -> None:
    resolved = resolve(question, asked(before))
    assert (resolved.query, resolved.changed, resolved.leans, resolved.asks) == (question, False, False, True)


@pytest.mark.parametrize(
    ("before", "question", "query"),
    [
        ("昆明有什么好玩的", "今天天气怎么样", "昆明今天天气怎么样"),
        ("昆明公租房怎么申请", "今天天气怎么样", "昆明今天天气怎么样"),
        ("凯里天气", "明天会下雨吗", "凯里明天会下雨吗"),
        ("高血压怎么办", "吃什么好", "高血压吃什么好"),
        ("什么是工伤", "有没有相关的规定", "工伤有没有相关的规定"),
        ("天气预报的原理是什么", "它准吗", "天气预报准吗"),
        ("劳动合同试用期最长多久", "有没有案例", "劳动合同试用期有没有案例"),
    ],
)
def test_weather_and_food_are_asked_of_a_place(before: str, question: str, query: str) -> None:
    assert resolve(question, asked(before)).query == query


@pytest.mark.parametrize(
    ("before", "question", "query"),
    [
        ("What is the penalty for late delivery in the contract?", "多少钱?", "late delivery in the contract多少钱?"),
        ("Who founded OpenAI?", "项目预算是多少?", "OpenAI项目预算是多少?"),
        ("故宫有多大？", "How old is it?", "How old is 故宫?"),
    ],
)
def test_another_language_goes_on_with_what_was_said(before: str, question: str, query: str) -> None:
    assert resolve(question, asked(before)).query == query


def test_small_talk_is_nothing_to_lean_on() -> None:
    assert understood("离婚冷静期多少天", "讲个笑话", "可以撤回吗") == ["讲个笑话", "离婚冷静期可以撤回吗"]


@pytest.mark.parametrize(
    ("questions", "queries"),
    [
        (("翠湖公园游船多少钱", "那儿童呢？"), ["翠湖公园游船儿童多少钱"]),
        (("翠湖公园游船多少钱", "那儿童票呢"), ["翠湖公园游船儿童票多少钱"]),
        (("翠湖公园成人票多少钱", "那儿童票呢", "学生票呢"), ["翠湖公园儿童票多少钱", "翠湖公园学生票多少钱"]),
        (("成人票多少钱", "那儿童票呢"), ["儿童票多少钱"]),
        (("翠湖公园几点关门", "那儿能停车吗"), ["翠湖公园能停车吗"]),
        (
            ("安平市地铁1号线什么时候开通", "2号线呢", "那10号线呢"),
            ["安平市地铁2号线什么时候开通", "安平市地铁10号线什么时候开通"],
        ),
        (("安平市地铁一号线什么时候开通", "二号线呢"), ["安平市地铁二号线什么时候开通"]),
        (
            ("故宫门票多少钱", "学生呢", "那如果是残疾人呢", "军人能免费吗"),
            ["故宫门票学生多少钱", "故宫门票残疾人多少钱", "故宫军人能免费吗"],
        ),
        (("今天天气怎么样", "明天呢", "上海呢"), ["明天天气怎么样", "明天上海天气怎么样"]),
        (("北京交通大学分数线", "清华大学呢"), ["清华大学分数线"]),
        (("邻居家的狗咬了我谁赔", "那如果是流浪狗呢"), ["流浪狗咬了我谁赔"]),
        (("翠湖公园几点关门", "狗能进去吗", "冬天呢"), ["翠湖公园狗能进去吗", "翠湖公园冬天狗能进去吗"]),
        (("翠湖公园几点关门", "冬天呢"), ["翠湖公园冬天几点关门"]),
        (("翠湖公园几点关门", "自行车可以进吗"), ["翠湖公园自行车可以进吗"]),
    ],
)
def test_a_part_of_the_question_is_exchanged_whole(questions: tuple[str, ...], queries: list[str]) -> None:
    assert understood(*questions) == queries
    assert [resolve(questions[at], asked(*questions[:at])).query for at in range(1, len(questions))] == queries


LABOUR = (
    "根据搜索结果：\n\n- 中华人民共和国劳动法 第二十一条：劳动合同可以约定试用期。 [1]\n"
    "- 中华人民共和国劳动合同法 第十九条：劳动合同期限三个月以上不满一年的，试用期不得超过一个月。 [2]"
)


@pytest.mark.parametrize(
    ("before", "answer", "question", "query"),
    [
        # The law in which the answer has that article, else the first that it names.
        ("劳动合同试用期最长多久", LABOUR, "那第十九条呢", "中华人民共和国劳动合同法第十九条"),
        ("劳动合同试用期最长多久", LABOUR, "第二十条怎么规定的", "中华人民共和国劳动法第二十条怎么规定的"),
        ("试用期多久", "根据《劳动合同法》第十九条，最长六个月。", "那第20条呢？", "劳动合同法第20条"),
        ("试用期多久", "依照劳动合同法第十九条，最长六个月。", "那第八十三条呢", "劳动合同法第八十三条"),
        # The reader has named the law.
        ("工伤保险条例关于上下班途中的规定", "索引中没有。", "那第十四条呢", "工伤保险条例第十四条"),
        ("劳动合同法怎么规定试用期", LABOUR, "那第二十条呢", "劳动合同法第二十条"),
    ],
)
def test_an_article_is_one_of_the_law_that_was_spoken_of(before: str, answer: str, question: str, query: str) -> None:
    assert resolve(question, [Exchange(before, answer)]).query == query


def test_who_comes_back_to_something_leaves_what_came_between() -> None:
    before = asked("劳动合同试用期最长多久", "工伤保险条例关于上下班途中的规定")
    question = "有没有试用期被辞退的案例"
    assert resolve(question, before).query == question
    assert resolve("有没有相关案例", before).query == "工伤保险条例有没有相关案例"

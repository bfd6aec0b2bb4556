"""``looks_legal``: legal questions told from others without an index."""

from __future__ import annotations

import time

import pytest

from qiusuo.legal.recognise import looks_legal


@pytest.mark.parametrize(
    "question",
    [
        "民法典第577条",
        "民法典第五百七十七条说了什么",
        "消法５５条",
        "本法第三条是什么意思",
        "工伤保险条例第十四条",
        "最高人民法院关于审理民间借贷案件适用法律若干问题的规定第25条",
        "劳动合同法",
        "新公司法有什么变化",
        "合同法废止了吗",
        "根据预算法，谁批准预算",
        "《中华人民共和国茶叶法》",
        "劳动合同试用期最长多久",
        "违约金过高怎么办",
        "诉讼时效是几年",
        "酒后骑电动车违法吗",
        "偷一部手机会被判几年",
        "房东不退押金怎么办",
        "楼上漏水，物业是否应当赔偿",
        "公司不发工资怎么办",
        "老板拖欠农民工工资",
        "被公司辞退有补偿吗",
        "被邻居家的狗咬了谁赔",
        "高空抛物砸伤人",
        "酒驾怎么处罚",
        "邻居装修噪音扰民",
        "网购七天无理由退货",
        "未成年人打赏主播能退吗",
        "信用卡逾期会坐牢吗",
        "借条没写利息",
        "朋友欠钱一直不还",
        "二手车被商家隐瞒事故",
    ],
)
def test_legal(question: str) -> None:
    assert looks_legal(question)


@pytest.mark.parametrize(
    "question",
    [
        "",
        "今天北京天气怎么样",
        "量子计算 最新进展",
        "第三条",
        "十大理由第三条",
        "三条理由",
        "法国首都是哪里",
        "反法西斯战争胜利纪念日",
        "宪法日是哪天",
        "零基预算法怎么用",
        "描述统计法",
        "红烧肉的做法第三条",
        "番茄工作法",
        "劳动合同模板下载",
        "软件试用期破解",
        "律师怎么收费",
        "法院电话号码",
        "手机丢了怎么办",
        "C++ 继承 是否支持多重继承",
        "美国宪法第一修正案",
        "电影 破产姐妹",
        "Python 读取 csv",
        "工资条软件推荐",
        "狗咬吕洞宾是什么意思",
        "怎么训练小狗不咬人",
        "手游充值优惠",
        "电动车哪个牌子好",
        "孩子发烧怎么办",
        "酒驾新闻",
        "如何不让猫抓沙发",
        "怎么让宠物狗不咬人",
        "被狗咬了打几针狂犬疫苗",
        "上班像坐牢怎么办",
        "肖申克为什么坐牢",
        "被裁员后怎么找工作",
        "Steam充值怎么退款",
        "家暴题材的纪录片",
        "某明星净身出户",
        "老赖是什么意思",
        "高空抛物运动公式",
        "加班多怎么调整作息",
        "x" * 100_000,
    ],
)
def test_not_legal(question: str) -> None:
    assert not looks_legal(question)


def test_it_is_cheap() -> None:
    started = time.process_time()
    for _ in range(100):
        looks_legal("发包方就同一土地签订两个以上承包合同应该怎么办？" * 3)
    assert (time.process_time() - started) / 100 < 0.002

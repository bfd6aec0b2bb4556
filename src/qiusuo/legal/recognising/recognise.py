"""Telling a legal question from any other without opening an index."""

from __future__ import annotations

import re
from typing import Final

from qiusuo.legal.reading.documents import names_document
from qiusuo.legal.reading.elsewhere import is_abroad
from qiusuo.legal.reading.names import KNOWN_REPEALS, SHORT_NAMES, STATE
from qiusuo.legal.reading.numbers import folded
from qiusuo.legal.reading.references import LawMention, find_references
from qiusuo.legal.recognising.crimes import names_crime
from qiusuo.legal.recognising.lay import tells_trouble, wants_no_law
from qiusuo.legal.recognising.script import from_english, simplified
from qiusuo.legal.recognising.told import tells_as_clients_do

MAX_CHARS: Final = 2000
# The statutes in force by their usual names, as far as people use them; a test compares them with the installed ones.
STATUTE_NAMES: Final = frozenset(
    """
    专利法 仲裁法 价格法 会计法 体育法 保险法 信托法 公司法 公证法 公路法 关税法 兵役法 农业法 劳动法 医师法 商标法
    国徽法 国旗法 国歌法 国籍法 国防法 契税法 学位法 审计法 密码法 工会法 广告法 建筑法 引渡法 律师法 慈善法 戒严法
    护照法 拍卖法 教师法 教育法 旅游法 档案法 森林法 民法典 气象法 法官法 测绘法 海关法 海商法 海警法 消防法 渔业法
    港口法 煤炭法 献血法 电力法 畜牧法 监察法 监狱法 票据法 禁毒法 种子法 立法法 统计法 能源法 航道法 草原法 计量法
    证券法 邮政法 铁路法 防洪法 预算法 中医药法 公务员法 印花税法 原子能法 反垄断法 反洗钱法 反间谍法 增值税法
    标准化法 核安全法 检察官法 烟叶税法 监察官法 著作权法 资源税法 车船税法 义务教育法 乡镇企业法 产品质量法
    人民警察法 人民调解法 人民防空法 企业破产法 军人保险法 出口管制法 刑事诉讼法 动物防疫法 劳动合同法 医疗保障法
    合伙企业法 商业银行法 国家公园法 国家安全法 国家情报法 国家赔偿法 国防交通法 国防动员法 国防教育法 土地管理法
    城乡规划法 外商投资法 学前教育法 安全生产法 对外关系法 对外贸易法 就业促进法 招标投标法 政府采购法 数据安全法
    文物保护法 枪支管理法 母婴保健法 民事诉讼法 民用航空法 水土保持法 法律援助法 海岛保护法 湿地保护法 烟草专卖法
    环境保护法 现役军官法 生物安全法 电子商务法 电子签名法 疫苗管理法 矿产资源法 矿山安全法 社会保险法 社会救助法
    社区矫正法 精神卫生法 红十字会法 网络安全法 职业教育法 船舶吨税法 节约能源法 药品管理法 行政处罚法 行政复议法
    行政强制法 行政许可法 行政诉讼法 资产评估法 长江保护法 防沙治沙法 防震减灾法 陆地国界法 食品安全法 高等教育法
    黄河保护法 个人所得税法 人民陪审员法 企业所得税法 传染病防治法 公共图书馆法 反分裂国家法 反外国制裁法
    反家庭暴力法 反恐怖主义法 反食品浪费法 可再生能源法 国务院组织法 居民身份证法 残疾人保障法 水污染防治法
    注册会计师法 环境保护税法 生态环境法典 耕地占用税法 职业病防治法 车辆购置税法 预备役人员法 黑土地保护法
    个人信息保护法 个人独资企业法 中国人民银行法 中小企业促进法 乡村振兴促进法 人民武装警察法 人民法院组织法
    企业国有资产法 保守国家秘密法 公益事业捐赠法 军事设施保护法 农业技术推广法 农村土地承包法 出境入境管理法
    反不正当竞争法 反有组织犯罪法 噪声污染防治法 国境卫生检疫法 国家发展规划法 土壤污染防治法 外国国家豁免法
    大气污染防治法 妇女权益保障法 家庭教育促进法 循环经济促进法 期货和衍生品法 未成年人保护法 民办教育促进法
    民族区域自治法 民营经济促进法 治安管理处罚法 法治宣传教育法 海上交通安全法 海域使用管理法 海洋环境保护法
    清洁生产促进法 爱国主义教育法 特种设备安全法 环境影响评价法 电影产业促进法 科学技术普及法 科学技术进步法
    税收征收管理法 突发事件应对法 粮食安全保障法 缔结条约程序法 英雄烈士保护法 证券投资基金法 退役军人保障法
    道路交通安全法 野生动物保护法 集会游行示威法 领海及毗连区法 驻外外交人员法 人口与计划生育法 人民检察院组织法
    农业机械化促进法 农产品质量安全法 农民专业合作社法 危险化学品安全法 反电信网络诈骗法 城市房地产管理法
    城市维护建设税法 放射性污染防治法 无障碍环境建设法 村民委员会组织法 海南自由贸易港法 消费者权益保护法
    老年人权益保障法 进出口商品检验法 银行业监督管理法 非物质文化遗产法 促进科技成果转化法 公共文化服务保障法
    公职人员政务处分法 农村集体经济组织法 劳动争议调解仲裁法 台湾同胞投资保护法 国家通用语言文字法
    国际刑事司法协助法 归侨侨眷权益保护法 民族团结进步促进法 海事诉讼特别程序法 进出境动植物检疫法
    青藏高原生态保护法 预防未成年人犯罪法 专属经济区和大陆架法 全民所有制工业企业法 军人地位和权益保障法
    城市居民委员会组织法 澳门特别行政区基本法 澳门特别行政区驻军法 石油天然气管道保护法 耕地保护和质量提升法
    香港特别行政区基本法 香港特别行政区驻军法
    """.split()  # noqa: SIM905 - a list of words
)
# Words that are names of laws only where nothing else stands before them: 零基预算法 and 描述统计法 are methods.
_AMBIGUOUS: Final = frozenset(
    """
    价格法 会计法 体育法 审计法 密码法 教育法 档案法 气象法 测绘法 种子法 统计法 能源法 草原法 计量法 预算法
    标准化法 拍卖法 破产法 监督法 代表法 基金法 期货法 资产评估法 职业教育法 义务教育法 国防教育法 学前教育法
    选举法 刑法 宪法 税法 民法 许可法 强制法 赔偿法 复议法 处罚法 合伙法 基本法 交通法 规划法 发展规划法 招标法 捐赠法
    航空法 银行法 大气法 噪声法 节能法 科普法 疫苗法 家庭教育法 成果转化法 清洁生产法 传染病法 职业病法 野生动物法
    无障碍法 语言文字法 领海法
    """.split()  # noqa: SIM905 - a list of words
)
_LEAD_IN: Final = frozenset("据照按依反于和与及或的国新旧原问是看查对用在到以由跟同《〈“")
# 反法西斯, 刑法学, 宪法日: the last character belongs to another word.
_NO_NAME_BEFORE: Final = frozenset("国西官院学师庭拉语兰宝日拍")
_NO_NAMES: Final = re.compile(r"(?:方|做|算|看|想|说|写|用|魔|书|手|玩|疗|打|唱|吃|喝|画)法$")
# 反法, 消法: too short to be told from other words without an article.
_TOO_SHORT: Final = 2
_NAMES: Final = (
    STATUTE_NAMES
    | {name for name in (*SHORT_NAMES, *KNOWN_REPEALS) if len(name) > _TOO_SHORT and name.endswith(("法", "条例"))}
    | {"刑法", "宪法", "民法", "税法", "工伤保险条例", "刑法修正案"}
)
_LONGEST: Final = max(map(len, _NAMES))
_ENDS: Final = re.compile(r"法典?|条例|修正案")
_QUOTED: Final = re.compile(
    r"《[^《》]{0,40}(?:法|法典|条例|司法解释|若干问题的(?:解释|规定)|管理办法|实施细则)(?:\([^()]{1,12}\))?》"
)
_STRONG: Final = re.compile(
    r"试用期|违约金|劳动合同|劳动仲裁|劳动争议|经济补偿金|竞业限制|无固定期限|未休年假|加班费|工伤认定|工伤赔偿|双倍工资|产假工资|"
    r"夫妻共同(?:财产|债务)|离婚冷静期|离婚诉讼|起诉离婚|抚养权|抚养费|赡养费|赡养义务|探望权|法定继承|遗嘱继承|继承权|遗赠|彩礼返还|"
    r"诉讼时效|不当得利|无因管理|善意取得|居住权|地役权|抵押权|质押权|质权|留置权|优先购买权|买卖不破租赁|违约责任|侵权责任|连带责任|"
    r"保证责任|担保责任|保证期间|民间借贷|合同无效|合同解除|解除合同|撤销权|格式条款|精神损害赔偿|惩罚性赔偿|人身损害赔偿|退一赔[一三十]|"
    r"正当防卫(?!\s*[2-9]|游戏)|紧急避险(?!色)|取保候审|监视居住|刑事责任|刑事拘留|行政拘留|治安处罚|行政处罚|行政复议|行政诉讼|行政许可|国家赔偿|缓刑|假释|减刑|"
    r"表见代理|情[势事]变更|自甘风险|缔约过失|不安抗辩|预期违约|代位继承|好意同乘|追诉时效|防卫过当|数罪并罚|犯罪(?:未遂|中止|预备)|人格否认|"
    r"量刑|累犯|自首情节|醉驾|举证责任|管辖权异议|财产保全|强制执行|支付令|名誉权|肖像权|隐私权|著作权侵权|"
    r"商标侵权|专利侵权|股东知情权|股权转让|法定代表人责任|破产清算|用人单位|被侵权人|承租人|出租人|承揽人|定作人|受害人过错|未成年人犯罪|"
    r"法律(?:规定|责任|依据|后果|条文|条款)|哪(?:条|部|些)法(?:律|条)|依法应当|法定(?:刑|最[高低]|期限|情形|义务)"
)
_ASKED: Final = re.compile(
    r"(?:违法|犯法|犯罪|合法|侵权|违约)(?:行为)?(?:的)?(?:吗|么|嘛|呢|了吗)|(?:是否|算不算|算|属于|构成)[^,。?？]{0,12}(?:违法|犯法|犯罪|合法|侵权|违约|无效|诈骗|工伤)|"
    r"(?:判|坐牢|处)(?:多少|几)(?:年|个月|天)|(?:判|坐牢)多久|会被判(?:刑|死刑|几年)|(?:承担|负|追究)[^,。?？]{0,10}(?:责任|赔偿)|(?:可以|能否|能不能|怎么|如何)[^,。?？]{0,12}(?:起诉|索赔|维权)"
)
# What is wanted is what people say of a law.
_NEWS: Final = re.compile(
    r"(?:最新|有什么|有哪些|近期|最近|今[天日年])[^,。?？]{0,6}(?:新闻|消息|报道|动态|进展)|(?<!虚假)(?<!不实)(?:新闻|消息|报道)[?？\s]*$|热搜"
)


def looks_legal(query: str) -> bool:
    """Tell whether a question is about what Chinese law says, so that a search of type ``regulation`` fits it.

    It is if it says so in words that are known for it, or if a whole sentence reads like those that lay people bring to
    lawyers and asks for nothing else (``tells_as_clients_do``).
    """
    if is_plainly_legal(query):
        return True
    text = simplified(folded(query[:MAX_CHARS]))
    elsewhere = from_english(text) is not None or is_abroad(text) or _NEWS.search(text) or wants_no_law(text)
    return not elsewhere and tells_as_clients_do(text)


def is_plainly_legal(query: str) -> bool:
    """Tell whether a question is about what Chinese law says, by words that are known for it.

    Pure and cheap (no index is opened), and cautious: it says yes only to

    1. a reference to an article of something that is named like a law (民法典第577条, 消法55条, 本法第三条);
    2. a law by its name, short name or former name (劳动合同法, 道交法, 合同法), a title in 《》 that ends as theirs,
       another document of law (工伤保险条例, 民间借贷司法解释, 指导案例24号);
       names that are also words for methods (预算法, 统计法) only where nothing else stands before them;
    3. a term of art of statutes (试用期, 违约金, 诉讼时效, 取保候审 …), a crime by its name (帮信罪), or a question
       whether something is lawful, what it is punished with, or who is liable;
    4. trouble in everyday words (``tells_trouble``: 工资拖了三个月没发, 离婚房子怎么分);

    the last two unless it asks for a form, a download, an exam, a film, a game, a cure, a program or the like.
    Also in traditional characters, and in English where it says that China's law is meant.
    A bare 第三条, 律师收费 or 法国首都 is none of these, nor is news about a law or the law of another country.
    """
    text = simplified(folded(query[:MAX_CHARS]))
    in_chinese = from_english(text)
    if in_chinese is not None:
        return in_chinese[1]
    if is_abroad(text):  # the index holds the law of China
        return False
    if _refers_to_an_article(text):
        return True
    if _NEWS.search(text):
        return False
    if _QUOTED.search(text) or _names_a_law(text) or names_document(text):
        return True
    if wants_no_law(text):
        return False
    return bool(_STRONG.search(text) or _ASKED.search(text)) or names_crime(text) or tells_trouble(text)


def known_name(name: str) -> tuple[int, ...]:
    """Tell, as a table of names does, whether a statute is called so; its number means nothing."""
    return (1,) if name.removeprefix(STATE) in _NAMES else ()


def _refers_to_an_article(text: str) -> bool:
    if "条" not in text:
        return False
    known = find_references(text, known_name)
    return any(
        reference.mention in {LawMention.NAMED, LawMention.SELF}
        or (reference.mention is LawMention.UNKNOWN and not _NO_NAMES.search(reference.law_name))
        for reference in known
    )


def _names_a_law(text: str) -> bool:
    return any(
        text[start : match.end()] in _NAMES and _stands_alone(text, start, match.end())
        for match in _ENDS.finditer(text)
        for start in range(max(0, match.end() - _LONGEST), match.end() - 1)
    )


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Tell whether a name is not a piece of other words."""
    if end < len(text) and text[end] in _NO_NAME_BEFORE:
        return False
    before = text[start - 1] if start else ""
    return text[start:end] not in _AMBIGUOUS or not before.isalpha() or before in _LEAD_IN

"""Well-known names. Chinese has no capitals to tell names by, and the first word of an English sentence always has one.

General lists (countries, provinces, large cities, states, large companies, planets), not fitted to any data.
"""

from __future__ import annotations

import re

_CHINESE = {
    "country": """
        中国 美国 英国 法国 德国 日本 韩国 朝鲜 俄罗斯 印度 加拿大 澳大利亚 新西兰 意大利 西班牙 葡萄牙 荷兰 比利时
        卢森堡 瑞士 瑞典 挪威 丹麦 芬兰 冰岛 爱尔兰 波兰 奥地利 匈牙利 捷克 斯洛伐克 斯洛文尼亚 克罗地亚 塞尔维亚
        罗马尼亚 保加利亚 希腊 土耳其 乌克兰 白俄罗斯 立陶宛 拉脱维亚 爱沙尼亚 格鲁吉亚 亚美尼亚 阿塞拜疆 以色列
        巴勒斯坦 黎巴嫩 约旦 伊朗 伊拉克 叙利亚 沙特 也门 阿曼 科威特 阿联酋 卡塔尔 巴林 埃及 利比亚 突尼斯 阿尔及利亚
        摩洛哥 苏丹 南非 尼日利亚 加纳 肯尼亚 埃塞俄比亚 坦桑尼亚 乌干达 卢旺达 刚果 安哥拉 赞比亚 津巴布韦 莫桑比克
        马达加斯加 塞内加尔 巴西 阿根廷 智利 秘鲁 哥伦比亚 委内瑞拉 厄瓜多尔 玻利维亚 乌拉圭 巴拉圭 墨西哥 古巴 巴拿马
        哥斯达黎加 牙买加 越南 泰国 新加坡 马来西亚 印度尼西亚 印尼 菲律宾 缅甸 柬埔寨 老挝 文莱 蒙古 巴基斯坦
        孟加拉国 斯里兰卡 尼泊尔 不丹 阿富汗 哈萨克斯坦 乌兹别克斯坦 吉尔吉斯斯坦 塔吉克斯坦 土库曼斯坦
    """,
    "city": """
        北京 上海 天津 重庆 河北 山西 辽宁 吉林 黑龙江 江苏 浙江 安徽 福建 江西 山东 河南 湖北 湖南 广东 海南 四川
        贵州 云南 陕西 甘肃 青海 台湾 内蒙古 广西 西藏 宁夏 新疆 香港 澳门 京津冀 长三角 珠三角 东北三省 华北 华东
        华南 西北 西南 华中 东北 石家庄 唐山 秦皇岛 邯郸 保定 张家口 承德 沧州 廊坊 太原 大同 呼和浩特 包头 鄂尔多斯
        沈阳 大连 鞍山 长春 哈尔滨 齐齐哈尔 大庆 南京 无锡 徐州 常州 苏州 南通 扬州 镇江 连云港 杭州 宁波 温州 嘉兴
        绍兴 金华 台州 合肥 芜湖 福州 厦门 泉州 漳州 南昌 九江 赣州 济南 青岛 淄博 烟台 潍坊 威海 临沂 郑州 洛阳 开封
        南阳 武汉 宜昌 襄阳 荆州 长沙 株洲 岳阳 广州 深圳 珠海 汕头 佛山 湛江 惠州 东莞 中山 南宁 柳州 桂林 北海 海口
        三亚 成都 绵阳 宜宾 乐山 贵阳 遵义 昆明 大理 丽江 拉萨 西安 咸阳 延安 宝鸡 兰州 酒泉 敦煌 西宁 银川 乌鲁木齐
        喀什 台北 高雄 华盛顿 纽约 洛杉矶 旧金山 波士顿 芝加哥 西雅图 休斯敦 多伦多 温哥华 伦敦 巴黎 柏林 慕尼黑
        法兰克福 罗马 米兰 马德里 巴塞罗那 里斯本 莫斯科 圣彼得堡 基辅 华沙 布拉格 维也纳 日内瓦 苏黎世 布鲁塞尔
        阿姆斯特丹 斯德哥尔摩 奥斯陆 哥本哈根 赫尔辛基 雅典 伊斯坦布尔 开罗 约翰内斯堡 内罗毕 迪拜 利雅得 德黑兰
        耶路撒冷 新德里 孟买 东京 大阪 京都 首尔 平壤 曼谷 河内 雅加达 马尼拉 吉隆坡 悉尼 墨尔本 里约热内卢 圣保罗
        布宜诺斯艾利斯 利马 墨西哥城
    """,
    "continent": """
        亚洲 欧洲 非洲 东非 西非 北非 北美 南美 拉美 大洋洲 南极 北极
    """,
    "water": """
        太平洋 大西洋 印度洋 北冰洋 地中海 红海 黑海 波罗的海 苏伊士 马六甲 好望角
    """,
    "landscape": """
        长江 黄河 珠江 金沙江 雅鲁藏布江 淮河 松花江 太湖 洞庭湖 鄱阳湖 青海湖 泰山 黄山 华山 喜马拉雅 昆仑山 天山
        秦岭
    """,
    "planet": """
        太阳 月球 水星 金星 地球 火星 木星 土星 天王星 海王星 冥王星
    """,
    "organisation": """
        联合国 世界卫生组织 世卫组织 欧盟 北约 世界银行 国际货币基金组织 世贸组织 美联储 欧洲央行 央行 中国人民银行
        国家统计局 欧盟统计局 财政部 教育部 国务院 最高人民法院 最高人民检察院 国家能源局 国家发展改革委 证监会 外交部
        商务部 工信部 公安部 中科院 中国科学院 清华大学 北京大学 浙江大学 复旦大学 南京大学 上海交通大学
        中国科学技术大学 武汉大学 中山大学 四川大学 山东大学 哈佛大学 斯坦福大学 麻省理工学院 牛津大学 剑桥大学 华为
        小米 腾讯 阿里巴巴 百度 京东 字节跳动 美团 拼多多 网易 联想 比亚迪 蔚来 理想汽车 小鹏 吉利 长城汽车 宁德时代
        苹果 谷歌 微软 亚马逊 脸书 特斯拉 英伟达 英特尔 三星 索尼 任天堂 丰田 本田 日产 大众 宝马 奔驰 通用汽车 福特
        波音 空客 甲骨文 高通 台积电 东方航空 南方航空 中国国航 海南航空 中石油 中石化 国家电网 工商银行 建设银行
        农业银行 中国银行 招商银行 平安 茅台 五粮液
    """,
}
_ENGLISH = frozenset(
    """
    afghanistan albania algeria angola argentina armenia australia austria azerbaijan bahrain bangladesh belarus
    belgium bhutan bolivia bosnia botswana brazil britain bulgaria cambodia cameroon canada chad chile china
    colombia congo croatia cuba cyprus denmark ecuador egypt england estonia ethiopia fiji finland france gabon
    georgia germany ghana greece guatemala guinea haiti honduras hungary iceland india indonesia iran iraq ireland
    israel italy jamaica japan jordan kazakhstan kenya korea kuwait kyrgyzstan laos latvia lebanon liberia libya
    lithuania luxembourg madagascar malawi malaysia maldives mali malta mexico moldova mongolia montenegro morocco
    mozambique myanmar namibia nepal netherlands nicaragua niger nigeria norway oman pakistan panama paraguay peru
    philippines poland portugal qatar romania russia rwanda scotland senegal serbia singapore slovakia slovenia
    somalia spain sudan sweden switzerland syria taiwan tajikistan tanzania thailand togo tunisia turkey uganda
    ukraine uruguay uzbekistan venezuela vietnam wales yemen zambia zimbabwe alabama alaska arizona arkansas
    california colorado connecticut delaware florida hawaii idaho illinois indiana iowa kansas kentucky louisiana
    maine maryland massachusetts michigan minnesota mississippi missouri montana nebraska nevada ohio oklahoma
    oregon pennsylvania tennessee texas utah vermont virginia washington wisconsin wyoming london paris berlin
    madrid rome moscow vienna brussels amsterdam athens beijing shanghai tokyo seoul delhi mumbai cairo nairobi
    sydney melbourne toronto boston chicago seattle houston dallas africa america asia europe arctic antarctica
    atlantic pacific amazon apple google microsoft meta facebook netflix tesla toyota honda nissan ford samsung
    sony nintendo nvidia intel ibm oracle openai anthropic boeing airbus pfizer moderna walmart mercury venus mars
    jupiter saturn uranus neptune pluto mysql postgresql redis mongodb java python ruby rust
    """.split()  # noqa: SIM905 - data
)
# People and adjectives of nations are often added from general knowledge and seldom the point of a sentence.
_DEMONYMS = frozenset(
    """
    american british english french german italian spanish spaniard dutch belgian swiss swedish norwegian danish
    finnish polish russian ukrainian turkish greek israeli iranian iraqi saudi indian pakistani chinese japanese
    korean vietnamese thai indonesian australian canadian mexican brazilian argentine chilean colombian peruvian
    egyptian moroccan kenyan ethiopian ugandan nigerian african european asian serb serbian croatian portuguese
    irish scottish welsh austrian hungarian czech romanian bulgarian cuban
    """.split()  # noqa: SIM905 - data
)
_KNOWN = {name: kind for kind, listed in _CHINESE.items() for name in listed.split()}
_LENGTHS = {
    first: sorted({len(name) for name in _KNOWN if name[0] == first}, reverse=True) for first in {n[0] for n in _KNOWN}
}
_FIRST = re.compile(f"[{''.join(_LENGTHS)}]")


def chinese_names(text: str) -> dict[str, str]:
    """Return the well-known Chinese names in ``text`` with what they name; of nested ones the longest."""
    found: dict[str, str] = {}
    end = 0
    for match in _FIRST.finditer(text):
        start = match.start()
        if start < end:
            continue
        for length in _LENGTHS[match[0]]:
            name = text[start : start + length]
            if name in _KNOWN:
                found[name] = _KNOWN[name]
                end = start + length
                break
    return found


def is_english_name(word: str) -> bool:
    """Tell whether a word in lower case is a well-known name."""
    return word in _ENGLISH


def is_demonym(word: str) -> bool:
    """Tell whether a word in lower case names a people or says of which nation something is."""
    return word in _DEMONYMS

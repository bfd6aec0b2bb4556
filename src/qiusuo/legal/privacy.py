"""Personal data in judgments, masked before anything is shown: names of people, numbers, addresses."""

from __future__ import annotations

import re
from dataclasses import replace

from qiusuo.legal.models import Case

_ROLE = (
    r"(?:(?:原审|一审|二审|再审|附带民事诉讼)?(?:被告人|被害人|被告|原告人|原告|上诉人|被上诉人|申请人|被申请人|申请执行人|被执行人|"
    r"第三人|罪犯|证人|犯罪嫌疑人|自诉人|赔偿请求人|利害关系人|监护人|法定代理人|诉讼代理人))"
)
_NAMED = re.compile(
    rf"{_ROLE}(?:\s*[（(][^（）()]{{2,24}}[）)])?\s*[:：]?\s*([\u4e00-\u9fff]{{2,4}}?)(?=[,，。、;；:：（(\s犯的诉与和在于因以驾]|$)"
)
# 帕如克·帕尔哈提
_DOTTED = re.compile(
    rf"{_ROLE}\s*[:：]?\s*([\u4e00-\u9fff]{{1,8}}(?:[·•][\u4e00-\u9fff]{{1,8}}?){{1,3}}?)(?=[,，。、;；:：（(\s犯的醉酒在于因驾]|$)"
)
_NOT_A_NAME = re.compile(
    r"[某×xX*]|人民|公司|银行|法院|检察|机关|局|委员会|政府|医院|学校|集团|中心|单位|及其|对|不|未|等|均|已|或者|供述|陈述|辩|认|"
    r"之|其|家属|亲属|双方|代理|提|经|负|应|承|当庭|自愿|上述|诉讼|一审|二审|主|系|称|共同|律师|户籍|先后|伙同|到|明知|没有|的"
)
# 百家姓 in the order of frequency: a first character that is none of them is no name.
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石"
    "廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤温康施文牛樊葛邢安齐易乔伍庞颜倪庄聂章鲁岳翟殷詹申"
    "欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍涂成苗谷盛曲翁冉骆蓝路游辛靳欧阳管柴蒙鲍华喻祁蒲房滕屈饶解牟艾尤时穆农司卓"
    "古吉缪简车项连芦麦褚娄窦戚岑景党宫费卜冷晏席卫米柏宗瞿桂全佟应臧闵苟邬边卞姬师和仇栾隋商刁沙荣巫寇桑郎甄丛仲虞敖巩明佘池查麻苑迟邝"
)
_ID_CARD = re.compile(r"(?<!\d)(\d{6})\d{8,11}([\dXx])(?!\d)|(?<!\d)(\d{6})\d{9}(?!\d)")
_LONG_NUMBER = re.compile(r"(?<![\d.])(\d{4})\d{8,12}(\d{3,4})(?!\d)")
_MOBILE = re.compile(r"(?<!\d)(1[3-9]\d)\d{4}(\d{4})(?!\d)")
_PHONE = re.compile(r"(?<!\d)(0\d{2,3}-)\d{4}(\d{3,4})(?!\d)")
_MAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+")
_PLATE = re.compile(
    r"([京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼])([A-Z])[·\s]?[A-Z0-9]{5,6}(?![A-Z0-9])"
)
_BORN = re.compile(r"((?:19|20)\d{2})年\d{1,2}月\d{1,2}日(出?生)")
_HOME = re.compile(
    r"((?:户籍所在地|户籍地|住所地|现住址?|住址|住)[：:]?\s*[\u4e00-\u9fff]{2,12}?(?:省|自治区|市|县|区|州))[^,，。;；（(\s]{2,60}"
)
_COMPOUND = ("欧阳", "司马", "上官", "诸葛", "东方", "皇甫", "尉迟", "公孙", "慕容", "令狐", "司徒", "长孙", "夏侯")


def mask_text(text: str, names: tuple[str, ...] = ()) -> str:
    """Mask numbers, addresses and the given people's names."""
    text = _ID_CARD.sub(lambda match: f"{match[1] or match[3]}********", text)
    text = _MOBILE.sub(r"\1****\2", text)
    text = _LONG_NUMBER.sub(r"\1****\2", text)
    text = _PHONE.sub(r"\1****\2", text)
    text = _MAIL.sub("***@***", text)
    text = _PLATE.sub(r"\1\2*****", text)
    text = _BORN.sub(r"\1年*月*日\2", text)
    text = _HOME.sub(r"\1***", text)
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, masked_name(name))
    return text


def masked_name(name: str) -> str:
    """Return 刘某 for 刘超, 欧阳某某 for 欧阳小明."""
    if "·" in name or "•" in name:
        return re.split("[·•]", name)[0][:1] + "某某"
    surname = name[:2] if name.startswith(_COMPOUND) else name[:1]
    return surname + "某" * max(1, len(name) - len(surname))


def people_in(text: str) -> tuple[str, ...]:
    """Return the names of the people whom a judgment's text introduces by their role."""
    found = {name for name in _NAMED.findall(text) if name[0] in _SURNAMES and not _NOT_A_NAME.search(name)}
    return tuple(sorted(found | set(_DOTTED.findall(text))))


def mask_case(case: Case) -> Case:
    """Return the case as it may be shown."""
    whole = f"{case.text}\n{case.facts}\n{case.reasoning}\n{case.verdict}"
    listed = [part for part in re.split(r"[,，、;；\s]+", case.parties) if part]
    people = {part for part in listed if 2 <= len(part) <= 4 and part[0] in _SURNAMES and not _NOT_A_NAME.search(part)}  # noqa: PLR2004 - lengths of names
    names = tuple(people | set(people_in(whole)))

    def hide(text: str) -> str:
        return mask_text(text, names)

    return replace(
        case,
        name=hide(case.name),
        parties=hide(case.parties),
        facts=hide(case.facts),
        reasoning=hide(case.reasoning),
        verdict=hide(case.verdict),
        text=hide(case.text),
    )

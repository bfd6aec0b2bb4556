"""Traditional Chinese, which is made of the Chinese words."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from qiusuo.words import Fact, Language
from qiusuo.words.catalogue import Part, codes, placeholders, template
from qiusuo.words.script import is_traditional, simplified, written_like

CODES = frozenset(codes())
HAN = re.compile("[\u4e00-\u9fff]")
AFTER_A_NEW_SENTENCE = "after a new sentence: make docs; what it makes wrong is mended in scripts/traditional.toml"


class TestTraditional:
    """What is made of the Chinese words for readers of Traditional Chinese."""

    def texts(self) -> Iterator[tuple[str, Part, str]]:
        for code in sorted(CODES):
            yield from ((code, part, template(code, Language.TRADITIONAL, part)) for part in Part)

    def test_every_code_is_there_with_the_same_values(self) -> None:
        other = [
            f"{code}.{part}"
            for code, part, text in self.texts()
            if placeholders(text) != placeholders(template(code, Language.CHINESE, part))
            or bool(text) != bool(template(code, Language.CHINESE, part))
        ]
        assert other == []

    def test_it_has_no_character_that_only_simplified_writing_has(self) -> None:
        # 簡體 names itself so in the choice of languages; nothing else may.
        found = {
            f"{code}.{part}: {one}"
            for code, part, text in self.texts()
            for one in HAN.findall(text)
            if not one.encode("big5", "ignore")
        }
        assert found == set(), AFTER_A_NEW_SENTENCE

    def test_terms_are_those_of_taiwan(self) -> None:
        others = re.compile(
            "軟件|網絡|信息|服務器|默認|鏈接|打印|視頻|質量|登錄|搜索|數據|文檔|用戶(?!端)|許可權|令牌|端口|域名|會話|"
            "緩存|賬|權限設置|設置|界面|屏幕|硬盤|內存|支持(?!較弱)|通過|[“”]"
        )
        found = [f"{code}.{part}: {text}" for code, part, text in self.texts() if others.search(text)]
        assert [each for each in found if "來源支持" not in each] == [], AFTER_A_NEW_SENTENCE

    def test_a_plug_in_without_it_is_told_in_simplified_characters(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("qiusuo.words.catalogue.entry", {"acme.closed": {"zh": "关闭", "en": "Closed"}}.get)
        assert Fact("acme.closed").text(Language.TRADITIONAL) == "关闭"

    @pytest.mark.parametrize(
        ("text", "traditional"),
        [
            ("什麼是區塊鏈？", True),
            ("什么是区块链？", False),
            ("陶喆的歌", False),
            ("臺北天氣 weather", True),
            ("“龍”字怎么写", False),
            ("今日は何ですか", False),
            ("hello", False),
            ("\ud800", False),
            ("", False),
        ],
    )
    def test_which_characters_a_text_is_in(self, text: str, traditional: bool) -> None:
        assert is_traditional(text) is traditional

    def test_one_for_the_other(self) -> None:
        asked = "區塊鏈與後臺"
        assert simplified(asked) == "区块链与后台"
        assert written_like("区块链的后台", asked) == "區塊鏈的後臺"

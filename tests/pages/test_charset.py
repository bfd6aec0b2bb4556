"""Bytes, headers and markup that agree, are silent, or lie."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiusuo.pages.charset import decode

SIMPLIFIED = "中华人民共和国合同法规定，当事人应当遵循公平原则确定各方的权利和义务。"
TRADITIONAL = "中華民國的憲法規定，人民有言論、講學、著作及出版之自由，不受任何侵害。"
JAPANESE = "日本国憲法は、昭和二十一年十一月三日に公布されました。"
KOREAN = "대한민국의 주권은 국민에게 있고, 모든 권력은 국민으로부터 나온다."
RUSSIAN = "Все люди рождаются свободными и равными в своем достоинстве и правах."
GERMAN = "Die Würde des Menschen ist unantastbar. Sie zu achten und zu schützen ist Pflicht."
FOUR_BYTES = "生僻字：𠀀𠮷㐂䶮，以及藏文ༀ与蒙文ᠮ。"


def page(text: str, meta: str = "") -> str:
    head = f'<meta charset="{meta}">' if meta else ""
    return f"<html><head>{head}<title>x</title></head><body><p>{text}</p></body></html>"


@pytest.mark.parametrize(
    ("text", "encoding", "header", "meta"),
    [
        # All agree.
        (SIMPLIFIED, "utf-8", "utf-8", "utf-8"),
        (SIMPLIFIED, "gbk", "gbk", "gbk"),
        (SIMPLIFIED, "gb2312", "GB2312", ""),
        (SIMPLIFIED, "gbk", "", "gb2312"),
        (TRADITIONAL, "big5", "big5", ""),
        (TRADITIONAL, "big5", "", "Big5"),
        (JAPANESE, "shift_jis", "", "Shift_JIS"),
        (JAPANESE, "euc_jp", "euc-jp", ""),
        (KOREAN, "euc_kr", "", "euc-kr"),
        (RUSSIAN, "cp1251", "windows-1251", ""),
        (RUSSIAN, "koi8_r", "koi8-r", ""),
        (GERMAN, "latin-1", "iso-8859-1", ""),
        # GBK holds characters that GB2312 lacks, GB18030 those that GBK lacks.
        ("朱镕基、喆、囧", "gbk", "", "gb2312"),
        (FOUR_BYTES, "gb18030", "", "gb2312"),
        (FOUR_BYTES, "gb18030", "gbk", ""),
        # Nobody says anything.
        (SIMPLIFIED, "utf-8", "", ""),
        (SIMPLIFIED, "gbk", "", ""),
        (TRADITIONAL, "big5", "", ""),
        (JAPANESE, "shift_jis", "", ""),
        (JAPANESE, "euc_jp", "", ""),
        (KOREAN, "euc_kr", "", ""),
        (RUSSIAN, "cp1251", "", ""),
        (GERMAN, "cp1252", "", ""),
        # The header lies, the markup lies, both do.
        (SIMPLIFIED, "gbk", "utf-8", "gbk"),
        (SIMPLIFIED, "gbk", "iso-8859-1", "gb2312"),
        (SIMPLIFIED, "gbk", "iso-8859-1", ""),
        (SIMPLIFIED, "utf-8", "gbk", ""),
        (SIMPLIFIED, "utf-8", "iso-8859-1", "gb2312"),
        (SIMPLIFIED, "gbk", "utf-8", "utf-8"),
        (RUSSIAN, "cp1251", "iso-8859-1", ""),
        # Two characters of GBK that happen to be valid UTF-8.
        ("我爱你们", "gbk", "", "gbk"),
        ("谩谩", "gbk", "gbk", ""),
        # Names that a page must not be able to choose.
        (SIMPLIFIED, "utf-8", "unicode_escape", "zlib"),
        (SIMPLIFIED, "utf-8", "rot13", "punycode"),
    ],
)
def test_the_text_is_read_right(text: str, encoding: str, header: str, meta: str) -> None:
    document = page(text, meta)
    assert decode(document.encode(encoding), header)[0] == document


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_goes_before_everything(encoding: str) -> None:
    document = page(SIMPLIFIED, "gbk")
    assert decode(document.encode(encoding), "big5")[0] == document


def test_utf_16_without_a_mark_needs_the_header() -> None:
    document = page(SIMPLIFIED)
    assert decode(document.encode("utf-16-le"), "utf-16")[0] == document
    assert decode(document.encode("utf-16-be"), "utf-16be")[0] == document


def test_markup_that_calls_itself_utf_16_is_not() -> None:
    document = page(SIMPLIFIED, "utf-16")
    assert decode(document.encode(), "")[0] == document


def test_seven_bit_encodings_go_by_their_name() -> None:
    assert decode(b"~{VPND~}", "hz-gb-2312")[0] == "中文"
    assert decode("日本".encode("iso2022_jp"), "iso-2022-jp")[0] == "日本"


def test_a_few_broken_bytes_do_not_change_the_encoding() -> None:
    broken = (SIMPLIFIED * 3).encode() + b"\xff" + SIMPLIFIED.encode()
    text, encoding = decode(broken, "utf-8")
    assert encoding == "utf-8"
    assert text == SIMPLIFIED * 3 + "\ufffd" + SIMPLIFIED
    text, encoding = decode((SIMPLIFIED * 3).encode("gbk") + b"\xff<p>", "gbk")
    assert encoding == "gb18030"
    assert text.startswith(SIMPLIFIED)


def test_an_xml_declaration_counts() -> None:
    document = f'<?xml version="1.0" encoding="GB2312"?><a>{SIMPLIFIED}</a>'
    assert decode(document.encode("gbk"))[0] == document


@given(st.binary(max_size=300), st.sampled_from(["", "utf-8", "gbk", "big5", "latin1", "utf-16", "nonsense"]))
def test_any_bytes_become_some_text(body: bytes, header: str) -> None:
    text, encoding = decode(body, header)
    assert isinstance(text, str)
    assert encoding

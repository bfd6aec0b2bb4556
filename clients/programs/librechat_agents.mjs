// The part of LibreChat that talks to models and searches the web.
import { HumanMessage } from "@langchain/core/messages";
import { ChatModelStreamHandler, createContentAggregator, createSearchTool, GraphEvents, Providers, Run } from "@librechat/agents";
import { assert, BASE, cited, FOLLOW_UP, KEY, QUESTION, URL_ } from "./common.mjs";

const textOf = (parts) => parts.map((part) => part?.text ?? "").join("");

/** Ask as LibreChat does, with the conversation so far; tools are its own. */
async function ask(messages, tools = [], modelKwargs = {}) {
  const { contentParts, aggregateContent } = createContentAggregator();
  const pass = (event) => ({ handle: (_name, data) => aggregateContent({ event, data }) });
  const customHandlers = { [GraphEvents.CHAT_MODEL_STREAM]: new ChatModelStreamHandler() };
  for (const event of ["ON_RUN_STEP", "ON_RUN_STEP_DELTA", "ON_RUN_STEP_COMPLETED", "ON_MESSAGE_DELTA"]) {
    customHandlers[GraphEvents[event]] = pass(GraphEvents[event]);
  }
  const llmConfig = {
    provider: Providers.OPENAI,
    model: "qiusuo-chat",
    apiKey: KEY,
    configuration: { baseURL: BASE },
    streaming: true,
    streamUsage: true,
    maxRetries: 0,
    modelKwargs,
  };
  const run = await Run.create({
    runId: crypto.randomUUID(),
    graphConfig: { type: "standard", llmConfig, tools },
    returnContent: true,
    skipCleanup: true,
    customHandlers,
  });
  const config = { runId: crypto.randomUUID(), configurable: { user_id: "u", thread_id: "t" }, streamMode: "values", version: "v2" };
  await run.processStream({ messages }, config);
  return { text: textOf(contentParts), messages: run.getRunMessages() ?? [] };
}

const first = await ask([new HumanMessage(QUESTION)]);
cited(first.text);
const again = await ask([new HumanMessage(QUESTION), ...first.messages, new HumanMessage(FOLLOW_UP)]);
assert.ok(!cited(again.text).includes("[[1]]"), again.text);

// Its own search tool, in SearXNG's shape and in Tavily's.
const reading = { rerankerType: "none", scraperProvider: "tavily", tavilyApiKey: KEY, tavilyExtractUrl: `${URL_}/tavily/extract` };
const searxng = createSearchTool({ searchProvider: "searxng", searxngInstanceUrl: URL_, searxngApiKey: KEY, ...reading });
const tavily = createSearchTool({ searchProvider: "tavily", tavilySearchUrl: `${URL_}/tavily/search`, ...reading });
for (const tool of [searxng, tavily]) {
  const found = await tool.invoke({ query: QUESTION });
  assert.match(JSON.stringify(found), /tea-\w+\.example\.com\/page\/1/);
  const answered = await ask([new HumanMessage(QUESTION)], [tool], { search: false });
  assert.match(answered.text, /in March/);
}
process.exit(0);

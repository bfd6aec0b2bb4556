// The AI SDK with its provider for OpenAI, which speaks Responses by default.
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { assert, BASE, cited, FOLLOW_UP, KEY, QUESTION, WEATHER, weather } from "./common.mjs";

const qiusuo = createOpenAI({ baseURL: BASE, apiKey: KEY });
const get_weather = tool({
  description: "The weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => weather(city),
});
for (const name of ["qiusuo-chat", "qiusuo-agent"]) {
  const model = qiusuo(name);
  const streamed = streamText({ model, prompt: QUESTION, onError: ({ error }) => { throw error; } });
  cited(await streamed.text);
  const sources = await streamed.sources;
  assert.ok(sources.length > 0 && sources[0].url.startsWith("https://tea-"), JSON.stringify(sources));
  const looped = await generateText({ model, prompt: WEATHER, tools: { get_weather }, stopWhen: stepCountIs(4), maxRetries: 0 });
  assert.match(cited(looped.text), /21 degrees/);
  const first = await generateText({ model, prompt: QUESTION, maxRetries: 0 });
  const messages = [{ role: "user", content: QUESTION }, ...first.response.messages, { role: "user", content: FOLLOW_UP }];
  cited((await generateText({ model, messages, maxRetries: 0 })).text);
}

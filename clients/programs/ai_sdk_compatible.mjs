// The AI SDK with its provider for servers in OpenAI's shape.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, Output, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { assert, BASE, cited, FOLLOW_UP, KEY, QUESTION, WEATHER, weather } from "./common.mjs";

const qiusuo = createOpenAICompatible({ name: "qiusuo", baseURL: BASE, apiKey: KEY, includeUsage: true, supportsStructuredOutputs: true });
const get_weather = tool({
  description: "The weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => weather(city),
});
for (const name of ["qiusuo-chat", "qiusuo-agent"]) {
  const model = qiusuo(name);
  const streamed = streamText({ model, prompt: QUESTION, onError: ({ error }) => { throw error; } });
  cited(await streamed.text);
  assert.equal(await streamed.finishReason, "stop");
  const looped = await generateText({ model, prompt: WEATHER, tools: { get_weather }, stopWhen: stepCountIs(4), maxRetries: 0 });
  assert.match(cited(looped.text), /21 degrees/);
}
const model = qiusuo("qiusuo-chat");
const first = await generateText({ model, prompt: QUESTION, maxRetries: 0 });
const messages = [{ role: "user", content: QUESTION }, ...first.response.messages, { role: "user", content: FOLLOW_UP }];
assert.ok(!cited((await generateText({ model, messages, maxRetries: 0 })).text).includes("[[1]]"));
const typed = await generateText({
  model,
  prompt: "Where and when? As JSON.",
  maxRetries: 0,
  output: Output.object({ schema: z.object({ city: z.string(), month: z.string() }) }),
});
assert.deepEqual(typed.output, { city: "Kunming", month: "March" });

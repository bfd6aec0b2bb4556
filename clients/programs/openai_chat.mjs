// OpenAI's package.
import OpenAI from "openai";
import { assert, BASE, cited, FOLLOW_UP, KEY, QUESTION, WEATHER, weather } from "./common.mjs";

const client = new OpenAI({ baseURL: BASE, apiKey: KEY, maxRetries: 0 });
const listed = (await client.models.list()).data.map((model) => model.id);
assert.ok(listed.includes("qiusuo-chat"));

const messages = [{ role: "user", content: QUESTION }];
const first = await client.chat.completions.create({ model: "qiusuo-chat", messages });
messages.push(first.choices[0].message, { role: "user", content: FOLLOW_UP });
const again = await client.chat.completions.create({ model: "qiusuo-chat", messages });
assert.ok(!cited(again.choices[0].message.content).includes("[[1]]"));

const streamed = client.chat.completions.stream({ model: "qiusuo-agent", messages: [{ role: "user", content: QUESTION }] });
cited(await streamed.finalContent());

const run = client.chat.completions.runTools({
  model: "qiusuo-agent",
  stream: true,
  messages: [{ role: "user", content: WEATHER }],
  tools: [{
    type: "function",
    function: {
      name: "get_weather",
      description: "The weather of a city.",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      parse: JSON.parse,
      function: ({ city }) => weather(city),
    },
  }],
});
assert.match(cited(await run.finalContent()), /21 degrees/);

const response = await client.responses.create({ model: "qiusuo-chat", input: QUESTION });
cited(response.output_text);
const kinds = new Set();
for await (const event of await client.responses.create({ model: "qiusuo-chat", input: QUESTION, stream: true })) {
  kinds.add(event.type);
}
assert.ok(kinds.has("response.output_text.delta") && kinds.has("response.completed"));

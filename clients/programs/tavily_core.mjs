// Tavily's own package for Node.
import { tavily } from "@tavily/core";
import { assert, KEY, QUESTION, URL_ } from "./common.mjs";

const client = tavily({ apiKey: KEY, apiBaseURL: `${URL_}/tavily` });
const found = await client.search(QUESTION, { maxResults: 4, includeAnswer: true });
assert.equal(found.results.length, 4);
assert.match(found.answer, /March/);
const news = await client.search(QUESTION, { topic: "news", timeRange: "week", maxResults: 2 });
assert.equal(news.results.length, 2);
const pages = await client.extract(["http://127.0.0.1:1/"]);
assert.equal(pages.failedResults.length, 1);
await assert.rejects(tavily({ apiKey: "tvly-wrong", apiBaseURL: `${URL_}/tavily` }).search(QUESTION));

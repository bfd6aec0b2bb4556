// The TypeScript SDK of MCP, over HTTP and standard input and output.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { assert, KEY, URL_ } from "./common.mjs";

async function use(transport) {
  const client = new Client({ name: "clients", version: "1" });
  await client.connect(transport);
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  assert.ok(names.includes("web_search") && names.includes("fetch_page"));
  // The client checks structured content against the schema that the tool declares.
  const first = await client.callTool({ name: "web_search", arguments: { query: "spring tea", count: 3 } });
  assert.deepEqual(first.structuredContent.results.map((row) => row.number), [1, 2, 3]);
  assert.match(first.content[0].text, /\[1\] spring tea/);
  const second = await client.callTool({ name: "webSearch", arguments: { query: "autumn tea", count: 2 } });
  assert.deepEqual(second.structuredContent.results.map((row) => row.number), [4, 5]);
  await client.close();
}

const headers = { Authorization: `Bearer ${KEY}` };
await use(new StreamableHTTPClientTransport(new URL(`${URL_}/mcp`), { requestInit: { headers } }));
const [command, ...args] = process.env.QIUSUO_COMMAND.split(" ");
const env = { ...process.env, SEARXNG_URL: process.env.QIUSUO_SEARXNG, SEARCH_PROVIDER_PRIORITY: "searxng" };
await use(new StdioClientTransport({ command, args: [...args, "mcp"], env, stderr: "inherit" }));

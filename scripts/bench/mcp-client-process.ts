import { createInterface } from "node:readline";
import { isRecord } from "@antiphon/base/json/records.ts";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

/**
 * The client library over one open connection, in a bare Node process. For each line of its input, each of TASKS lists
 * the tools of MCP_URL and makes three calls at once; then it prints the milliseconds in which all of them were done.
 */
const { MCP_URL: url = "", TASKS: tasks = "" } = process.env;
const client = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode: "auto" } });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));

for await (const _line of createInterface({ input: process.stdin })) {
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: Number(tasks) }, () => task()));
  console.log(performance.now() - startedAt);
}

async function task(): Promise<void> {
  const { tools } = await client.request({ method: "tools/list", params: {} });
  await Promise.all([1, 2, 3].map(() => call(tools)));
}

async function call([tool]: readonly unknown[]): Promise<void> {
  const name = isRecord(tool) ? String(tool["name"]) : "";
  const { isError } = await client.callTool({ name, arguments: {} });
  if (isError === true) throw new Error("a call failed");
}

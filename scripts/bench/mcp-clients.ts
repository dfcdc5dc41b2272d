import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { isRecord } from "../../src/base/json/records.ts";
import { median } from "./statistics.ts";

/**
 * The work of the tools without a server of ours: the client library over one open connection, in a bare Node process.
 * Each of TASKS lists the tools of MCP_URL and makes three calls at once. Prints `took MS`: the median time in which
 * all tasks together are done, over ROUNDS.
 */
const { MCP_URL: url = "", TASKS: tasks = "", ROUNDS: rounds = "" } = process.env;
const client = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode: "auto" } });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));

const times: number[] = [];
for (let round = 0; round < Number(rounds); round += 1) {
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: Number(tasks) }, () => task()));
  times.push(performance.now() - startedAt);
}
console.log(`took ${median(times)}`);
process.exit(0);

async function task(): Promise<void> {
  const { tools } = await client.request({ method: "tools/list", params: {} });
  await Promise.all([1, 2, 3].map(() => call(tools)));
}

async function call([tool]: readonly unknown[]): Promise<void> {
  const name = isRecord(tool) ? String(tool["name"]) : "";
  const { isError } = await client.callTool({ name, arguments: {} });
  if (isError === true) throw new Error("a call failed");
}

import { createServer, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { isRecord } from "@antiphon/base/json/records.ts";
import { CALL_MS } from "./tools-shape.ts";

/** An MCP server whose one tool takes `CALL_MS`. Prints `listening PORT`. */
const server = createServer((request, response) => {
  if (request.method !== "POST") return void response.writeHead(405).end();
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => void answer(JSON.parse(Buffer.concat(chunks).toString("utf8")), response));
});

async function answer(message: unknown, response: ServerResponse): Promise<void> {
  const { id, method } = isRecord(message) ? message : {};
  if (id === undefined) return void response.writeHead(202).end();
  const result = await resultOf(String(method));
  const body = result === null ? { error: { code: -32_601, message: "unknown method" } } : { result };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
}

async function resultOf(method: string): Promise<object | null> {
  if (method === "initialize")
    return {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "slow", version: "1.0.0" },
    };
  if (method === "tools/list") return { tools: [{ name: "wait", inputSchema: { type: "object", properties: {} } }] };
  if (method !== "tools/call") return null;
  await sleep(CALL_MS);
  return { content: [{ type: "text", text: "waited" }] };
}

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") console.log(`listening ${address.port}`);
});

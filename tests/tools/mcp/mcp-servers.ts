import { spawn } from "node:child_process";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { answerByFetch, sendJson } from "../../kit/http-answers.ts";
import { freePort, serveHttp } from "../../kit/http-server.ts";

/** An MCP server on a real port. */
export interface TestMcpServer {
  readonly url: string;
  /** The headers of each request, oldest first. */
  readonly heard: readonly IncomingMessage["headers"][];
  /** The calls that tools have run, such as `pay 3`. */
  readonly ran: readonly string[];
}

/** The official server that has every kind of tool, as a process of its own. */
export async function startEverything(
  transport: "streamableHttp" | "sse",
  givenPort?: number,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const program = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");
  const port = givenPort ?? (await freePort());
  const child = spawn(process.execPath, [program, transport], {
    env: { PATH: process.env["PATH"], PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  onTestFinished(stop);
  await new Promise<void>((resolve, reject) => {
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
      said += piece;
      if (/listening on port|running on port/.test(said)) resolve();
    });
    void ended.then(() => reject(new Error(`the MCP server ended: ${said}`)));
  });
  return { url: `http://127.0.0.1:${port}/${transport === "sse" ? "sse" : "mcp"}`, stop };
}

/**
 * A server of protocol 2026-07-28 with the tools `pay` (counts), `look` (read-only), `again` (idempotent), `wait` and
 * `refuse`. With `legacy` it speaks the older protocols too.
 */
export async function startModern(options: { readonly legacy?: boolean } = {}): Promise<TestMcpServer> {
  const ran: string[] = [];
  return { ...(await startOfficial(() => toolsOf(ran), options)), ran };
}

/** A server of the official library. `create` makes its state for each request. */
export async function startOfficial(
  create: () => McpServer,
  options: { readonly legacy?: boolean } = {},
): Promise<Omit<TestMcpServer, "ran">> {
  const heard: IncomingMessage["headers"][] = [];
  const handler = createMcpHandler(create, options.legacy === true ? {} : { legacy: "reject" });
  const server = await serveHttp((request, response) => {
    heard.push(request.headers);
    void answerByFetch(handler.fetch, request, response);
  });
  return { url: `${server.url}/mcp`, heard };
}

export function toolsOf(ran: string[]): McpServer {
  const server = new McpServer({ name: "modern", version: "1.0.0" });
  const says = (said: string) => ({ content: [{ type: "text" as const, text: said }] });
  const amount = z.object({ amount: z.number() });
  server.registerTool("pay", { description: "Pays.", inputSchema: amount }, ({ amount: paid }) => {
    ran.push(`pay ${paid}`);
    return says(`paid ${paid}`);
  });
  const looks = { description: "Looks.", inputSchema: z.object({}), annotations: { readOnlyHint: true } };
  server.registerTool("look", looks, () => says("seen"));
  const sets = { description: "Sets.", inputSchema: amount, annotations: { idempotentHint: true } };
  server.registerTool("again", sets, () => says("set"));
  server.registerTool("wait", { inputSchema: z.object({}) }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 60_000).unref());
    return says("late");
  });
  server.registerTool("refuse", { inputSchema: z.object({}) }, () => ({ ...says("no such account"), isError: true }));
  return server;
}

/**
 * A server that answers each message by hand. What it does not name is answered as a server of 2025 would. `answer`:
 * an answer of the client to a request of the server.
 */
export async function startScripted(
  answers: Readonly<Record<string, (message: JsonRpc, response: ServerResponse) => unknown>>,
): Promise<TestMcpServer> {
  const heard: IncomingMessage["headers"][] = [];
  const listener: RequestListener = (request, response) => {
    heard.push(request.headers);
    void text(request).then((body) => {
      const message: JsonRpc =
        body === "" ? { method: request.method ?? "" } : { method: "answer", ...JSON.parse(body) };
      const own = answers[message.method];
      const result = own === undefined ? usual(message) : own(message, response);
      if (result === undefined || response.headersSent) return;
      if (result === null) response.writeHead(202).end();
      else sendJson(response, { jsonrpc: "2.0", id: message.id, ...Object(result) });
    });
  };
  const server = await serveHttp(listener);
  return { url: `${server.url}/mcp`, heard, ran: [] };
}

export interface JsonRpc {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

/** The result of a list with these tools. */
export function toolList(tools: readonly object[], nextCursor?: string): object {
  return { result: { tools, ...(nextCursor === undefined ? {} : { nextCursor }) } };
}

export function plainTool(name: string, more: object = {}): object {
  return { name, description: `Tool ${name}.`, inputSchema: { type: "object", properties: {} }, ...more };
}

function usual({ method }: JsonRpc): object | null {
  switch (method) {
    case "initialize":
      return {
        result: {
          protocolVersion: "2025-06-18",
          capabilities: { tools: {} },
          serverInfo: { name: "scripted", version: "1" },
        },
      };
    case "tools/list":
      return toolList([plainTool("one")]);
    case "tools/call":
      return { result: { content: [{ type: "text", text: "done" }] } };
    case "answer":
      return null;
    default:
      return method.startsWith("notifications/") ? null : { error: { code: -32_601, message: "Method not found" } };
  }
}

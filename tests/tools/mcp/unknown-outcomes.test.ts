import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { OpenTool, ToolOutcome } from "@antiphon/domain/hosted-tool.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import type { OperatorServer } from "../../../src/tools/mcp/mcp-server.ts";
import { sendJson } from "../../kit/http-answers.ts";
import { serveHttp } from "../../kit/http-server.ts";
import { verifies } from "../../verifies.ts";
import { type JsonRpc, plainTool, startScripted, toolList } from "./mcp-servers.ts";
import { called, mcpInput, type OpenMore, opened } from "./opened-tool.ts";

/** The tool `pay` may have effects; `look` has none, and `set` has one however often it is called. */
const TOOLS = [
  plainTool("pay"),
  plainTool("look", { annotations: { readOnlyHint: true } }),
  plainTool("set", { annotations: { idempotentHint: true } }),
];
const INITIALIZED = {
  protocolVersion: "2025-06-18",
  capabilities: { tools: {} },
  serverInfo: { name: "breaking", version: "1" },
};
const JSON_TYPE = "application/json";
const STREAM_TYPE = "text/event-stream";
const SOON = { options: { callTimeoutMs: 400 } };

type Answer = (message: JsonRpc, response: ServerResponse) => unknown;

async function openAt(url: string, more: OpenMore = {}): Promise<OpenTool> {
  const tool = await opened(mcpInput({ server_url: url }), more);
  onTestFinished(() => tool.close());
  return tool;
}

/** How calls of `pay`, `look` and `set` come out at a server that answers them in this way. */
async function outcomesOf(answer: Answer, more: OpenMore = {}): Promise<readonly string[]> {
  const server = await startScripted({ "tools/list": () => toolList(TOOLS), "tools/call": answer });
  const tool = await openAt(server.url, more);
  return await Promise.all(["pay", "look", "set"].map(async (name) => wordFor(await called(tool, name))));
}

function wordFor(outcome: ToolOutcome): string {
  return outcome.type === "ran" && "status" in outcome.item ? outcome.item.status : outcome.type;
}

function answers(status: number, body = "", type = "text/plain"): Answer {
  return (_message, response) => void response.writeHead(status, { "content-type": type }).end(body);
}

/** A reply of which only the beginning comes, and whose connection breaks if it is not left open. */
function begins(type: string, beginning: string, then: "breaks" | "stays open"): Answer {
  return (_message, response) => {
    response.writeHead(200, { "content-type": type });
    response.write(beginning, () => (then === "breaks" ? response.destroy() : undefined));
  };
}

describe("a call that may have effects is unknown, and one without is failed,", () => {
  test.each<[string, Answer, OpenMore?]>([
    ["when the connection breaks before the reply", (_message, response) => void response.destroy()],
    ["when the connection breaks within a reply in JSON", begins(JSON_TYPE, '{"jsonrpc":"2.0",', "breaks")],
    ["when the connection breaks within a stream", begins(STREAM_TYPE, 'data: {"jsonrpc":', "breaks"), SOON],
    ["when a stream ends without the result", answers(200, ": hello\n\n", STREAM_TYPE), SOON],
    ["when no reply comes in time", () => undefined, SOON],
    ["when the rest of a reply in JSON does not come in time", begins(JSON_TYPE, "{", "stays open"), SOON],
    ["when the result does not come in time over a stream", begins(STREAM_TYPE, ":\n\n", "stays open"), SOON],
    ["when the server answers with 500", answers(500, "broken")],
    ["when the server answers with 503 in JSON", answers(503, "{}", JSON_TYPE)],
    [
      "when the server answers with a redirect",
      (_message, response) => void response.writeHead(303, { location: "/" }).end(),
    ],
    ["when the answer is a page", answers(200, "<p>Hello</p>", "text/html")],
    ["when the result breaks the protocol", () => ({ result: { content: "text" } })],
  ])("%s", async (_when, answer, more) => {
    verifies("tools.mcp.unknown-outcome");
    expect(await outcomesOf(answer, more)).toEqual(["unknown", "failed", "unknown"]);
  });

  test("when the stream of the older transport breaks", async () => {
    verifies("tools.mcp.unknown-outcome");
    const { url } = await startOlder((stream) => void stream.destroy());
    const tool = await openAt(url, SOON);
    expect([wordFor(await called(tool, "pay"))]).toEqual(["unknown"]);
    const again = await openAt(url, SOON);
    expect([wordFor(await called(again, "look"))]).toEqual(["failed"]);
  });

  test("when its program dies while the call is under way", async () => {
    verifies("tools.mcp.unknown-outcome");
    const tool = await opened(mcpInput({ server_label: "program" }), { options: { servers: [dyingProgram()] } });
    onTestFinished(() => tool.close());
    expect([wordFor(await called(tool, "pay")), wordFor(await called(tool, "look"))]).toEqual(["unknown", "failed"]);
  });
});

describe("a call is plainly failed", () => {
  test.each<[string, Answer]>([
    ["when the server answers with 400", answers(400, "no")],
    ["when the server answers with 401 in JSON", answers(401, "{}", JSON_TYPE)],
    ["when the server answers with 429", answers(429)],
    ["when the server answers with an error of the protocol", () => ({ error: { code: -32_603, message: "broken" } })],
    ["when the tool says that it failed", () => ({ result: { content: [], isError: true } })],
  ])("%s", async (_when, answer) => {
    verifies("tools.mcp.unknown-outcome");
    expect(await outcomesOf(answer)).toEqual(["failed", "failed", "failed"]);
  });

  test("when the older transport refuses it", async () => {
    verifies("tools.mcp.unknown-outcome");
    const { url } = await startOlder((_stream, response) => void response.writeHead(403).end());
    expect(wordFor(await called(await openAt(url), "pay"))).toBe("failed");
  });

  test("when nobody listens any more", async () => {
    verifies("tools.mcp.unknown-outcome");
    const server = await startClosing();
    const tool = await openAt(server.url);
    await server.close();
    expect(wordFor(await called(tool, "pay"))).toBe("failed");
  });

  test("when its arguments are wrong", async () => {
    verifies("tools.mcp.unknown-outcome");
    const server = await startScripted({ "tools/list": () => toolList(TOOLS) });
    expect(wordFor(await called(await openAt(server.url), "pay", "[1"))).toBe("failed");
  });
});

/** The result of a message of a client that gets ready to call tools; null for a notification. */
function readyResult({ method, id }: JsonRpc): object | null {
  if (id === undefined) return null;
  return { jsonrpc: "2.0", id, result: method === "initialize" ? INITIALIZED : { tools: TOOLS } };
}

function messageIn(body: string): JsonRpc {
  const message = jsonOrUndefined(body);
  if (!isRecord(message)) throw new Error("the message is no object");
  const { id, method } = message;
  return { method: String(method), ...(typeof id === "number" || typeof id === "string" ? { id } : {}) };
}

/** A server of the transport of 2024, whose replies come over one stream. `onCall` is given that, and the message's. */
async function startOlder(onCall: (stream: ServerResponse, response: ServerResponse) => void) {
  const streams: ServerResponse[] = [];
  return await serveHttp((request, response) => {
    if (request.method === "GET" && request.url === "/mcp") {
      streams.push(response);
      return void response
        .writeHead(200, { "content-type": STREAM_TYPE })
        .write("event: endpoint\ndata: /messages\n\n");
    }
    if (request.url !== "/messages") return void response.writeHead(405).end();
    void text(request).then((body) => {
      const message = messageIn(body);
      const [stream] = streams.slice(-1);
      if (message.method === "tools/call" && stream !== undefined) onCall(stream, response);
      if (response.headersSent) return;
      response.writeHead(202).end();
      const result = readyResult(message);
      if (result !== null) stream?.write(`event: message\ndata: ${JSON.stringify(result)}\n\n`);
    });
  }).then(({ url }) => ({ url: `${url}/mcp` }));
}

/** A server that closes each connection after its reply, so that no call can be sent over a connection that ends. */
async function startClosing(): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const answer: RequestListener = (request, response) => {
    response.shouldKeepAlive = false;
    void text(request).then((body) => {
      const result = readyResult(messageIn(body));
      if (result === null) response.writeHead(202).end();
      else sendJson(response, result);
    });
  };
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  const close = () => new Promise<void>((resolve) => void server.close(() => resolve()));
  return { url: `http://127.0.0.1:${address.port}/mcp`, close };
}

/** A program that ends when one of its tools is called. */
function dyingProgram(): OperatorServer {
  const source = `
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      if (method === "tools/call") process.exit(1);
      const result = method === "initialize" ? ${JSON.stringify(INITIALIZED)} : { tools: ${JSON.stringify(TOOLS)} };
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });`;
  return {
    label: "program",
    reach: { type: "program", command: process.execPath, args: ["-e", source], folder: "/", environment: {} },
    description: null,
    allowedTools: null,
    requireApproval: null,
    owners: null,
    connectorIds: [],
    forwardsAuthorization: false,
    allowsLessApproval: false,
  };
}

import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { describe, expect, test } from "vitest";
import type { McpInput } from "../../../src/tools/mcp/mcp-server.ts";
import { sendJson } from "../../kit/http-answers.ts";
import { serveHttp, writeForever } from "../../kit/http-server.ts";
import { verifies } from "../../verifies.ts";
import { type JsonRpc, plainTool, startModern, startScripted, toolList } from "./mcp-servers.ts";
import { called, guard, mcpInput, type OpenMore, opened, ranCall } from "./opened-tool.ts";

async function refusedOpen(url: string, more: Partial<McpInput> = {}, and: OpenMore = {}): Promise<ModelError> {
  const failure: unknown = await opened(mcpInput({ server_url: url, ...more }), and).catch((error: unknown) => error);
  if (!(failure instanceof ModelError)) throw new Error(`expected a refusal, but got ${JSON.stringify(failure)}`);
  expect(failure.message).not.toMatch(/\d+\.\d+\.\d+\.\d+|<html|secret/);
  return failure;
}

async function failedCall(answer: (message: JsonRpc, response: ServerResponse) => unknown, and: OpenMore = {}) {
  // Of a tool that may have effects, less is known.
  const listed = toolList([plainTool("one", { annotations: { readOnlyHint: true } })]);
  const server = await startScripted({ "tools/list": () => listed, "tools/call": answer });
  const tool = await opened(mcpInput({ server_url: server.url }), and);
  try {
    const { item, output } = ranCall(await called(tool, "one"));
    expect(item).toMatchObject({ status: "failed", output: null });
    expect(output).not.toBe("");
    expect(JSON.stringify(item.error)).not.toMatch(/\d+\.\d+\.\d+\.\d+|<html/);
    return { error: item.error, output };
  } finally {
    await tool.close();
  }
}

describe("a list that cannot be had refuses the response", () => {
  test.each([
    [401, "Http status code: 401 (Unauthorized)"],
    [403, "Http status code: 403 (Forbidden)"],
    [404, "Http status code: 404 (Not Found)"],
    [429, "Http status code: 429 (Too Many Requests)"],
    [500, "Http status code: 500 (Internal Server Error)"],
    [599, "Http status code: 599"],
  ])("when the server answers with %i", async (status, sentence) => {
    const { url } = await serveHttp((_request, response) => {
      response.writeHead(status, { "content-type": "text/html" });
      response.end(`<html>${"secret ".repeat(1000)}</html>`);
    });
    const failure = await refusedOpen(`${url}/mcp`);
    expect(failure).toMatchObject({
      status: 424,
      type: "external_connector_error",
      code: "http_error",
      param: "tools",
      message: `Error retrieving tool list from MCP server: 'shop'. ${sentence}`,
    });
  });

  verifies("tools.egress.private-addresses-refused");
  test("when its address is not public", async () => {
    const server = await startModern();
    const failure = await refusedOpen(server.url, {}, { options: { egress: guard([]) } });
    expect(failure.status).toBe(424);
    expect(failure.message).toContain("not public");
    expect(server.heard).toEqual([]);
  });

  test("when it redirects to the metadata service", async () => {
    const { url } = await serveHttp((_request, response) => {
      response.writeHead(307, { location: "http://169.254.169.254/latest/meta-data/" });
      response.end();
    });
    expect((await refusedOpen(`${url}/mcp`)).message).toContain("redirect");
  });

  test("when nobody listens", async () => {
    expect((await refusedOpen("http://127.0.0.1:9/mcp")).status).toBe(424);
  });

  test("when it stalls, after the time limit", async () => {
    const { url } = await serveHttp(() => {});
    const failure = await refusedOpen(`${url}/mcp`, {}, { options: { listTimeoutMs: 200 } });
    expect(failure.message).toContain("did not answer in time");
  });

  test("when it stalls within the list", async () => {
    const server = await startScripted({ "tools/list": (_message, response) => void response.writeHead(200) });
    const failure = await refusedOpen(server.url, {}, { options: { listTimeoutMs: 200 } });
    expect(failure.message).toContain("did not answer in time");
  });

  test("when its pages never end", async () => {
    let page = 0;
    const server = await startScripted({ "tools/list": () => toolList([], String(++page)) });
    expect((await refusedOpen(server.url)).message).toContain("more than 100 pages");
  });

  test.each([
    ["is no JSON", (_message: JsonRpc, response: ServerResponse) => void response.end("<html>hello</html>")],
    ["has another shape", () => ({ result: { tools: "all" } })],
    ["is an error", () => ({ error: { code: -32_000, message: "see http://10.0.0.1/x or 10.0.0.1" } })],
  ])("when it %s", async (_what, answer) => {
    const server = await startScripted({ "tools/list": answer });
    expect((await refusedOpen(server.url)).status).toBe(424);
  });

  test("when it is larger than a reply may be", async () => {
    const server = await startScripted({
      "tools/list": (_message, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write('{"jsonrpc":"2.0","id":1,"result":{"tools":["');
        writeForever(response, "x".repeat(65_536));
      },
    });
    expect((await refusedOpen(server.url)).message).toContain("larger than");
  });
});

describe("a list that is too much asks for allowed_tools", () => {
  const many = Array.from({ length: 10_000 }, (_, index) => plainTool(`tool_${index}`));

  test("when it has 10,000 tools", async () => {
    const server = await startScripted({ "tools/list": () => toolList(many) });
    const failure = await refusedOpen(server.url);
    expect(failure).toMatchObject({ status: 400, param: "tools" });
    expect(failure.message).toContain("more than 128 tools");
    const tool = await opened(mcpInput({ server_url: server.url, allowed_tools: ["tool_9999"] }));
    expect(tool.functions.map(({ name }) => name)).toEqual(["tool_9999"]);
    await tool.close();
  });

  const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  test.each([
    ["large", { inputSchema: { type: "object", title: "x".repeat(70_000) } }],
    ["long", { description: "x".repeat(70_000) }],
    ["deep", { inputSchema: { type: "object", properties: JSON.parse(nested(100)) } }],
  ])("when a schema or a description is too %s", async (_what, more) => {
    const server = await startScripted({ "tools/list": () => toolList([plainTool("one", more)]) });
    expect((await refusedOpen(server.url)).status).toBe(400);
  });

  test("and one that is nested beyond all measure is no list", async () => {
    const server = await startScripted({
      "tools/list": ({ id }, response) => {
        const tool = `{"name":"one","inputSchema":{"type":"object","properties":${nested(200_000)}}}`;
        response.writeHead(200, { "content-type": "application/json" });
        response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"tools":[${tool}]}}`);
      },
    });
    expect((await refusedOpen(server.url)).status).toBeOneOf([400, 424]);
  });

  test("but a schema whose patterns would hang is never evaluated", async () => {
    const hanging = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } };
    const server = await startScripted({
      "tools/list": () => toolList([plainTool("one", { inputSchema: hanging, outputSchema: hanging })]),
      "tools/call": () => ({ result: { content: [], structuredContent: { a: `${"a".repeat(40)}!` } } }),
    });
    const tool = await opened(mcpInput({ server_url: server.url }));
    const { output } = ranCall(await called(tool, "one", { a: `${"a".repeat(40)}!` }));
    expect(output).toContain("aaaa");
    await tool.close();
  });
});

describe("a call that fails is told to the client and to the model", () => {
  test("when the tool says so", async () => {
    const content = [{ type: "text", text: "no such account" }];
    const { error, output } = await failedCall(() => ({ result: { content, isError: true } }));
    expect(error).toEqual({ type: "mcp_tool_execution_error", content });
    expect(output).toBe("no such account");
  });

  test("when the server answers with an error, of which little is shortQuote", async () => {
    const message = `see http://10.0.0.1/x\n${"y".repeat(1000)}`;
    const { error } = await failedCall(() => ({ error: { code: -32_001, message } }));
    expect(error).toMatchObject({ type: "mcp_protocol_error", code: -32_001 });
    expect(JSON.stringify(error).length).toBeLessThan(300);
  });

  test.each([401, 500, 503])("when the server answers with status %i", async (status) => {
    const { error } = await failedCall((_message, response) => void response.writeHead(status).end("<html>"));
    expect(error).toMatchObject({ type: "http_error", code: status });
  });

  test("when it stalls, after the time limit", async () => {
    const stall = (_message: JsonRpc, response: ServerResponse): void => response.flushHeaders();
    const { error } = await failedCall(stall, { options: { callTimeoutMs: 200 } });
    expect(error).toMatchObject({ type: "http_error", code: 504 });
  });

  test("when it reports progress for ever, after five times the limit", async () => {
    const report = ({ params }: JsonRpc, response: ServerResponse): void => {
      const meta: unknown = params?.["_meta"];
      const progressToken = meta instanceof Object && "progressToken" in meta ? meta.progressToken : 0;
      response.writeHead(200, { "content-type": "text/event-stream" });
      let progress = 0;
      const timer = setInterval(() => {
        const message = {
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { progressToken, progress: ++progress },
        };
        response.write(`data: ${JSON.stringify(message)}\n\n`);
      }, 20);
      response.on("close", () => clearInterval(timer));
    };
    const { error } = await failedCall(report, { options: { callTimeoutMs: 100 } });
    expect(error).toMatchObject({ type: "http_error", code: 504 });
  });

  test("when it redirects", async () => {
    const { error } = await failedCall((_message, response) => {
      response.writeHead(302, { location: "http://169.254.169.254/" }).end();
    });
    expect(error).toMatchObject({ type: "http_error", code: 403 });
  });

  test.each(["application/json", "text/event-stream"])("when it sends a gigabyte as %s", async (type) => {
    const { error } = await failedCall((_message, response) => {
      response.writeHead(200, { "content-type": type });
      response.write(type === "text/event-stream" ? "data: " : '"');
      writeForever(response, "x".repeat(65_536));
    });
    expect(error).toMatchObject({ type: "http_error" });
  });

  test("when it breaks off", async () => {
    const { error } = await failedCall((_message, response) => void response.destroy());
    expect(error).toMatchObject({ type: "http_error", code: 424 });
  });

  test("when the result is none", async () => {
    const { error } = await failedCall(() => ({ result: { content: "text" } }));
    expect(error).toMatchObject({ type: "mcp_protocol_error" });
  });

  test("when the answer is to another call", async () => {
    const { error } = await failedCall(
      (_message, response) => sendJson(response, { jsonrpc: "2.0", id: 999, result: { content: [] } }),
      { options: { callTimeoutMs: 200 } },
    );
    expect(error).toMatchObject({ type: "http_error", code: 504 });
  });
});

test.each([
  ["before its reply", () => {}],
  [
    "while its reply is a stream",
    (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" }).write(":\n\n"),
  ],
])("a call that is stopped %s ends at once, and the server hears of it", async (_when, begin) => {
  const cancelled = Promise.withResolvers<unknown>();
  const begun = Promise.withResolvers<unknown>();
  const server = await startScripted({
    "tools/call": ({ id }, response) => {
      begin(response);
      begun.resolve(id);
    },
    "notifications/cancelled": ({ params }) => {
      cancelled.resolve(params?.["requestId"]);
      return null;
    },
  });
  const tool = await opened(mcpInput({ server_url: server.url }));
  const stop = new AbortController();
  const running = called(tool, "one", {}, stop.signal);
  const id = await begun.promise;
  await sleep(50); // The head of the reply is on its way.
  stop.abort(new Error("gone"));
  expect(ranCall(await running).item.status).toBe("incomplete");
  expect(await cancelled.promise).toBe(id);
  await tool.close();
});

import { once } from "node:events";
import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedTool } from "@antiphon/domain/hosted-tool.ts";
import { expect, onTestFinished, test, vi } from "vitest";
import { createMcpTool } from "../../../src/tools/mcp/mcp-tool.ts";
import { sendJson } from "../../kit/http-answers.ts";
import { plainTool, startEverything, startModern, startScripted, toolList } from "./mcp-servers.ts";
import { called, mcpInput, mcpOptions, opened, ranCall } from "./opened-tool.ts";

const LIST: StoredItem = {
  id: "mcpl_1",
  type: "mcp_list_tools",
  server_label: "shop",
  tools: [{ name: "one", input_schema: { type: "object" }, description: "", annotations: null }],
};

/** Closed with the test. */
function keptTool(): HostedTool {
  const tool = createMcpTool(mcpOptions());
  onTestFinished(async () => await tool.close?.());
  return tool;
}

/** A server that gives each connection a session, unless `sessions` is false. Says what it was asked. */
async function startKeeping({ sessions = true } = {}) {
  const log: string[] = [];
  const known = new Set<string>();
  const behaviour = { refusal: 404, calls: 0 };
  let count = 0;
  const check = (): string | null => {
    const session = String(server.heard.at(-1)?.["mcp-session-id"]);
    return !sessions || known.has(session) ? session : null;
  };
  const server = await startScripted({
    initialize: ({ id }, response) => {
      const session = `s${++count}`;
      log.push(`open ${session}`);
      known.add(session);
      if (sessions) response.setHeader("mcp-session-id", session);
      const serverInfo = { name: "keeping", version: "1" };
      sendJson(response, {
        jsonrpc: "2.0",
        id,
        result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo },
      });
    },
    "tools/list": (_message, response) => {
      if (check() === null) return void response.writeHead(behaviour.refusal).end("unknown session");
      log.push("list");
      return toolList([plainTool("one"), plainTool("wait")]);
    },
    "tools/call": ({ params }, response) => {
      if (check() === null) return void response.writeHead(behaviour.refusal).end("unknown session");
      log.push(`call ${String(params?.["name"])}`);
      if (params?.["name"] !== "wait") return { result: { content: [{ type: "text", text: "done" }] } };
      return void once(response, "close").then(() => log.push("left"));
    },
    DELETE: (_message, response) => {
      log.push(`end ${check()}`);
      response.end();
    },
  });
  return { ...server, log, known, behaviour };
}

test("a server without sessions is connected to once for all responses of an owner", async () => {
  const server = await startKeeping({ sessions: false });
  const from = keptTool();
  const input = mcpInput({ server_url: server.url });
  const [first, second] = await Promise.all([opened(input, { from }), opened(input, { from })]);
  await first.close();
  expect(ranCall(await called(second, "one")).output).toBe("done");
  await second.close();
  const third = await opened(input, { from });
  expect(ranCall(await called(third, "one")).output).toBe("done");
  await third.close();
  expect(server.log.toSorted()).toEqual(["call one", "call one", "list", "list", "open s1"]);
});

test("a session serves one response at a time, is kept for the next, and is ended at the end", async () => {
  const server = await startKeeping();
  const from = keptTool();
  const input = mcpInput({ server_url: server.url });
  const pair = await Promise.all([opened(input, { from }), opened(input, { from })]);
  await Promise.all(pair.map((open) => open.close()));
  const third = await opened(input, { from });
  expect(server.log.filter((line) => line.startsWith("open"))).toEqual(["open s1", "open s2"]);
  await third.close();
  await from.close?.();
  expect(server.log.filter((line) => line.startsWith("end")).toSorted()).toEqual(["end s1", "end s2"]);
});

test("an unused session is ended after a minute", async () => {
  const server = await startKeeping();
  const from = keptTool();
  const open = await opened(mcpInput({ server_url: server.url }), { from });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    await open.close();
    vi.advanceTimersByTime(59_000);
    expect(server.log).not.toContain("end s1");
    vi.advanceTimersByTime(1000);
  } finally {
    vi.useRealTimers();
  }
  await vi.waitFor(() => expect(server.log).toContain("end s1"));
});

test("no connection is shared between owners, URLs, tokens or headers", async () => {
  const server = await startKeeping({ sessions: false });
  const from = keptTool();
  const input = mcpInput({ server_url: server.url });
  const all = [
    await opened(input, { from }),
    await opened(input, { from, project: "other" }),
    await opened({ ...input, server_url: `${server.url}?a=1` }, { from }),
    await opened({ ...input, authorization: "one" }, { from }),
    await opened({ ...input, authorization: "two" }, { from }),
    await opened({ ...input, headers: { "x-key": "one" } }, { from }),
    await opened({ ...input, headers: { "x-key": "two" } }, { from }),
  ];
  expect(server.log.filter((line) => line.startsWith("open"))).toHaveLength(all.length);
  await Promise.all(all.map((open) => open.close()));
});

test.each([404, 400])(
  "a list that a server refuses with %i for a forgotten session is asked for again",
  async (status) => {
    const server = await startKeeping();
    server.behaviour.refusal = status;
    const from = keptTool();
    const input = mcpInput({ server_url: server.url });
    await (await opened(input, { from })).close();
    server.known.clear();
    const open = await opened(input, { from });
    expect(ranCall(await called(open, "one")).output).toBe("done");
    expect(server.log).toEqual(["open s1", "list", "open s2", "list", "call one"]);
    await open.close();
  },
);

test("calls whose session was forgotten are made once, over a new one", async () => {
  const server = await startKeeping();
  const from = keptTool();
  const input = mcpInput({ server_url: server.url });
  await (await opened(input, { from })).close();
  server.known.clear();
  const open = await opened(input, { from, context: [LIST] });
  expect(ranCall(await called(open, "one")).output).toBe("done");
  expect(server.log).toEqual(["open s1", "list", "open s2", "call one"]);
  await open.close();
});

test("a call that is refused with another status is not made again", async () => {
  const server = await startKeeping();
  server.behaviour.refusal = 400;
  const from = keptTool();
  const input = mcpInput({ server_url: server.url });
  const open = await opened(input, { from });
  server.known.clear();
  const { item } = ranCall(await called(open, "one"));
  expect(item).toMatchObject({ status: "failed", error: { type: "http_error", code: 400 } });
  expect(server.log).toEqual(["open s1", "list"]);
  await open.close();
});

test("the end of one response ends its requests and leaves those of another alone", async () => {
  const server = await startKeeping({ sessions: false });
  const from = keptTool();
  const input = mcpInput({ server_url: server.url });
  const [leaving, staying] = await Promise.all([opened(input, { from }), opened(input, { from })]);
  const stop = new AbortController();
  const waiting = called(leaving, "wait", {}, stop.signal);
  await vi.waitFor(() => expect(server.log).toContain("call wait"));
  stop.abort(new Error("cancelled"));
  await leaving.close();
  expect(ranCall(await waiting).item.status).toBe("incomplete");
  await vi.waitFor(() => expect(server.log).toContain("left"));
  expect(ranCall(await called(staying, "one")).output).toBe("done");
  expect(server.log.filter((line) => line.startsWith("open"))).toEqual(["open s1"]);
  await staying.close();
});

test("a server of the newer protocol is connected to once", async () => {
  const server = await startModern();
  const from = keptTool();
  const input = mcpInput({ server_url: server.url });
  const lengths: number[] = [];
  for (let count = 0; count < 3; count += 1) {
    const open = await opened(input, { from });
    expect(ranCall(await called(open, "look")).output).toBe("seen");
    await open.close();
    lengths.push(server.heard.length);
  }
  expect(lengths.map((length) => length - (lengths[0] ?? 0))).toEqual([0, 2, 4]);
});

test("a server that was started anew is connected to anew", async () => {
  const before = await startEverything("streamableHttp");
  const from = keptTool();
  const input = mcpInput({ server_url: before.url });
  await (await opened(input, { from })).close();
  await before.stop();
  await startEverything("streamableHttp", Number(new URL(before.url).port));
  const open = await opened(input, { from });
  expect(ranCall(await called(open, "echo", { message: "again" })).output).toContain("again");
  await open.close();
});

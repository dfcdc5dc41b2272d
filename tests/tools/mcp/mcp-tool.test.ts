import type { McpListTools } from "@antiphon/contracts/responses-api/types.ts";
import type { ApprovedCall, OpenTool } from "@antiphon/domain/hosted-tool.ts";
import { afterEach, describe, expect, test } from "vitest";
import type { McpInput } from "../../../src/tools/mcp/mcp-server.ts";
import { verifies } from "../../verifies.ts";
import { plainTool, startEverything, startModern, startScripted, toolList } from "./mcp-servers.ts";
import { called, finished, mcpInput, type OpenMore, opened, ranCall } from "./opened-tool.ts";

const APPROVED: ApprovedCall = {
  requestId: "mcpr_1",
  serverLabel: "shop",
  name: "pay",
  arguments: "{}",
  answer: { approve: true, reason: null },
  isAskedHere: true,
};
const open: OpenTool[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((tool) => tool.close()));
});

async function openedAt(url: string, more: Partial<McpInput> = {}, and: OpenMore = {}): Promise<OpenTool> {
  const tool = await opened(mcpInput({ server_url: url, ...more }), and);
  open.push(tool);
  return tool;
}

function listOf(tool: OpenTool): McpListTools {
  const [list] = tool.opening;
  if (list?.last.type !== "mcp_list_tools") throw new Error("there is no list");
  return list.last;
}

describe.each(["streamableHttp", "sse"] as const)("the official server over %s", (transport) => {
  test("is listed, and its tools run and fail as it says", async () => {
    const { url } = await startEverything(transport);
    const tool = await openedAt(url);
    const list = listOf(tool);
    expect(list).toMatchObject({ id: "mcpl_1", server_label: "shop" });
    expect(Object.keys(list)).not.toContain("error");
    expect(list.tools.map(({ name }) => name)).toContain("echo");
    expect(list.tools.map((one) => Object.keys(one).toSorted())).toEqual(
      list.tools.map(() => ["annotations", "description", "input_schema", "name"]),
    );
    const echo = tool.functions.find(({ name }) => name === "echo");
    expect(echo).toMatchObject({ type: "hosted_function", server: "shop", parameters: { type: "object" } });
    expect(echo?.parameters).not.toHaveProperty("$schema");

    const said = ranCall(await called(tool, "echo", { message: "hi" }));
    expect(said).toMatchObject({ output: "Echo: hi", item: { id: "mcp_9", status: "completed", error: null } });
    const picture = await called(tool, "get-tiny-image");
    expect(picture).toMatchObject({ parts: [{ type: "input_image" }] });
    expect(ranCall(picture).item.output).toMatch(/\[image\/png, \d+ (kB|bytes)\]/);
    const structured = ranCall(await called(tool, "get-structured-content", { location: "New York" }));
    expect(structured.output).toContain("temperature");
    const wrong = ranCall(await called(tool, "get-sum", { a: "x" }));
    expect(wrong.item).toMatchObject({ status: "failed", output: null, error: { type: "mcp_tool_execution_error" } });
    expect(wrong.output).not.toBe("");
  });
});

describe("a server of protocol 2026-07-28", () => {
  test("is listed and called without a session", async () => {
    const server = await startModern();
    const tool = await openedAt(server.url, { authorization: "secret", headers: { "x-team": "a" } });
    const { item } = ranCall(await called(tool, "pay", { amount: 3 }));
    expect(item).toMatchObject({ name: "pay", arguments: '{"amount":3}', output: "paid 3", server_label: "shop" });
    expect(server.ran).toEqual(["pay 3"]);
    expect(server.heard.length).toBeGreaterThan(0);
    for (const headers of server.heard)
      expect(headers).toMatchObject({ authorization: "Bearer secret", "x-team": "a" });
  });

  test("also speaks to clients of older protocols", async () => {
    const tool = await openedAt((await startModern({ legacy: true })).url);
    expect(ranCall(await called(tool, "look")).output).toBe("seen");
  });
});

describe("the effect of a call", () => {
  test.each([
    ["look", "none"],
    ["again", "idempotent"],
    ["pay", "may_have"],
  ])("of %s is %s", async (name, effect) => {
    const { url } = await startModern();
    const tool = await openedAt(url);
    const made = { callId: "call_1", newItemId: () => "mcp_1" };
    expect(tool.call(name, made).effect).toBe(effect);
    const reused = await openedAt(url, {}, { context: [listOf(tool)] });
    expect([reused.opening, reused.call(name, made).effect]).toEqual([[], effect]);
  });
});

describe("allowed_tools", () => {
  test.each<[McpInput["allowed_tools"], readonly string[]]>([
    [["pay", "unknown"], ["pay"]],
    [{ tool_names: ["pay", "look"] }, ["pay", "look"]],
    [{ read_only: true }, ["look"]],
    [{ read_only: false, tool_names: ["look"] }, []],
    [{}, ["pay", "look", "again", "wait", "refuse"]],
  ])("%j offers %j", async (allowed, names) => {
    const tool = await openedAt((await startModern()).url, { allowed_tools: allowed ?? null });
    expect(tool.functions.map(({ name }) => name)).toEqual(names);
    expect(listOf(tool).tools.map(({ name }) => name)).toEqual(names);
  });
});

describe("require_approval", () => {
  test.each<[McpInput["require_approval"], readonly string[]]>([
    ["always", ["pay", "look"]],
    [null, ["pay", "look"]],
    ["never", []],
    [{ never: { tool_names: ["look"] } }, ["pay"]],
    [{ never: { read_only: true } }, ["pay"]],
    [{ always: { tool_names: ["look"] } }, ["pay", "look"]],
    [{ always: { tool_names: ["look"] }, never: { tool_names: ["look", "pay"] } }, ["look"]],
    [{ never: {} }, ["pay", "look"]],
  ])("%j asks for %j", async (required, names) => {
    verifies("tools.mcp.approval-by-default");
    const server = await startModern();
    const tool = await openedAt(server.url, { require_approval: required ?? null });
    const asked: string[] = [];
    for (const name of ["pay", "look"]) if ((await called(tool, name, { amount: 1 })).type === "asks") asked.push(name);
    expect(asked).toEqual(names);
  });

  test("asks with the arguments as the model wrote them, and runs nothing", async () => {
    const server = await startModern();
    const tool = await openedAt(server.url, { require_approval: "always" });
    const item = {
      id: "mcpr_9",
      type: "mcp_approval_request",
      arguments: '{ "amount": 3 }',
      name: "pay",
      server_label: "shop",
    };
    expect(await called(tool, "pay", '{ "amount": 3 }')).toEqual({ type: "asks", first: item, item });
    expect(server.ran).toEqual([]);
  });

  test("runs an approved call with the arguments of its request", async () => {
    const server = await startModern();
    const approvals = [{ ...APPROVED, arguments: '{"amount":7}' }];
    const tool = await openedAt(server.url, { require_approval: "always" }, { approvals });
    const [pending] = tool.pending;
    expect(pending).toMatchObject({ name: "pay", arguments: '{"amount":7}', approvalRequestId: "mcpr_1" });
    if (pending === undefined) throw new Error("nothing is pending");
    const { item } = ranCall(await finished(pending.call.run(pending.arguments, new AbortController().signal)));
    expect(item).toMatchObject({ approval_request_id: "mcpr_1", status: "completed", output: "paid 7" });
    expect(server.ran).toEqual(["pay 7"]);
  });

  test("does not ask again for a call that was approved before a crash", async () => {
    const tool = await openedAt((await startModern()).url, { require_approval: "always" });
    const made = { callId: "mcpr_1", newItemId: () => "mcp_1", approvalRequestId: "mcpr_1" };
    expect(tool.call("look", made)).toMatchObject({
      effect: "none",
      item: { id: "mcp_1", type: "mcp_call", approval_request_id: "mcpr_1" },
    });
  });

  test("does not run an approved call of a tool that is not offered", async () => {
    const server = await startModern();
    const approvals = [APPROVED];
    await expect(openedAt(server.url, { allowed_tools: ["look"] }, { approvals })).rejects.toMatchObject({
      status: 400,
    });
  });
});

describe("a list in the context", () => {
  test("is used instead of a new one, and nothing is asked before a call", async () => {
    const server = await startModern();
    const first = await openedAt(server.url);
    const heard = server.heard.length;
    const again = await openedAt(server.url, {}, { context: [listOf(first)] });
    expect(again.opening).toEqual([]);
    expect(again.functions).toEqual(first.functions);
    expect(server.heard.length).toBe(heard);
    expect(ranCall(await called(again, "look")).output).toBe("seen");
  });

  test("of another label, or one that failed, is not used", async () => {
    const server = await startModern();
    const context: McpListTools[] = [
      { id: "mcpl_1", type: "mcp_list_tools", server_label: "other", tools: [] },
      { id: "mcpl_2", type: "mcp_list_tools", server_label: "shop", tools: [], error: "broken" },
    ];
    expect((await openedAt(server.url, {}, { context })).opening).toHaveLength(1);
  });
});

describe("a list of several pages", () => {
  test("is read to its end", async () => {
    const pages: Record<string, object> = { '""': toolList([plainTool("a")], "2"), '"2"': toolList([plainTool("b")]) };
    const server = await startScripted({
      "tools/list": ({ params }) => pages[JSON.stringify(params?.["cursor"] ?? "")],
    });
    expect((await openedAt(server.url)).functions.map(({ name }) => name)).toEqual(["a", "b"]);
  });
});

describe("results", () => {
  const content = (result: object) => startScripted({ "tools/call": () => ({ result }) });

  test("are cut with a sentence", async () => {
    const server = await content({ content: [{ type: "text", text: "x".repeat(5000) }] });
    const { output } = ranCall(await called(await openedAt(server.url), "one"));
    expect(output).toMatch(/^x{2000}\n\[The result was cut here; 3000 more characters were left out\.\]$/);
  });

  test("name what is no text", async () => {
    verifies("tools.mcp.pictures-are-named");
    const server = await content({
      content: [
        { type: "text", text: "a" },
        { type: "resource_link", name: "doc", uri: "file:///doc" },
        { type: "resource", resource: { uri: "x:y", text: "inline" } },
        { type: "resource", resource: { uri: "x:z", blob: "AAAA", mimeType: "application/zip" } },
        { type: "audio", data: "AAAA", mimeType: "audio/wav" },
        { type: "image", data: "AAAA", mimeType: "image/svg+xml" },
      ],
    });
    const outcome = await called(await openedAt(server.url), "one");
    expect(outcome).toMatchObject({ parts: [] });
    expect(ranCall(outcome).output).toBe(
      "a\ndoc (file:///doc)\ninline\n[application/zip, 3 bytes]\n[audio/wav, 3 bytes]\n[image/svg+xml, 3 bytes]",
    );
  });

  test("of very many parts are cut with a sentence", async () => {
    verifies("tools.mcp.many-parts-are-cut");
    const links = Array.from({ length: 1200 }, (_, index) => ({ type: "resource_link", name: "d", uri: `a:${index}` }));
    const server = await content({ content: links });
    const options = { outputCharactersMax: 100_000 };
    const { output } = ranCall(await called(await openedAt(server.url, {}, { options }), "one"));
    expect(output.split("\n").slice(998)).toEqual([
      "d (a:998)",
      "d (a:999)",
      "[200 more parts of the result were left out.]",
    ]);
  });

  test("show structured content if there is no text", async () => {
    const server = await content({ content: [], structuredContent: { a: 1 } });
    expect(ranCall(await called(await openedAt(server.url), "one")).output).toBe('{"a":1}');
  });
});

test("wrong arguments are told to the model, and empty ones mean none", async () => {
  const tool = await openedAt((await startModern()).url);
  const wrong = ranCall(await called(tool, "pay", "[1"));
  expect(wrong.item).toMatchObject({
    status: "failed",
    arguments: "[1",
    error: { type: "mcp_protocol_error", code: -32_602 },
  });
  expect(wrong.output).toContain("not a JSON object");
  expect(ranCall(await called(tool, "look", "")).output).toBe("seen");
});

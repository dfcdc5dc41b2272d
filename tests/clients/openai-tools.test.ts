import OpenAI from "openai";
import type { ResponseInput, Tool } from "openai/resources/responses/responses";
import { afterAll, describe, expect, test } from "vitest";
import { startTestServer } from "../kit/test-server.ts";
import { checkStreamLaws } from "../responses/check-stream-laws.ts";
import { readStream } from "../responses/read-stream.ts";
import { startModern } from "../tools/mcp/mcp-servers.ts";
import { installedVersion } from "./installed-version.ts";
import { collect } from "./openai-client.ts";
import { PIXEL, startToolServers, toolScenarios } from "./tool-servers.ts";

const others = await startToolServers();
const server = await startTestServer({ env: others.env, scenario: toolScenarios(others) });
afterAll(() => server.close());
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 });

const model = "gpt-5-mini";
const INVOICE: Tool = {
  type: "function",
  name: "create_invoice",
  description: "Writes a bill.",
  defer_loading: true,
  strict: false,
  parameters: { type: "object", properties: {} },
};

describe(`openai ${installedVersion("openai")}`, () => {
  test.each<[string, readonly Tool[], readonly string[]]>([
    ["herons in depth", [{ type: "web_search" }], ["web_search_call", "web_search_call", "message"]],
    ["herons", [{ type: "web_search_preview" }], ["web_search_call", "message"]],
    ["a boat", [{ type: "image_generation" }], ["image_generation_call", "message"]],
    ["list files", [{ type: "shell", environment: { type: "local" } }], ["shell_call"]],
    ["list files locally", [{ type: "local_shell" }], ["local_shell_call"]],
    ["press the button", [{ type: "computer" }], ["computer_call"]],
    ["invoice", [{ type: "tool_search" }, INVOICE], ["tool_search_call", "tool_search_output", "function_call"]],
  ])("responses.stream() accumulates what comes of %s with %j", async (input, tools, types) => {
    const stream = client.responses.stream({ model, input, tools: [...tools] });
    await collect(stream);
    const final = await stream.finalResponse();
    expect(final.output.map(({ type }) => type)).toEqual(types);
    const stored = await client.responses.retrieve(final.id);
    expect(final.output.map(({ id }) => id)).toEqual(stored.output.map(({ id }) => id));
    const plain = await client.responses.create({ model, input, tools: [...tools] });
    expect(plain.output.map(({ type }) => type)).toEqual(types);
  });

  test("responses.stream() shows the steps of a search, its sources and its citation", async () => {
    const stream = client.responses.stream({
      model,
      input: "herons in depth",
      tools: [{ type: "web_search" }],
      include: ["web_search_call.action.sources"],
    });
    const seen = new Set((await collect(stream)).map(({ type }) => type));
    for (const step of ["in_progress", "searching", "completed"])
      expect(seen).toContain(`response.web_search_call.${step}`);
    const final = await stream.finalResponse();
    const sources = [{ type: "url", url: others.page, title: "All of herons" }];
    expect(final.output[0]).toMatchObject({ action: { type: "search", sources } });
    expect(final.output[1]).toMatchObject({ action: { type: "open_page", url: others.page } });
    expect(final.output[2]).toMatchObject({ content: [{ annotations: [{ type: "url_citation", url: others.page }] }] });
    expect(others.searched).toContain("herons water");
  });

  test("responses.stream() shows a picture", async () => {
    const stream = client.responses.stream({ model, input: "a boat", tools: [{ type: "image_generation" }] });
    expect((await stream.finalResponse()).output[0]).toMatchObject({ status: "completed", result: PIXEL });
  });

  // The helper of this version throws at the deltas of a patch, which the reference sends too.
  test("a plain stream shows a patch while it is written", async () => {
    const tools: Tool[] = [{ type: "apply_patch" }];
    const events = await collect(await client.responses.create({ model, input: "patch", tools, stream: true }));
    const types = events.map((event): string => event.type);
    expect(types).toContain("response.apply_patch_call_operation_diff.delta");
    const last = events.at(-1);
    if (last?.type !== "response.completed") throw new Error("the stream did not complete");
    expect(last.response.output).toMatchObject([
      { type: "apply_patch_call", operation: { type: "create_file", path: "a.txt", diff: "+hello" } },
    ]);
  });

  // readStream holds each stream to the grammar and has responses.stream() read it.
  test.each<[string, readonly object[]]>([
    ["herons in depth", [{ type: "web_search" }]],
    ["herons", [{ type: "web_search_preview" }]],
    ["a boat", [{ type: "image_generation" }]],
    ["pay", [{ type: "mcp", server_label: "shop", require_approval: "never" }]],
    ["pay", [{ type: "mcp", server_label: "shop", require_approval: "always" }]],
    ["list files", [{ type: "shell", environment: { type: "local" } }]],
    ["list files locally", [{ type: "local_shell" }]],
    ["patch", [{ type: "apply_patch" }]],
    ["press the button", [{ type: "computer" }]],
    ["invoice", [{ type: "tool_search" }, INVOICE]],
  ])("the stream that comes of %s with %j keeps the laws of streams", async (input, tools) => {
    const shop = await startModern({ legacy: true });
    const reachable = tools.map((tool) => ("server_label" in tool ? { ...tool, server_url: shop.url } : tool));
    const body = { model, input, tools: reachable, stream: true };
    checkStreamLaws(await readStream(await server.post("/v1/responses", body)));
  });

  test.each([true, false])("an MCP call waits for its approval: %s", async (approve) => {
    const shop = await startModern({ legacy: true });
    const mcp: Tool = { type: "mcp", server_label: "shop", server_url: shop.url, require_approval: "always" };
    const asked = await client.responses.stream({ model, input: "pay", tools: [mcp] }).finalResponse();
    expect(asked.output.map(({ type }) => type)).toEqual(["mcp_list_tools", "mcp_approval_request"]);
    expect(shop.ran).toEqual([]);
    const answer: ResponseInput = [
      { type: "mcp_approval_response", approval_request_id: asked.output[1]?.id ?? "", approve },
    ];
    const done = await client.responses
      .stream({ model, input: answer, previous_response_id: asked.id, tools: [mcp] })
      .finalResponse();
    expect(done.output.map(({ type }) => type)).toEqual(approve ? ["mcp_call", "message"] : ["message"]);
    expect(shop.ran).toEqual(approve ? ["pay 3"] : []);
  });
});

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "@antiphon/base/logger.ts";
import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { serveHttp } from "../../kit/http-server.ts";
import { startTestServer, type TestServer } from "../../kit/test-server.ts";
import { checkStreamLaws } from "../../responses/check-stream-laws.ts";
import { readResponse, readStream } from "../../responses/read-stream.ts";
import { verifies } from "../../verifies.ts";
import { startEverything, startModern, type TestMcpServer } from "./mcp-servers.ts";

const SECRET = "very-secret-token-4711";

/** The model pays 3, and then says what it was shown. */
const SCENARIO = `
scenarios:
  - when: { input_contains: pay, has_tool_output: false }
    events:
      - call: { name: pay, namespace: shop, arguments: { amount: 3 }, chunks: 2 }
  - when: { input_contains: pay, has_tool_output: true }
    events:
      - text: Paid.
  - when: { input_contains: echo, has_tool_output: false }
    events:
      - call: { name: echo, namespace: shop, arguments: { message: hi } }
  - when: { input_contains: echo, has_tool_output: true }
    events:
      - text: Echoed.
`;

interface Shop {
  readonly mcp: TestMcpServer;
  readonly server: TestServer;
  readonly client: OpenAI;
  readonly tool: object;
  readonly logged: string[];
  readonly create: (members: object) => Promise<Response>;
}

async function openShop(tool: object = {}, env: Readonly<Record<string, string>> = {}): Promise<Shop> {
  const mcp = await startModern();
  const logged: string[] = [];
  const note = (fields: object, message: string): number => logged.push(JSON.stringify([fields, message]));
  const log: Logger = { debug: note, info: note, warn: note, error: note };
  const server = await startTestServer({ scenario: SCENARIO, log, env: { EGRESS_ALLOW: "127.0.0.1", ...env } });
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 });
  const whole = { type: "mcp", server_label: "shop", server_url: mcp.url, ...tool };
  const create: Shop["create"] = (members) =>
    server.post("/v1/responses", { model: "antiphon-built-in", input: "pay", tools: [whole], ...members });
  return { mcp, server, client, tool: whole, logged, create };
}

function typesOf({ output }: Pick<ResponseBody, "output">): readonly string[] {
  return output.map(({ type }) => type);
}

const LISTED = ["output_item.added", "mcp_list_tools.in_progress", "mcp_list_tools.completed", "output_item.done"];
const SAID = [
  "output_item.added",
  "content_part.added",
  "output_text.delta",
  "output_text.delta",
  "output_text.done",
  "content_part.done",
  "output_item.done",
  "completed",
];

describe("a call that needs no approval", () => {
  test("is listed, made and answered in one stream, with the events of the reference", async () => {
    verifies("tools.mcp.remote-calls-are-made", "responses.stream.mcp-list-order", "responses.stream.mcp-call-order");
    const { create, mcp } = await openShop({ require_approval: "never", authorization: SECRET });
    const stream = await readStream(await create({ stream: true }));
    checkStreamLaws(stream);
    expect(stream.events.map(({ type }) => type.replace("response.", ""))).toEqual([
      "created",
      "in_progress",
      ...LISTED,
      "output_item.added",
      "mcp_call.in_progress",
      "mcp_call_arguments.delta",
      "mcp_call_arguments.delta",
      "mcp_call_arguments.done",
      "mcp_call.completed",
      "output_item.done",
      ...SAID,
    ]);
    expect(mcp.ran).toEqual(["pay 3"]);
    const call = stream.final.output[1];
    expect(Object.keys(call ?? {}).toSorted()).toEqual(
      [
        "id",
        "type",
        "status",
        "approval_request_id",
        "arguments",
        "error",
        "name",
        "output",
        "server_label",
      ].toSorted(),
    );
    expect(call).toMatchObject({ type: "mcp_call", output: "paid 3", approval_request_id: null, server_label: "shop" });
    expect(stream.final.tools).toMatchObject([{ type: "mcp", authorization: "<redacted>", require_approval: "never" }]);
    expect(stream.text).not.toContain(SECRET);
  });

  test("is read by the official SDK, over the official server", async () => {
    const { client } = await openShop();
    const { url } = await startEverything("streamableHttp");
    const stream = client.responses.stream({
      model: "antiphon-built-in",
      input: "echo",
      tools: [
        { type: "mcp", server_label: "shop", server_url: url, require_approval: "never", allowed_tools: ["echo"] },
      ],
    });
    const response = await stream.finalResponse();
    expect(response.output.map(({ type }) => type)).toEqual(["mcp_list_tools", "mcp_call", "message"]);
    expect(response.output_text).toBe("Echoed.");
  });

  test("uses the list of an earlier response, and its own when the chain begins anew", async () => {
    verifies("tools.mcp.listing-is-reused");
    const { create, mcp } = await openShop({ require_approval: "never" });
    const first = await readResponse(await create({}));
    const heard = mcp.heard.length;
    const second = await readResponse(await create({ previous_response_id: first.id }));
    expect(typesOf(second)).toEqual(["mcp_call", "message"]);
    expect(mcp.heard.length - heard).toBeLessThan(heard);
    expect(typesOf(await readResponse(await create({})))).toEqual(["mcp_list_tools", "mcp_call", "message"]);
    const input = [{ role: "user", content: "pay" }, ...first.output, { role: "user", content: "pay" }];
    expect(typesOf(await readResponse(await create({ input, store: false })))).toEqual(["mcp_call", "message"]);
  });
});

describe("a call that needs approval", () => {
  async function asked(shop: Shop, members: object = {}) {
    const response = await readResponse(await shop.create(members));
    expect([response.status, typesOf(response)]).toEqual(["completed", ["mcp_list_tools", "mcp_approval_request"]]);
    const request = response.output[1];
    if (request?.type !== "mcp_approval_request") throw new Error("nothing was asked");
    expect(request).toEqual({
      id: expect.stringMatching(/^mcpr_/),
      type: "mcp_approval_request",
      arguments: expect.stringContaining("3"),
      name: "pay",
      server_label: "shop",
    });
    expect(shop.mcp.ran).toEqual([]);
    return { response, request };
  }

  const answer = (id: string, approve: boolean) => [
    { type: "mcp_approval_response", approval_request_id: id, approve, ...(approve ? {} : { reason: "too dear" }) },
  ];

  test("runs when it is approved, and only once", async () => {
    verifies("tools.mcp.approval-ends-the-turn", "tools.mcp.approved-call-runs", "tools.mcp.approval-is-spent-once");
    const shop = await openShop();
    const { response, request } = await asked(shop);
    const approval = { previous_response_id: response.id, input: answer(request.id, true) };
    const stream = await readStream(await shop.create({ ...approval, stream: true }));
    checkStreamLaws(stream);
    expect(stream.events.map(({ type }) => type.replace("response.", ""))).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "mcp_call.in_progress",
      "mcp_call_arguments.delta",
      "mcp_call.in_progress",
      "mcp_call_arguments.done",
      "mcp_call.completed",
      "output_item.done",
      ...SAID,
    ]);
    expect(stream.final.output[0]).toMatchObject({
      type: "mcp_call",
      approval_request_id: request.id,
      output: "paid 3",
    });
    expect(shop.mcp.ran).toEqual(["pay 3"]);
    const again = await shop.create(approval);
    expect([again.status, await again.json()]).toMatchObject([
      400,
      {
        error: {
          type: "invalid_request_error",
          code: "approval_spent",
          param: "input",
          message: `Approval request '${request.id}' was used already.`,
        },
      },
    ]);
    expect(shop.mcp.ran).toEqual(["pay 3"]);
  });

  test("does not run when it is refused, and the model is told", async () => {
    verifies("tools.mcp.refused-call-does-not-run");
    const shop = await openShop();
    const { response, request } = await asked(shop);
    const input = answer(request.id, false);
    const refused = await readResponse(await shop.create({ previous_response_id: response.id, input }));
    expect(typesOf(refused)).not.toContain("mcp_call");
    expect(shop.mcp.ran).toEqual([]);
  });

  test("works in a conversation and by value", async () => {
    const shop = await openShop();
    const conversation = (await shop.client.conversations.create()).id;
    const { request } = await asked(shop, { conversation });
    const kept = await readResponse(await shop.create({ conversation, input: answer(request.id, true) }));
    expect(kept.output[0]).toMatchObject({ type: "mcp_call", approval_request_id: request.id, output: "paid 3" });
    const sent = await readResponse(await shop.create({ store: false }));
    const [, own] = sent.output;
    const input = [{ role: "user", content: "pay" }, ...sent.output, ...answer(String(own?.id), true)];
    expect((await readResponse(await shop.create({ input, store: false }))).output[0]).toMatchObject({
      type: "mcp_call",
      approval_request_id: own?.id,
      output: "paid 3",
    });
    expect(shop.mcp.ran).toEqual(["pay 3", "pay 3"]);
  });

  test("is refused by name when the approval does not fit", async () => {
    const shop = await openShop();
    const { response, request } = await asked(shop);
    const previous = { previous_response_id: response.id };
    const cases: readonly (readonly [object, string])[] = [
      [{ ...previous, input: answer("mcpr_unknown", true) }, "mcpr_unknown"],
      [{ ...previous, input: answer(request.id, true), tools: [] }, "not among the tools"],
      [{ ...previous, input: [...answer(request.id, true), ...answer(request.id, true)] }, "twice"],
      [{ ...previous, input: "pay" }, "No approval response found"],
    ];
    for (const [members, said] of cases) {
      const reply = await shop.create(members);
      expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining(said)]);
    }
    expect(shop.mcp.ran).toEqual([]);
  });
});

test("secrets are in no log, no answer and no file", async () => {
  verifies("tools.mcp.secrets-are-redacted");
  const shop = await openShop({
    require_approval: "never",
    authorization: SECRET,
    headers: { "x-key": `${SECRET}-2` },
  });
  const shown = await readResponse(await shop.create({ background: true }));
  let text = JSON.stringify(shown);
  for (let tries = 0; tries < 100 && !text.includes('"completed_at":1'); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    text = await (await shop.server.fetch(`/v1/responses/${shown.id}`)).text();
  }
  expect(shop.mcp.ran).toEqual(["pay 3"]);
  expect(shop.mcp.heard.at(-1)).toMatchObject({ authorization: `Bearer ${SECRET}`, "x-key": `${SECRET}-2` });
  expect(text).not.toContain(SECRET);
  expect(shop.logged.join("\n")).not.toContain(SECRET);
  for (const entry of await readdir(shop.server.dataDir, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile() && file.includes("antiphon.db"))
      expect((await readFile(file)).includes(SECRET), file).toBe(false);
  }
});

test("a list that cannot be had refuses the response as the reference does", async () => {
  verifies("tools.mcp.failed-list-refuses");
  const { url } = await serveHttp((_request, response) => {
    response.writeHead(401).end();
  });
  const { create } = await openShop();
  const reply = await create({ tools: [{ type: "mcp", server_label: "down", server_url: `${url}/mcp` }] });
  expect(reply.status).toBe(424);
  expect(await reply.json()).toEqual({
    error: {
      message: "Error retrieving tool list from MCP server: 'down'. Http status code: 401 (Unauthorized)",
      type: "external_connector_error",
      param: "tools",
      code: "http_error",
    },
  });
});

test("a list that cannot be had fails a response in the background, and is shown there", async () => {
  verifies("tools.mcp.failed-list-refuses");
  const { url } = await serveHttp((_request, response) => {
    response.writeHead(503).end();
  });
  const { create } = await openShop();
  const tools = [{ type: "mcp", server_label: "down", server_url: `${url}/mcp` }];
  const stream = await readStream(await create({ tools, background: true, stream: true }));
  expect(stream.events.map(({ type }) => type.replace("response.", ""))).toEqual([
    "created",
    "queued",
    "in_progress",
    "output_item.added",
    "mcp_list_tools.in_progress",
    "mcp_list_tools.failed",
    "output_item.done",
    "error",
    "failed",
  ]);
  expect(stream.final.output).toMatchObject([{ type: "mcp_list_tools", error: expect.stringContaining("503") }]);
});

test.each([
  [{ server_label: "a b" }, "server_label"],
  [{ server_url: "ftp://a.test" }, "server_url"],
  [{ server_url: "https://u:p@a.test" }, "server_url"],
  [{ server_url: null }, "server_url"],
  [{ server_url: null, connector_id: "connector_gmail" }, "Connectors are not part"],
  [{ server_url: null, tunnel_id: `tunnel_${"a".repeat(32)}` }, "Tunnels are not part"],
  [{ headers: { Host: "x" } }, "Host"],
  [{ headers: { "mcp-session-id": "x" } }, "mcp-session-id"],
  [{ headers: { "x-a": "a\r\nb" } }, "x-a"],
  [{ authorization: "a b" }, "authorization"],
])("%j is refused", async (members, said) => {
  const { create, tool, mcp } = await openShop();
  const reply = await create({ tools: [{ ...tool, ...members }] });
  expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining(said)]);
  expect(mcp.heard).toEqual([]);
});

test("two servers of one label are refused, and two of different labels are told apart", async () => {
  const { create, tool } = await openShop({ require_approval: "never" });
  const twice = await create({ tools: [tool, tool] });
  expect([twice.status, await twice.text()]).toEqual([400, expect.stringContaining("tools[1].server_label")]);
  const other = { ...tool, server_label: "other" };
  const response = await readResponse(await create({ tools: [other, tool] }));
  expect(response.output).toMatchObject([
    { type: "mcp_list_tools", server_label: "other" },
    { type: "mcp_list_tools", server_label: "shop" },
    { type: "mcp_call", server_label: "shop" },
    { type: "message" },
  ]);
});

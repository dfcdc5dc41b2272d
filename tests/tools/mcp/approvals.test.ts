import { setTimeout as sleep } from "node:timers/promises";
import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import { payingWorld } from "../../crash/paying-world.ts";
import { sendJson } from "../../kit/http-answers.ts";
import { temporaryFolder } from "../../kit/temporary-folder.ts";
import { startTestServer, type TestServer } from "../../kit/test-server.ts";
import { checkStreamLaws } from "../../responses/check-stream-laws.ts";
import { eventsOf, readResponse, readStream } from "../../responses/read-stream.ts";
import { verifies } from "../../verifies.ts";
import { isRefusal, openSocket } from "../../websocket/socket.ts";
import { plainTool, startScripted, toolList } from "./mcp-servers.ts";

type Members = Readonly<Record<string, unknown>>;
/** How a response came out: its final snapshot with the codes of its error events, or the error that refused it. */
type Made =
  | { readonly response: ResponseBody; readonly codes: readonly unknown[] }
  | { readonly status: number; readonly error: unknown };

/** Each way of making a response. */
const WAYS: Readonly<Record<string, (server: TestServer, members: Members) => Promise<Made>>> = {
  plain: async (server, members) => {
    const reply = await server.post("/v1/responses", members);
    return reply.ok ? { response: await readResponse(reply), codes: [] } : await refusalOf(reply);
  },
  streamed: async (server, members) => {
    const reply = await server.post("/v1/responses", { ...members, stream: true });
    if (!reply.ok) return await refusalOf(reply);
    const stream = await readStream(reply);
    checkStreamLaws(stream);
    return { response: stream.final, codes: eventsOf(stream, "error").map(({ error }) => error.code) };
  },
  "in the background": async (server, members) => {
    const reply = await server.post("/v1/responses", { ...members, background: true });
    if (!reply.ok) return await refusalOf(reply);
    const { id } = await readResponse(reply);
    return { response: await untilOver(server, id), codes: [] };
  },
  "over a WebSocket": async (server, members) => {
    const { frames } = await (await openSocket(server)).create(members);
    const errors = frames.flatMap((frame) => (frame.type === "error" ? [frame] : []));
    const [refusal] = errors.filter(isRefusal);
    if (refusal !== undefined) return { status: refusal.status, error: refusal.error };
    const last = frames.at(-1);
    if (last === undefined || !("response" in last)) throw new Error("the turn has no end");
    return { response: last.response, codes: errors.map(({ error }) => error.code) };
  },
};

async function untilOver(server: TestServer, id: string): Promise<ResponseBody> {
  for (;;) {
    const response = await readResponse(await server.fetch(`/v1/responses/${id}`));
    if (response.status !== "queued" && response.status !== "in_progress") return response;
    await sleep(20);
  }
}

async function refusalOf(reply: Response): Promise<Made> {
  const { error }: { error: unknown } = JSON.parse(await reply.text());
  return { status: reply.status, error };
}

function requestIn({ output }: ResponseBody): string {
  const request = output.find(({ type }) => type === "mcp_approval_request");
  if (request?.id == null) throw new Error(`nothing was asked: ${JSON.stringify(output)}`);
  return request.id;
}

function spent(requestId: string) {
  const message = `Approval request '${requestId}' was used already.`;
  return { status: 400, error: { type: "invalid_request_error", code: "approval_spent", param: "input", message } };
}

function approving(requestId: string) {
  return { type: "mcp_approval_response", approval_request_id: requestId, approve: true };
}

/** A server whose model has asked for an approval of a payment. */
async function askedToPay() {
  const world = await payingWorld();
  const server = await startTestServer({ env: { MODEL_BASE_URL: world.modelUrl, EGRESS_ALLOW: "127.0.0.1" } });
  const tool = {
    type: "mcp",
    server_label: "bank",
    server_url: world.mcpUrl,
    require_approval: { never: { tool_names: ["look"] } },
  };
  const asked = { model: "m", input: "number 5", tools: [tool] };
  const asking = await readResponse(await server.post("/v1/responses", asked));
  const requestId = requestIn(asking);
  const approved = { ...asked, input: [approving(requestId)], previous_response_id: asking.id };
  const payments = () => world.done.filter((one) => one === "pay 5").length;
  return { world, server, tool, requestId, approved, payments };
}

test.each(Object.keys(WAYS))(
  "while a response made %s uses an approval, and after that, another use is refused by its name",
  async (first) => {
    verifies("tools.mcp.approval-is-spent-once");
    const { world, server, requestId, approved, payments } = await askedToPay();
    const gate = Promise.withResolvers<void>();
    world.aim({ place: "effect to finish", tool: "pay", kill: () => gate.promise });
    const paying = WAYS[first]?.(server, approved);
    await expect.poll(payments).toBe(1);
    for (const [way, make] of Object.entries(WAYS))
      expect(await make(server, approved), way).toMatchObject(spent(requestId));
    gate.resolve();
    expect(await paying).toMatchObject({ response: { status: "completed" } });
    for (const [way, make] of Object.entries(WAYS))
      expect(await make(server, approved), way).toMatchObject(spent(requestId));
    expect(payments()).toBe(1);
  },
);

test("an approval can be used after a response that could not begin", async () => {
  verifies("tools.mcp.approval-is-spent-once");
  const { server, tool, approved, payments } = await askedToPay();
  const withoutPay = { ...approved, tools: [{ ...tool, allowed_tools: ["look"] }] };
  const refused = await server.post("/v1/responses", withoutPay);
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("does not offer now")]);
  expect((await readResponse(await server.post("/v1/responses", approved))).status).toBe("completed");
  expect(payments()).toBe(1);
});

const SHOP = `
scenarios:
  - when: { has_tool_output: false }
    events:
      - call: { name: pay, namespace: shop, arguments: { amount: 3 } }
  - when: { has_tool_output: true }
    events:
      - text: Paid.
`;

/** Servers of one database, and a shop that answers to the second and further lists of its tools when it is told to. */
async function openShop() {
  const folder = temporaryFolder();
  const env = { DATA_DIR: folder, API_KEYS: "sk-ours-0123456789", EGRESS_ALLOW: "127.0.0.1" };
  const start = async (): Promise<TestServer> => {
    const server = await startTestServer({ scenario: SHOP, env });
    return server;
  };
  const gate = Promise.withResolvers<void>();
  const counts = { lists: 0, payments: 0 };
  const list = toolList([plainTool("pay")]);
  const shop = await startScripted({
    "tools/list": ({ id }, response) => {
      counts.lists += 1;
      if (counts.lists === 1) return list;
      return void gate.promise.then(() => sendJson(response, { jsonrpc: "2.0", id, ...list }));
    },
    "tools/call": () => {
      counts.payments += 1;
      return { result: { content: [{ type: "text", text: "paid" }] } };
    },
  });
  const tools = [{ type: "mcp", server_label: "shop", server_url: shop.url }];
  const asked = { model: "antiphon-built-in", tools };
  const first = await start();
  const asking = await readResponse(await first.post("/v1/responses", { ...asked, input: "Pay" }));
  const requestId = requestIn(asking);
  const request = asking.output.find(({ type }) => type === "mcp_approval_request");
  return {
    start,
    first,
    counts,
    release: gate.resolve,
    requestId,
    approved: { ...asked, input: [approving(requestId)], previous_response_id: asking.id },
    // Without the list of tools in its input, a response asks for that between the check of the approval and the call.
    slowlyApproved: { ...asked, input: [{ role: "user", content: "Pay" }, request, approving(requestId)] },
  };
}

test.each(Object.keys(WAYS))(
  "a response made %s whose approval another server used first fails by the approval's name",
  async (way) => {
    verifies("tools.mcp.approval-race-fails");
    const { start, first, counts, release, requestId, approved, slowlyApproved } = await openShop();
    const losing = WAYS[way]?.(await start(), slowlyApproved);
    await expect.poll(() => counts.lists).toBe(2);
    expect((await readResponse(await first.post("/v1/responses", approved))).status).toBe("completed");
    release();
    const message = `Approval request '${requestId}' was used already.`;
    expect(await losing).toMatchObject({
      response: { status: "failed", error: { code: "invalid_prompt", message } },
      codes: way === "streamed" || way === "over a WebSocket" ? ["approval_spent"] : [],
    });
    expect(counts.payments).toBe(1);
  },
);

test("a response that goes on after a restart still holds the approval that it has not used", async () => {
  verifies("tools.mcp.approval-is-spent-once");
  const { start, first, counts, release, requestId, approved, slowlyApproved } = await openShop();
  const begun = await readResponse(await first.post("/v1/responses", { ...slowlyApproved, background: true }));
  await expect.poll(() => counts.lists).toBe(2);
  await first.close();
  const next = await start();
  await expect.poll(() => counts.lists).toBe(3);
  expect(await WAYS["plain"]?.(next, approved)).toMatchObject(spent(requestId));
  release();
  expect((await untilOver(next, begun.id)).status).toBe("completed");
  expect(counts.payments).toBe(1);
});

import type { ResponseEffect } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import { z } from "zod";
import { serveChat, sse } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { serveBank } from "../crash/bank.ts";
import { until } from "../crash/lives.ts";
import { nextTurn } from "../crash/paying-world.ts";
import type { ChildServer } from "../kit/child-server.ts";
import { readResponse } from "../responses/read-stream.ts";
import { databaseOfTest } from "../services/services-of-run.ts";
import { verifies } from "../verifies.ts";
import { startNode, TEST_TIMEOUT_MS, whyNoNodes } from "./nodes.ts";

const List = z.object({ data: z.array(z.custom<ResponseEffect>()) });

/** A bank whose first payment arrives late: when the test says so. It pays once for each key. */
async function serveLateBank(isIdempotent: boolean) {
  const arrived = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  const paid: unknown[] = [];
  let heard = 0;
  const url = await serveBank(
    async (tool, number, keys) => {
      const content = [{ type: "text" as const, text: `${tool} ${number}: done` }];
      if (tool === "look") return { content };
      heard += 1;
      arrived.resolve();
      if (heard === 1) await late.promise;
      if (!paid.includes(keys.meta)) paid.push(keys.meta);
      return { content };
    },
    { isIdempotent },
  );
  return { url, paid, heard: () => heard, arrived: arrived.promise, arrive: late.resolve };
}

async function startTwo(): Promise<readonly [ChildServer, ChildServer]> {
  const model = await serveChat((response, call) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(sse(...nextTurn(call), "[DONE]"));
  });
  const env = { DATABASE_URL: await databaseOfTest(), EGRESS_ALLOW: "127.0.0.1" };
  const left = await startNode(`${model.origin}/v1`, { ...env, NODE_NAME: "left" });
  return [left, await startNode(`${model.origin}/v1`, { ...env, NODE_NAME: "right" })];
}

/** Pays by a node that is paused while its call is on the way, so that the other one goes on with the response. */
async function payOverPause(isIdempotent: boolean) {
  const bank = await serveLateBank(isIdempotent);
  const [left, right] = await startTwo();
  const tools = [{ type: "mcp", server_label: "bank", server_url: bank.url, require_approval: "never" }];
  const body = { model: "m", input: "number 4", background: true, tools };
  const { id } = await readResponse(await left.post("/v1/responses", body));
  await bank.arrived;
  left.pause();
  const response = await until(right, id, "completed", "failed");
  bank.arrive();
  left.resume();
  await expect.poll(() => bank.paid.length).toBeGreaterThan(0);
  await expect.poll(async () => (await left.fetch("/readyz")).status, { timeout: 30_000 }).toBe(200);
  const { data } = List.parse(await (await left.fetch(`/v1/responses/${id}/effects`)).json());
  return { bank, response, pay: data.find(({ name }) => name === "pay") };
}

test.skipIf(whyNoNodes() !== undefined)(
  "an idempotent call of a node that wakes after its lease acts once, and its response has the result",
  async () => {
    verifies("state.crash.idempotent-calls-go-on", "inspection.effects.list");
    const { bank, response, pay } = await payOverPause(true);
    expect(response.status).toBe("completed");
    expect(response.output.findLast(({ type }) => type === "mcp_call")).toMatchObject({ status: "completed" });
    expect(bank.heard()).toBe(2);
    expect(bank.paid).toEqual([pay?.key]);
    expect(pay).toMatchObject({ state: "done" });
    expect(pay?.attempts.map(({ node, state }) => [node, state])).toEqual([
      ["left", "unknown"],
      ["right", "done"],
    ]);
  },
  TEST_TIMEOUT_MS,
);

test.skipIf(whyNoNodes() !== undefined)(
  "another call of a node that wakes after its lease is made by that node only, and stays unknown",
  async () => {
    verifies("state.crash.tools-go-on", "inspection.effects.list");
    const { bank, response, pay } = await payOverPause(false);
    expect(response.status).toBe("completed");
    expect(bank.heard()).toBe(1);
    expect(bank.paid).toHaveLength(1);
    expect(pay).toMatchObject({ state: "unknown", attempts: [{ node: "left", state: "unknown" }] });
  },
  TEST_TIMEOUT_MS,
);

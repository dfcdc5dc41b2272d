import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { payingWorld } from "../crash/paying-world.ts";
import { verifies } from "../verifies.ts";
import { type Arrival, startReceiver } from "./receiver.ts";
import { endpoint, startRun, startWebhookServer } from "./webhook-server.ts";

const run = promisify(execFile);
/** What `make test-setup` installs where there is a python3 with venv. */
const PYTHON = resolve(import.meta.dirname, "../../.cache/python-clients/bin/python");
const UNWRAP = join(import.meta.dirname, "../clients/python/unwrap_webhook.py");

const SCENARIO = `
scenarios:
  - when: { input_contains: never ends }
    events:
      - text: It begins
      - delay_ms: 600000
`;

/** What the official SDK reads from an arrival. It throws if the signature is wrong. */
function unwrap(secret: string, { headers, body }: Arrival) {
  return new OpenAI({ apiKey: "none" }).webhooks.unwrap(body, Object(headers), secret);
}

test("the end of a background response is told, signed as the official SDK wants it", async () => {
  verifies("webhooks.events.ended-background-runs", "webhooks.signature.official-sdk");
  const { client } = await startWebhookServer();
  const receiver = await startReceiver();
  const { signing_secret: secret } = await endpoint(client, receiver, "response.completed");
  const id = await startRun(client);
  const arrival = await receiver.arrival(0);
  const event = await unwrap(secret, arrival);
  expect(event).toEqual({
    id: expect.stringMatching(/^evt_[0-9a-f]{48}$/),
    object: "event",
    created_at: expect.any(Number),
    type: "response.completed",
    data: { id },
  });
  expect(arrival.headers["webhook-id"]).toBe(event.id);
  await expect(unwrap(`whsec_${Buffer.alloc(32).toString("base64")}`, arrival)).rejects.toThrow("signature");
  expect(await client.responses.retrieve(id)).toMatchObject({ status: "completed" });
});

test.skipIf(!existsSync(PYTHON))("the official SDK for Python takes the same signature", async () => {
  verifies("webhooks.signature.official-sdk");
  const { client } = await startWebhookServer();
  const receiver = await startReceiver();
  const { signing_secret: secret } = await endpoint(client, receiver, "response.completed");
  const id = await startRun(client);
  const { headers, body } = await receiver.arrival(0);
  const { stdout } = await run(PYTHON, [UNWRAP, secret, JSON.stringify(headers), body]);
  expect(JSON.parse(stdout)).toEqual({ type: "response.completed", data: { id } });
});

test("each way to end has an event, and foreground responses have none", async () => {
  verifies("webhooks.events.ended-background-runs");
  const { client } = await startWebhookServer({ scenario: SCENARIO });
  const receiver = await startReceiver();
  await endpoint(
    client,
    receiver,
    "response.completed",
    "response.failed",
    "response.incomplete",
    "response.cancelled",
  );
  await client.responses.create({ model: "antiphon-built-in", input: "Hi" });
  const endless = await startRun(client, "never ends");
  const ended = {
    "response.failed": await startRun(client, "fail now"),
    "response.incomplete": await startRun(client, "trigger the content filter"),
    "response.completed": await startRun(client, "Hi"),
    "response.cancelled": endless,
  };
  await client.responses.cancel(endless);
  await receiver.arrival(3);
  const told = receiver.arrivals.map(({ event }) => [event.type, event.data.id]);
  expect(Object.fromEntries(told)).toEqual(ended);
  expect(told).toHaveLength(4);
});

test("an approval that waits is told, also of a foreground response", async () => {
  verifies("webhooks.events.approvals-that-wait");
  const world = await payingWorld();
  const { client } = await startWebhookServer({ env: { MODEL_BASE_URL: world.modelUrl } });
  const receiver = await startReceiver();
  // The type is an extension, which the official SDK does not know.
  await client.post("/webhook_endpoints", {
    body: { name: "Approvals", url: receiver.url, event_types: ["antiphon.response.action_required"] },
  });
  const { id, output } = await client.responses.create({
    model: "m",
    input: "number 1",
    tools: [
      {
        type: "mcp",
        server_label: "bank",
        server_url: world.mcpUrl,
        require_approval: { never: { tool_names: ["look"] } },
      },
    ],
  });
  expect(output.at(-1)?.type).toBe("mcp_approval_request");
  const { event } = await receiver.arrival(0);
  expect(event).toMatchObject({
    type: "antiphon.response.action_required",
    data: { id, required_action: { type: "mcp_approval_request" } },
  });
});

test("endpoints get the events of their own project that they want", async () => {
  verifies("webhooks.events.wanted-ones");
  const KEYS = { ours: "sk-ours-0123456789", theirs: "sk-theirs-0123456789" };
  const { server } = await startWebhookServer({
    env: { API_KEYS: `${KEYS.ours}=org/one,${KEYS.theirs}=org/two` },
  });
  const clientOf = (apiKey: string) => new OpenAI({ baseURL: `${server.url}/v1`, apiKey, maxRetries: 0 });
  const [ours, theirs] = [clientOf(KEYS.ours), clientOf(KEYS.theirs)];
  const [wanted, unwanted, foreign] = [await startReceiver(), await startReceiver(), await startReceiver()];
  await endpoint(ours, wanted, "response.completed");
  await endpoint(ours, unwanted, "response.failed");
  await endpoint(theirs, foreign, "response.completed", "response.failed");
  const id = await startRun(ours);
  expect((await wanted.arrival(0)).event.data).toEqual({ id });
  const failed = await startRun(ours, "fail now");
  expect((await unwanted.arrival(0)).event.data).toEqual({ id: failed });
  const other = await startRun(theirs);
  expect((await foreign.arrival(0)).event.data).toEqual({ id: other });
  expect([wanted.arrivals.length, unwanted.arrivals.length, foreign.arrivals.length]).toEqual([1, 1, 1]);
});

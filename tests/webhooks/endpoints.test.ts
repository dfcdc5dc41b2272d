import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startChildServer } from "../kit/child-server.ts";
import { verifies } from "../verifies.ts";
import { startReceiver } from "./receiver.ts";
import {
  clientOf,
  deliveries,
  endpoint,
  REACHES_RECEIVERS,
  startRun,
  startWebhookServer,
  type WebhookServer,
} from "./webhook-server.ts";

let webhooks: WebhookServer;
beforeAll(async () => {
  webhooks = await startWebhookServer();
});
afterAll(() => webhooks.server.close());

const PARAMS = { name: "Answers", url: "https://example.com/hooks", event_types: ["response.completed" as const] };

test("an endpoint has the members of the reference, and its secret is shown once", async () => {
  verifies("webhooks.endpoints.object-of-the-reference", "webhooks.endpoints.secret-shown-once");
  const { client } = webhooks;
  const { signing_secret: secret, ...made } = await client.webhooks.create(PARAMS);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(made).toEqual({
    id: expect.stringMatching(/^whe_[0-9a-f]{48}$/),
    object: "webhook_endpoint",
    created_at: expect.any(Number),
    disabled_at: null,
    disabled_reason: null,
    event_types: ["response.completed"],
    failing_since: null,
    name: "Answers",
    signing_secret_hint: `…${secret.slice(-4)}`,
    status: "enabled",
    updated_at: expect.any(Number),
    url: "https://example.com/hooks",
  });
  expect(await client.webhooks.retrieve(made.id)).toEqual(made);
  const changed = await client.webhooks.update(made.id, { name: "More", event_types: ["response.failed"] });
  expect(changed).toMatchObject({ id: made.id, name: "More", event_types: ["response.failed"], url: made.url });
  expect(await client.webhooks.delete(made.id)).toEqual({
    id: made.id,
    object: "webhook_endpoint.deleted",
    deleted: true,
  });
  await expect(client.webhooks.retrieve(made.id)).rejects.toThrow(`Webhook endpoint with id '${made.id}' not found.`);
});

test("endpoints are listed newest first, in pages", async () => {
  verifies("webhooks.endpoints.object-of-the-reference");
  const { client } = await startWebhookServer();
  const ids: string[] = [];
  for (let number = 0; number < 5; number++) ids.unshift((await client.webhooks.create(PARAMS)).id);
  const listed: string[] = [];
  for await (const { id } of client.webhooks.list({ limit: 2 })) listed.push(id);
  expect(listed).toEqual(ids);
  expect(await client.webhooks.eventTypes.list()).toMatchObject({
    data: expect.arrayContaining(["response.completed", "antiphon.response.action_required"]),
  });
});

test.each([
  ["ftp://example.com", "neither https nor http"],
  ["nowhere", "no URL"],
  ["https://user:word@example.com/", "a user name or a password"],
  ["https://example.com/#top", "a fragment"],
])("the URL %s is refused", async (url, reason) => {
  verifies("webhooks.endpoints.invalid-refused");
  await expect(webhooks.client.webhooks.create({ ...PARAMS, url })).rejects.toThrow(reason);
});

test("the number of endpoints of a project has a maximum", async () => {
  verifies("webhooks.endpoints.invalid-refused");
  const { client } = await startWebhookServer();
  for (let number = 0; number < 100; number++) await client.webhooks.create(PARAMS);
  await expect(client.webhooks.create(PARAMS)).rejects.toThrow("at most 100 webhook endpoints");
});

test("after a rotation both secrets sign for a day, if the client wants it", async () => {
  verifies("webhooks.endpoints.rotation");
  const { client } = webhooks;
  const receiver = await startReceiver();
  const { id, signing_secret: old } = await endpoint(client, receiver, "response.completed");
  const unwrap = async (index: number, secret: string): Promise<string> => {
    const { headers, body } = await receiver.arrival(index);
    return (await new OpenAI({ apiKey: "none" }).webhooks.unwrap(body, Object(headers), secret)).type;
  };
  const { signing_secret: next } = await client.webhooks.rotateSecret(id, {
    keep_old_secret_active_for_24_hours: true,
  });
  expect(next).not.toBe(old);
  await startRun(client);
  for (const secret of [old, next]) expect(await unwrap(0, secret)).toBe("response.completed");
  const { signing_secret: last } = await client.webhooks.rotateSecret(id);
  await startRun(client);
  expect(await unwrap(1, last)).toBe("response.completed");
  for (const secret of [old, next]) await expect(unwrap(1, secret)).rejects.toThrow("signature");
});

test("a sample event is sent at once, and shows how the endpoint answers", async () => {
  verifies("webhooks.endpoints.sample-event");
  const { client } = webhooks;
  const receiver = await startReceiver((response) => response.writeHead(418).end());
  const { id, signing_secret: secret } = await endpoint(client, receiver, "response.failed");
  expect(await client.webhooks.test(id, { event_type: "response.completed" })).toEqual({
    object: "webhook_endpoint.test",
    event_type: "response.completed",
    status_code: 418,
    success: true,
    webhook_endpoint_id: id,
  });
  const { headers, body } = await receiver.arrival(0);
  const event = await client.webhooks.unwrap(body, Object(headers), secret);
  expect(event.type).toBe("response.completed");
  expect(await deliveries(client, id)).toEqual([]);
});

test("a deleted endpoint takes its deliveries along", async () => {
  verifies("webhooks.endpoints.deleted-with-deliveries");
  const { client } = webhooks;
  const receiver = await startReceiver((response) => response.writeHead(503).end());
  const { id } = await endpoint(client, receiver, "response.completed");
  await startRun(client);
  await receiver.arrival(0);
  await client.webhooks.delete(id);
  await expect(deliveries(client, id)).rejects.toThrow("not found");
  const metrics = await (await webhooks.server.fetch("/metrics")).text();
  expect(metrics).toMatch(/antiphon_webhook_attempts_total\{outcome="failed"\} \d/);
});

test("no log line and no reply but the first has the signing secret", async () => {
  verifies("webhooks.endpoints.secret-shown-once");
  const server = await startChildServer({ env: { ...REACHES_RECEIVERS, LOG_LEVEL: "trace" } });
  const client = clientOf(server);
  const receiver = await startReceiver();
  const { id, signing_secret: secret } = await endpoint(client, receiver, "response.completed");
  await startRun(client);
  await receiver.arrival(0);
  await expect.poll(async () => (await deliveries(client, id))[0]?.status).toBe("delivered");
  const replies = [client.webhooks.retrieve(id), client.webhooks.list(), deliveries(client, id)];
  expect(JSON.stringify(await Promise.all(replies))).not.toContain(secret.slice("whsec_".length));
  expect(await server.stop()).toBe(0);
  expect(server.said()).toContain("webhook was sent");
  expect(server.said()).not.toContain(secret.slice("whsec_".length));
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { verifies } from "../verifies.ts";
import { accept, startReceiver } from "./receiver.ts";
import { deliveries, endpoint, startRun, startWebhookServer, type WebhookServer } from "./webhook-server.ts";

/** The first pause after a failure is about 5 s. */
const RETRIED_MS_MAX = 60_000;

let webhooks: WebhookServer;
beforeAll(async () => {
  webhooks = await startWebhookServer();
});
afterAll(() => webhooks.server.close());

test(
  "an event that was not accepted is sent again with the same id and a new signature",
  async () => {
    verifies("webhooks.retries.same-id", "webhooks.deliveries.listed");
    const { client } = webhooks;
    const receiver = await startReceiver((response, index) =>
      index === 0 ? response.writeHead(500).end("no") : accept(response),
    );
    const { id: endpointId } = await endpoint(client, receiver, "response.completed");
    const id = await startRun(client);
    await receiver.arrival(0);
    await expect
      .poll(() => deliveries(client, endpointId))
      .toMatchObject([{ status: "waiting", attempt_count: 1, next_attempt_at: expect.any(Number) }]);
    expect(await client.webhooks.retrieve(endpointId)).toMatchObject({ failing_since: expect.any(Number) });
    const [first, second] = [await receiver.arrival(0), await receiver.arrival(1)];
    expect(second.body).toBe(first.body);
    expect(second.headers["webhook-id"]).toBe(first.event.id);
    expect(Number(second.headers["webhook-timestamp"])).toBeGreaterThan(Number(first.headers["webhook-timestamp"]));
    expect(second.headers["webhook-signature"]).not.toBe(first.headers["webhook-signature"]);
    await expect
      .poll(() => deliveries(client, endpointId))
      .toEqual([
        {
          id: first.event.id,
          object: "webhook_endpoint.delivery",
          attempt_count: 2,
          attempts: [
            { at: expect.any(Number), duration_ms: expect.any(Number), error: "not_accepted", status_code: 500 },
            { at: expect.any(Number), duration_ms: expect.any(Number), error: null, status_code: 204 },
          ],
          created_at: expect.any(Number),
          data: { id },
          event_type: "response.completed",
          next_attempt_at: null,
          status: "delivered",
        },
      ]);
    expect(await client.webhooks.retrieve(endpointId)).toMatchObject({ failing_since: null, status: "enabled" });
  },
  RETRIED_MS_MAX,
);

test("an endpoint that hangs holds up no other, and gets few events at once", async () => {
  verifies("webhooks.sending.bounded");
  const { client } = webhooks;
  const hanging = await startReceiver(() => {});
  const quick = await startReceiver();
  await endpoint(client, hanging, "response.completed");
  await endpoint(client, quick, "response.completed");
  const ids = await Promise.all(Array.from({ length: 8 }, () => startRun(client)));
  await quick.arrival(7);
  expect(new Set(quick.arrivals.map(({ event }) => event.data.id))).toEqual(new Set(ids));
  expect(hanging.arrivals.length).toBeLessThanOrEqual(4);
});

test("redirects are not followed, and connections that break are no answer", async () => {
  verifies("webhooks.sending.guarded");
  const { client } = webhooks;
  const elsewhere = await startReceiver();
  const redirecting = await startReceiver((response) => response.writeHead(307, { location: elsewhere.url }).end());
  const breaking = await startReceiver((response) => response.destroy());
  const [first, second] = [
    await endpoint(client, redirecting, "response.completed"),
    await endpoint(client, breaking, "response.completed"),
  ];
  await startRun(client);
  await expect
    .poll(async () => (await deliveries(client, first.id))[0]?.attempts)
    .toMatchObject([{ error: "redirected", status_code: null }]);
  await expect
    .poll(async () => (await deliveries(client, second.id))[0]?.attempts)
    .toMatchObject([{ error: "unreachable", status_code: null }]);
  expect(elsewhere.arrivals).toEqual([]);
});

test("addresses that the operator does not allow are not called", async () => {
  verifies("webhooks.sending.guarded");
  const { client } = await startWebhookServer({ env: { EGRESS_ALLOW: "10.1.1.1" } });
  const receiver = await startReceiver();
  const { id } = await endpoint(client, receiver, "response.completed");
  await startRun(client);
  await expect.poll(async () => (await deliveries(client, id))[0]?.attempts).toMatchObject([{ error: "forbidden" }]);
  await expect(client.webhooks.test(id, { event_type: "response.completed" })).rejects.toThrow("EGRESS_ALLOW");
  expect(receiver.arrivals).toEqual([]);
});

test("an endpoint that answers 410 is turned off, gets nothing more, and can be turned on again", async () => {
  verifies("webhooks.endpoints.turned-off");
  const { client } = webhooks;
  const receiver = await startReceiver((response, index) =>
    index === 0 ? response.writeHead(410).end() : accept(response),
  );
  const { id } = await endpoint(client, receiver, "response.completed");
  await startRun(client);
  await expect.poll(() => client.webhooks.retrieve(id)).toMatchObject({ status: "disabled", disabled_reason: "gone" });
  const [gone] = await deliveries(client, id);
  expect(gone).toMatchObject({ status: "failed", next_attempt_at: null });
  const path = `/webhook_endpoints/${id}`;
  await expect(client.post(`${path}/deliveries/${gone?.id}/redeliver`)).rejects.toThrow("turned off");
  const unseen = await startRun(client);
  await expect.poll(async () => (await client.responses.retrieve(unseen)).status).toBe("completed");
  expect(await deliveries(client, id)).toHaveLength(1);
  expect(await client.post(path, { body: { status: "enabled" } })).toMatchObject({
    status: "enabled",
    failing_since: null,
  });
  expect(await client.post(`${path}/deliveries/${gone?.id}/redeliver`)).toMatchObject({ status: "waiting" });
  expect((await receiver.arrival(1)).event.id).toBe(gone?.id);
  const seen = await startRun(client);
  expect((await receiver.arrival(2)).event.data).toEqual({ id: seen });
});

test("an event is delivered again when a client asks for it", async () => {
  verifies("webhooks.deliveries.again");
  const { client } = webhooks;
  const receiver = await startReceiver();
  const { id } = await endpoint(client, receiver, "response.completed");
  await startRun(client);
  const { event } = await receiver.arrival(0);
  await expect.poll(async () => (await deliveries(client, id))[0]?.status).toBe("delivered");
  await client.post(`/webhook_endpoints/${id}/deliveries/${event.id}/redeliver`);
  expect((await receiver.arrival(1)).event).toEqual(event);
  await expect
    .poll(() => deliveries(client, id))
    .toMatchObject([{ id: event.id, status: "delivered", attempt_count: 2 }]);
  await expect(client.post(`/webhook_endpoints/${id}/deliveries/evt_1/redeliver`)).rejects.toThrow("No event 'evt_1'");
});

import { expect, test } from "vitest";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { verifies } from "../verifies.ts";
import { accept, startReceiver } from "./receiver.ts";
import { clientOf, deliveries, endpoint, REACHES_RECEIVERS, startRun } from "./webhook-server.ts";

const RUNS = 12;
const TEST_TIMEOUT_MS = 300_000;

function start(dataDir: string): Promise<ChildServer> {
  return startChildServer({ env: { ...REACHES_RECEIVERS, DATA_DIR: dataDir, LEASE_MS: "3000" } });
}

test(
  "an event whose sender is killed before it notes the answer is sent again with the same id",
  async () => {
    verifies("webhooks.crash.nothing-lost", "webhooks.retries.same-id");
    const folder = temporaryFolder();
    const killed = await start(folder);
    const receiver = await startReceiver((response, index) => (index === 0 ? null : accept(response)));
    const { id } = await endpoint(clientOf(killed), receiver, "response.completed");
    await startRun(clientOf(killed));
    const first = await receiver.arrival(0); // Not answered.
    await killed.kill();
    const client = clientOf(await start(folder));
    expect((await receiver.arrival(1)).event).toEqual(first.event);
    await expect.poll(() => deliveries(client, id)).toMatchObject([{ id: first.event.id, status: "delivered" }]);
  },
  TEST_TIMEOUT_MS,
);

test(
  "each response that has ended before a kill -9, or ends after it, is told",
  async () => {
    verifies("webhooks.crash.nothing-lost");
    const folder = temporaryFolder();
    const killed = await start(folder);
    const receiver = await startReceiver();
    await endpoint(clientOf(killed), receiver, "response.completed", "response.failed");
    const ids: string[] = [];
    for (let number = 0; number < RUNS; number++) ids.push(await startRun(clientOf(killed)));
    await receiver.arrival(2);
    await killed.kill();
    const client = clientOf(await start(folder));
    const ended = async (id: string) => (await client.responses.retrieve(id)).status;
    for (const id of ids) await expect.poll(() => ended(id), { timeout: 60_000 }).toMatch(/completed|failed/);
    const told = () => new Set(receiver.arrivals.map(({ event }) => event.data.id));
    await expect.poll(told, { timeout: 60_000 }).toEqual(new Set(ids));
    // The same event is one event, however often it was sent.
    expect(new Set(receiver.arrivals.map(({ event }) => event.id)).size).toBe(RUNS);
  },
  TEST_TIMEOUT_MS,
);

test(
  "two servers of one database send each event once",
  async () => {
    verifies("webhooks.sending.one-sender");
    const folder = temporaryFolder();
    const first = await start(folder);
    const second = await start(folder);
    const receiver = await startReceiver((response) => void setTimeout(() => accept(response), 20));
    const { id } = await endpoint(clientOf(first), receiver, "response.completed");
    const clients = [clientOf(first), clientOf(second)];
    const ids = await Promise.all(
      Array.from({ length: 2 * RUNS }, (_, number) => startRun(clients[number % 2] ?? clientOf(first))),
    );
    const isDelivered = async () => {
      const shown = await deliveries(clientOf(second), id);
      return shown.filter(({ status }) => status === "delivered").length;
    };
    await expect.poll(isDelivered, { timeout: 60_000 }).toBe(ids.length);
    expect(receiver.arrivals.map(({ event }) => event.data.id).toSorted()).toEqual(ids.toSorted());
  },
  TEST_TIMEOUT_MS,
);

import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { freePort } from "../kit/http-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { verifies } from "../verifies.ts";
import { ask, PROXIES, type StartedProxy, textOf } from "./proxies.ts";

const TEST_TIMEOUT_MS = 240_000;
const CLIENTS = 4;
/** The proxies look at a service once a second, so after this time they know that it is back. */
const SEEN_MS = 3_000;
const SCENARIO = `
scenarios:
  - when: { input_contains: slow }
    events:
      - text: One
      - delay_ms: 1500
      - text: Two
`;

describe.each(PROXIES)("behind $title", { timeout: TEST_TIMEOUT_MS }, (kind) => {
  test.skipIf(kind.whySkipped !== "")(
    "two services are restarted under load, one after the other, and no request fails and no stream breaks",
    async () => {
      verifies("operations.deploy.two-services");
      const folder = temporaryFolder();
      const env = { DATA_DIR: folder, DRAIN_DELAY_MS: "4s", DRAIN_MS: "30s" };
      const start = (port: string) => startChildServer({ scenario: SCENARIO, env: { ...env, PORT: port } });
      const [leftPort, rightPort] = [String(await freePort()), String(await freePort())];
      const [left, right] = [await start(leftPort), await start(rightPort)];
      const proxy = await kind.start(left, right);
      const load = keepBusy(proxy, left);
      expect(await left.stop()).toBe(0);
      await start(leftPort);
      await sleep(SEEN_MS);
      expect(await right.stop()).toBe(0);
      const streams = await load.end();
      expect(load.failed).toEqual([]);
      expect(streams).toBeGreaterThan(2 * CLIENTS);
    },
  );
});

/** Clients that ask for streams, and between them for short answers, until told to stop. */
function keepBusy(proxy: StartedProxy, server: ChildServer) {
  let isOver = false;
  let streams = 0;
  const failed: string[] = [];
  const create = async (more: object, mark: string): Promise<void> => {
    const { status, body } = await ask(proxy, "/v1/responses", {
      method: "POST",
      headers: { authorization: `Bearer ${server.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "antiphon-built-in", ...more }),
    });
    const text = await textOf({ status, body });
    if (status !== 200 || !text.includes(mark)) failed.push(`${status} ${text.slice(-300)}`);
  };
  const client = async (): Promise<void> => {
    while (!isOver) {
      const stream = create({ input: "slow", stream: true }, "response.completed");
      for (let short = 0; short < 5; short++) await create({ input: "Say hello" }, '"completed"');
      await stream;
      streams += 1;
    }
  };
  const noteError = (error: unknown): void => void failed.push(String(error));
  const clients = Promise.all(Array.from({ length: CLIENTS }, () => client().catch(noteError)));
  const end = async (): Promise<number> => {
    isOver = true;
    await clients;
    return streams;
  };
  return { failed, end };
}

import { execFileSync, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { freePort } from "../kit/http-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { verifies } from "../verifies.ts";
import { readRoot } from "./manifests.ts";

const PROGRAM = "/usr/sbin/haproxy";
const SCENARIO = `
scenarios:
  - when: { input_contains: slow }
    events:
      - text: One
      - delay_ms: 1500
      - text: Two
`;

describe.skipIf(whyNone() !== undefined)(`the balancer of the compose file${whyNone() ?? ""}`, () => {
  test("fails no request and cuts no stream while a node drains, and passes deltas on as they come", async () => {
    verifies("operations.deploy.drains");
    const folder = temporaryFolder();
    const env = { DATA_DIR: folder, DRAIN_DELAY_MS: "6s", DRAIN_MS: "10s" };
    const [left, right] = [
      await startChildServer({ scenario: SCENARIO, env: { ...env, NODE_NAME: "left" } }),
      await startChildServer({ scenario: SCENARIO, env: { ...env, NODE_NAME: "right" } }),
    ];
    const url = await startBalancer(folder, [left, right]);
    await expect.poll(async () => (await fetch(`${url}/healthz`)).status).toBe(200);

    const streams = await Promise.all(
      [1, 2, 3, 4].map(() => create(url, left.apiKey, { input: "slow", stream: true })),
    );
    const stopped = left.stop();
    const texts = Promise.all(streams.map(arrivals));
    const statuses: number[] = [];
    for (const end = Date.now() + 7000; Date.now() < end; await sleep(50))
      statuses.push((await create(url, left.apiKey, { input: "Say hello" })).status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    for (const arrived of await texts) {
      expect(arrived.text).toContain("response.completed");
      expect(arrived.lastAfterMs - arrived.firstAfterMs).toBeGreaterThan(1000); // Nothing held the first delta back.
    }
    expect(await stopped).toBe(0);
    expect((await create(url, right.apiKey, { input: "Say hello" })).status).toBe(200);
  });
});

function create(url: string, apiKey: string, body: object): Promise<Response> {
  return fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "antiphon-built-in", ...body }),
  });
}

/** The whole text of a stream, and when its first and last piece came. */
async function arrivals(reply: Response) {
  const begin = performance.now();
  let [text, firstAfterMs, lastAfterMs] = ["", 0, 0];
  const decoder = new TextDecoder();
  for await (const piece of reply.body ?? []) {
    lastAfterMs = performance.now() - begin;
    if (text === "") firstAfterMs = lastAfterMs;
    text += decoder.decode(piece, { stream: true });
  }
  return { text, firstAfterMs, lastAfterMs };
}

/** Runs the shipped file, with other addresses. Returns the URL without a trailing slash. */
async function startBalancer(folder: string, nodes: readonly ChildServer[]): Promise<string> {
  const port = await freePort();
  const names = ["node-a", "node-b"];
  const shipped = readRoot("deploy/compose/haproxy.cfg").replace("bind :8080", `bind 127.0.0.1:${port}`);
  const file = join(folder, "haproxy.cfg");
  const text = nodes.reduce((rest, { url }, place) => rest.replace(`${names[place]}:8080`, new URL(url).host), shipped);
  await writeFile(file, text);
  const child = spawn(PROGRAM, ["-db", "-f", file], { stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return `http://127.0.0.1:${port}`;
}

function whyNone(): string | undefined {
  try {
    execFileSync(PROGRAM, ["-v"], { stdio: "ignore" });
    return undefined;
  } catch {
    return " (skipped: there is no haproxy)";
  }
}

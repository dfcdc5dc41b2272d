import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startProcesses, TEST_TIMEOUT_MS } from "../processes/several-processes.ts";
import { verifies } from "../verifies.ts";
import { ask, PROXIES, type StartedProxy, textOf } from "./proxies.ts";
import { idIn, serveUntilReleased } from "./waiting-model.ts";

const DRAIN_MS = 500;
const here = PROXIES.filter(({ whySkipped }) => whySkipped === "");
const absent = PROXIES.map(({ whySkipped }) => whySkipped).join("");

test.skipIf(here.length === 0)(
  `a rolling restart behind ${PROXIES.map(({ name }) => name).join(" and ")} breaks no stream that is longer than DRAIN_MS${absent}`,
  async () => {
    verifies("operations.deploy.rolling-restart");
    const model = await serveUntilReleased();
    const server = await startProcesses(2, { env: { MODEL_BASE_URL: model.url, DRAIN_MS: String(DRAIN_MS) } });
    const before = server.pids();
    const proxies = await Promise.all(here.map((kind) => kind.start(server)));
    const call = {
      method: "POST",
      headers: { authorization: `Bearer ${server.apiKey}`, "content-type": "application/json" },
    };
    const create = (proxy: StartedProxy, more: object) =>
      ask(proxy, "/v1/responses", { ...call, body: JSON.stringify({ model: "m", input: "Tell", ...more }) });
    const ways = [{ stream: true }, { stream: true }, { stream: true, background: true }, {}];
    const open = proxies.flatMap((proxy) => ways.map((way) => create(proxy, way).then(textOf)));
    const [first] = proxies;
    if (first === undefined) throw new Error("there is a proxy");
    const watched: unknown = JSON.parse(await textOf(await create(first, { background: true })));
    await expect.poll(() => model.waiting(), { timeout: 30_000 }).toBe(open.length + 1);

    process.kill(server.pid, "SIGHUP");
    const statuses: number[] = [];
    const isOver = () => server.lines().some(({ msg }) => msg === "all processes restarted");
    while (!isOver())
      statuses.push(...(await Promise.all(proxies.map(async (proxy) => (await ask(proxy, "/readyz")).status))));
    await sleep(2 * DRAIN_MS); // Not a wait for something: a stream that is cut at the limit is cut by now.
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(server.pids().filter((pid) => before.includes(pid)).length).toBeGreaterThan(0); // They finish their work.
    model.release();

    for (const text of await Promise.all(open)) expect(text).toMatch(/"status": ?"completed"[^]*One two/);
    const path = `/v1/responses/${idIn(watched)}`;
    const status = async () => JSON.parse(await (await server.fetch(path)).text()).status;
    await expect.poll(status, { timeout: 30_000 }).toBe("completed");
    await expect.poll(() => server.pids().filter((pid) => before.includes(pid)), { timeout: 30_000 }).toEqual([]);
    expect(server.pids()).toHaveLength(2);
    expect(await server.stop()).toBe(0);
  },
  TEST_TIMEOUT_MS,
);

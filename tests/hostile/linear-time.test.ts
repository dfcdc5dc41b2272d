import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cpuMsOf } from "../kit/cpu-time.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { type LongList, longLists } from "./long-lists.ts";
import { chunk, type ModelServer, serveModel } from "./model-server.ts";
import { TANGLED_LISTS } from "./tangled-lists.ts";

/** The longer list has this many times the elements of the shorter one. */
const LONGER = 4;
/** The limit is four times linear work. Comparing all elements with each other takes sixteen times as long. */
const GROWTH_MAX = 9;
/** Shorter times are harmless, and too short to compare. */
const CPU_MS_MIN = 120;
/** The shortest of several measurements is closest to the real work. */
const MEASURES = 6;

const RESPONSES = "/v1/responses";
const COUNT = "/v1/responses/input_tokens";

describe("the time to process a list", () => {
  let upstream: ModelServer;
  let [behind, builtIn]: TestServer[] = [];
  beforeAll(async () => {
    upstream = await serveModel((request, response) => {
      request.resume().once("end", () => {
        if (request.url !== "/v1/chat/completions") return response.writeHead(404).end();
        response.writeHead(200, { "content-type": "text/event-stream" });
        return response.end(`data: ${JSON.stringify(chunk("Yes.", "stop"))}\n\ndata: [DONE]\n\n`);
      });
    });
    const env = { NODE_ENV: "production" };
    behind = await startTestServer({ env: { ...env, MODEL_BASE_URL: upstream.url } });
    builtIn = await startTestServer({ env });
  });
  afterAll(async () => {
    await behind?.close();
    await builtIn?.close();
    await upstream.close();
  });

  test.each(TANGLED_LISTS)("grows linearly if elements refer to others: $name", async (list) => {
    verifies("limits.work.linear-in-lists");
    for (const path of [RESPONSES, COUNT]) {
      await check(behind, { path, model: "m" }, list);
      await check(builtIn, { path, model: "antiphon-built-in" }, list);
    }
  });

  test.each(longLists())("grows linearly at every place of the contract: $name", async (list) => {
    verifies("limits.work.linear-in-lists");
    await check(behind, { path: RESPONSES, model: "m" }, list);
    await check(builtIn, { path: COUNT, model: "antiphon-built-in" }, list);
  });

  test("is measured at every place where the contract has a list", () => {
    const names = longLists().map(({ name }) => name);
    expect(names.length).toBeGreaterThan(150);
    expect(names).toEqual(expect.arrayContaining(["tools of FunctionToolInput", "input of MessageInput"]));
  });
});

interface Call {
  readonly path: string;
  readonly model: string;
}

async function check(server: TestServer | undefined, call: Call, { make, longest }: LongList): Promise<void> {
  const ask = (elements: number): Promise<number> => cpuMsOfCall(server, call, make(elements));
  let longer = await ask(longest);
  if (longer < CPU_MS_MIN) return;
  let shorter = Infinity;
  for (let measure = 0; measure < MEASURES; measure += 1) {
    shorter = Math.min(shorter, await ask(longest / LONGER));
    if (longer < CPU_MS_MIN || longer < shorter * GROWTH_MAX) return;
    longer = Math.min(longer, await ask(longest));
  }
  expect(longer).toBeLessThan(Math.max(CPU_MS_MIN, shorter * GROWTH_MAX));
}

async function cpuMsOfCall(server: TestServer | undefined, { path, model }: Call, members: object): Promise<number> {
  const body = JSON.stringify({ model, input: "hi", ...members });
  const { ms } = await cpuMsOf(async () => {
    const headers = { "content-type": "application/json" };
    const reply = await server?.fetch(path, { method: "POST", headers, body });
    await reply?.arrayBuffer();
    expect(reply?.status).toBeLessThan(500);
  });
  return ms;
}

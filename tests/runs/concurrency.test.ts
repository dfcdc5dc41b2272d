import { setTimeout as sleep } from "node:timers/promises";
import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import { dataLines } from "../kit/event-stream.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { readResponse } from "../responses/read-stream.ts";
import { isShort } from "../trials.ts";
import { verifies } from "../verifies.ts";
import { readLive } from "./live-stream.ts";
import { pollUntil } from "./poll.ts";
import { serveSlowModel } from "./slow-model.ts";

const READERS = 500;
const RACES = isShort ? 500 : 1_000;
const RACES_AT_ONCE = 25;
/** Milliseconds before the model ends: longer than a busy server needs to process a cancel. */
const MODEL_ENDS_AFTER_MS = 100;
/** The largest step of a lane's next cancel: earlier after a completed response, later after a cancelled one. */
const STEP_MS = 20;
const TEST_TIMEOUT_MS = 600_000;
const WORDS = 200;

test(
  `${READERS} readers of one running response all get all of it`,
  async () => {
    verifies("responses.replay.any-number-of-readers");
    const { server, create, call } = await serveSlowModel();
    const { id } = await readResponse(await create({ background: true }));
    const model = await call(0);
    const readers: Promise<string[]>[] = [];
    for (let word = 0; word < WORDS; word++) {
      model.say(`w${word} `);
      const joining = Math.floor(((word + 1) * READERS) / WORDS) - readers.length; // They join while it runs.
      for (let reader = 0; reader < joining; reader++) readers.push(readAll(server, id));
      await sleep(2);
    }
    model.finish();
    const seen = await Promise.all(readers);
    const whole = await readAll(server, id);
    expect(whole.length).toBeGreaterThan(WORDS);
    expect(whole.at(-1)).toContain('"type":"response.completed"');
    expect(seen).toHaveLength(READERS);
    for (const lines of seen) expect(lines).toEqual(whole);
  },
  TEST_TIMEOUT_MS,
);

async function readAll(server: TestServer, id: string): Promise<string[]> {
  return dataLines(await (await server.fetch(`/v1/responses/${id}/events`)).text());
}

test(
  `a cancel that races with the end, ${RACES} times, leaves one end, the same for all readers`,
  async () => {
    verifies("responses.cancel.first-terminal-state-wins");
    const server = await startTestServer({
      scenario: `scenarios:\n  - events: [{ text: { chunks: ["a ", "b ", "c"] } }, { delay_ms: ${MODEL_ENDS_AFTER_MS} }, { finish: stop }]\n`,
    });
    const ends = { completed: 0, cancelled: 0 };
    const lane = async () => {
      let waitMs = MODEL_ENDS_AFTER_MS;
      for (let race = 0; race < RACES / RACES_AT_ONCE; race++) {
        const status = await raceOnce(server, waitMs);
        ends[status] += 1;
        const step = Math.random() * STEP_MS;
        waitMs = status === "completed" ? Math.max(0, waitMs - step) : waitMs + step; // Towards a tie.
      }
    };
    await Promise.all(Array.from({ length: RACES_AT_ONCE }, lane));
    expect(ends.completed + ends.cancelled).toBe(RACES);
    // Both outcomes occur.
    expect(Math.min(ends.completed, ends.cancelled), JSON.stringify(ends)).toBeGreaterThan(RACES / 100);
  },
  TEST_TIMEOUT_MS,
);

async function raceOnce(server: TestServer, waitMs: number): Promise<"completed" | "cancelled"> {
  const body = { model: "antiphon-built-in", input: "go", background: true, stream: true };
  const reply = await server.post("/v1/responses", body);
  const stream = readLive(reply);
  const id = await stream.id;
  await sleep(waitMs);
  const cancelled = await server.post(`/v1/responses/${id}/cancel`, {});
  const final = await pollUntil(server, id, "completed", "cancelled");
  const { status } = final;
  if (status !== "completed" && status !== "cancelled") throw new Error(`ended as ${status}`);
  if (cancelled.status === 200) expect(await readResponse(cancelled)).toEqual(final);
  else expect([cancelled.status, status]).toEqual([400, "completed"]); // It had already ended.
  const live = dataLines((await stream.whole).text);
  expect(live).toEqual(await readAll(server, id));
  expect(endsIn(live)).toEqual([status]);
  return status;
}

/** The statuses in terminal events. */
function endsIn(lines: readonly string[]): ResponseBody["status"][] {
  return lines.flatMap((line) => {
    const event: { type: string; response?: ResponseBody } = JSON.parse(line);
    const isEnd = ["response.completed", "response.failed", "response.incomplete"].includes(event.type);
    return isEnd && event.response !== undefined ? [event.response.status] : [];
  });
}

import { setTimeout as sleep } from "node:timers/promises";
import { MemoryCourse } from "./memory-course.ts";
import type { Server } from "./servers.ts";
import { modelName } from "./upstream-shape.ts";
import { type Bench, textOf, withServer } from "./with-server.ts";

const SECONDS = Number(process.env["ENDURE_S"] ?? 600);
const SAMPLE_SECONDS = Math.min(10, SECONDS / 6);
/** Between two calls of one client. */
const REST_MS = 20;
const POLL_MS = 50;
/** How many of the latest responses are replayed and continued. */
const RECENT_MAX = 100;
/** Kept shorter than the run, so that the file reaches its size. */
const KEPT_FOR = "2m";
const REASONS_MAX = 10;

/** A kind of client, which does the same again and again. */
interface Client {
  readonly name: string;
  readonly many: number;
  readonly act: (bench: Bench, recent: Recent) => Promise<void>;
}

/** The ids of the latest stored responses. */
class Recent {
  readonly #ids: string[] = [];

  add(id: unknown): void {
    this.#ids.push(String(id));
    if (this.#ids.length > RECENT_MAX) this.#ids.shift();
  }

  any(): string | null {
    return this.#ids[Math.floor(Math.random() * this.#ids.length)] ?? null;
  }
}

const paced = modelName({ tokens: 200, perWrite: 2, paceMs: 2 });

const CLIENTS: readonly Client[] = [
  { name: "JSON", many: 4, act: async (bench, recent) => recent.add((await bench.create({}))["id"]) },
  {
    name: "continued",
    many: 2,
    act: async (bench, recent) => void (await bench.create({ previous_response_id: recent.any(), input: "And?" })),
  },
  {
    name: "streams",
    many: 4,
    act: async (bench, recent) => {
      const said = await bench.stream({});
      if (!said.includes("event: response.completed\n")) throw new Error("a stream lacked its terminal event");
      recent.add(/"id":"(resp_[0-9a-f]+)"/.exec(said)?.[1]);
    },
  },
  { name: "background", many: 2, act: runInBackground },
  { name: "cancelled", many: 1, act: cancel },
  { name: "aborted", many: 2, act: abort },
  {
    name: "replays",
    many: 2,
    act: async (bench, recent) => {
      const id = recent.any();
      if (id === null) return;
      const said = await bench.get(`/responses/${id}/events`);
      if (!said.includes("event: response.completed\n")) throw new Error("a replay lacked its terminal event");
    },
  },
];

async function runInBackground(bench: Bench): Promise<void> {
  const { id } = await bench.create({ background: true });
  for (;;) {
    const text = await bench.get(`/responses/${String(id)}`);
    const { status }: Record<string, unknown> = JSON.parse(text);
    if (status === "completed") return;
    if (status !== "queued" && status !== "in_progress") throw new Error(`a background response is ${String(status)}`);
    await sleep(POLL_MS);
  }
}

async function cancel(bench: Bench): Promise<void> {
  const { id } = await bench.create({ background: true, model: paced });
  await sleep(POLL_MS);
  await bench.post(`/responses/${String(id)}/cancel`, {});
}

/** Closes the connection in the middle of a stream. */
async function abort({ serverUrl, server }: Bench): Promise<void> {
  const ending = new AbortController();
  const body = JSON.stringify({ model: paced, input: "Hi", stream: true });
  const call = { method: "POST", headers: server.headers, body, signal: ending.signal };
  const reply = await fetch(`${serverUrl}/responses`, call);
  if (reply.status !== 200) await textOf(reply);
  await reply.body?.getReader().read();
  ending.abort();
}

/** Shows memory and files over time under all kinds of load, and counts errors. Sets the exit code if it finds any. */
export async function measureEndurance(): Promise<void> {
  console.log(`\nendurance: ${SECONDS} s of ${CLIENTS.map(({ name, many }) => `${many} x ${name}`).join(", ")}`);
  await withServer({ tokens: 200, perWrite: 4 }, endure, { env: { RESPONSES_TTL: KEPT_FOR } });
}

async function endure(bench: Bench): Promise<void> {
  const endsAt = performance.now() + SECONDS * 1000;
  const recent = new Recent();
  const done = new Map(CLIENTS.map(({ name }) => [name, 0]));
  const errors: string[] = [];
  const work = async ({ name, act }: Client): Promise<void> => {
    while (performance.now() < endsAt && bench.server.fault() === null) {
      await act(bench, recent).then(
        () => done.set(name, (done.get(name) ?? 0) + 1),
        (error: unknown) => errors.push(`${name}: ${String(error)}`),
      );
      await sleep(REST_MS);
    }
  };
  const course = new MemoryCourse(bench.server, "s");
  const watched = watch(
    course,
    bench.server,
    () => `, ${[...done].map(([name, count]) => `${count} ${name}`).join(", ")}, ${errors.length} errors`,
  );
  await Promise.all([watched, ...CLIENTS.flatMap((client) => Array.from({ length: client.many }, () => work(client)))]);
  for (const error of errors.slice(0, REASONS_MAX)) console.log(`  ${error}`);
  const fault = bench.server.fault();
  if (fault !== null) console.log(`  FAILED: ${fault}`);
  const isFlat = fault === null && course.judge();
  if (!isFlat || errors.length > 0) process.exitCode = 1;
}

async function watch(course: MemoryCourse, server: Server, note: () => string): Promise<void> {
  for (let second = SAMPLE_SECONDS; second <= SECONDS; second += SAMPLE_SECONDS) {
    await sleep(SAMPLE_SECONDS * 1000);
    if (server.fault() !== null) return;
    course.sample(Math.round(second), note());
  }
}

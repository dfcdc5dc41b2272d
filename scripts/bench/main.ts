import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuMs, startProgram } from "./processes.ts";
import { median, type Streamed, streamMany, streamOnce } from "./stream-client.ts";

/** What streaming through the server costs beside calling the same upstream directly, in one run. Figures are ratios and medians; nothing here is a test. */
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 40);
const TOKENS = 1000;
const FIRST_EVENT_ROUNDS = 200;
const TARGET_CPU_MS_PER_1000 = 8;
const TARGET_FIRST_EVENT_MS = 1.5;

interface Shape {
  readonly name: string;
  readonly tokensPerWrite: number;
  readonly concurrency: number;
}

const SHAPES: readonly Shape[] = [
  { name: "32 tokens a write, concurrency 1", tokensPerWrite: 32, concurrency: 1 },
  { name: "32 tokens a write, concurrency 8", tokensPerWrite: 32, concurrency: 8 },
  { name: "a token a write, concurrency 1", tokensPerWrite: 1, concurrency: 1 },
  { name: "a token a write, concurrency 8", tokensPerWrite: 1, concurrency: 8 },
];

for (const shape of SHAPES) await measure(shape);

async function measure(shape: Shape): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-bench-"));
  const upstream = await startProgram(
    join(import.meta.dirname, "upstream.ts"),
    { TOKENS_PER_ANSWER: String(TOKENS), TOKENS_PER_WRITE: String(shape.tokensPerWrite) },
    /listening (\d+)/,
  );
  const upstreamUrl = `http://127.0.0.1:${upstream.match[1]}/v1`;
  const server = await startProgram(
    join(import.meta.dirname, "../../src/main.ts"),
    { NODE_ENV: "production", PORT: "0", STT_PORT: "0", DATA_DIR: folder, MODEL_BASE_URL: upstreamUrl, LOG_LEVEL: "warn", RUNS_MAX: "256" },
    /(http:\/\/127\.0\.0\.1:\d+)\/v1/,
  );
  try {
    const headers = { authorization: `Bearer ${readFileSync(join(folder, "api-key"), "utf8").trim()}` };
    const direct = (): Promise<Streamed> => streamOnce(`${upstreamUrl}/chat/completions`, { model: "bench", stream: true, messages: [] });
    const through = (): Promise<Streamed> => streamOnce(`${server.match[1]}/v1/responses`, { model: "bench", stream: true, input: "Hi" }, headers);
    await streamMany(10, 2, through);
    await streamMany(10, 2, direct);
    const cpuBefore = cpuMs(server.child);
    const runs = await timed(shape, through);
    const cpu = (cpuMs(server.child) - cpuBefore) / ((ROUNDS * TOKENS) / 1000);
    const alone = await timed(shape, direct);
    console.log(`\n${shape.name}`);
    console.log(`  events a second: ${Math.round(runs.eventsPerSecond)} through, ${Math.round(alone.eventsPerSecond)} direct (ratio ${(runs.eventsPerSecond / alone.eventsPerSecond).toFixed(2)})`);
    console.log(`  server CPU per 1,000 token events: ${cpu.toFixed(2)} ms (target ${TARGET_CPU_MS_PER_1000})`);
    if (shape.concurrency === 1) await firstEvent(through, direct);
  } finally {
    server.child.kill("SIGTERM");
    upstream.child.kill("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  }
}

async function timed(shape: Shape, once: () => Promise<Streamed>): Promise<{ eventsPerSecond: number }> {
  const started = performance.now();
  const runs = await streamMany(ROUNDS, shape.concurrency, once);
  const events = runs.reduce((sum, run) => sum + run.events, 0);
  return { eventsPerSecond: (events * 1000) / (performance.now() - started) };
}

/** Calls alternate, so that a noisy machine disturbs both alike. */
async function firstEvent(through: () => Promise<Streamed>, direct: () => Promise<Streamed>): Promise<void> {
  const added: number[] = [];
  const plain: number[] = [];
  for (let round = 0; round < FIRST_EVENT_ROUNDS; round++) {
    const alone = (await direct()).firstByteMs;
    plain.push(alone);
    added.push((await through()).firstByteMs - alone);
  }
  console.log(`  time to first event: ${median(plain).toFixed(2)} ms direct, ${median(added).toFixed(2)} ms added (target ${TARGET_FIRST_EVENT_MS})`);
}

import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuMs, startProgram } from "./processes.ts";
import { median, type Streamed, streamMany, streamOnce } from "./stream-client.ts";

/** What streaming through the server costs beside calling the same upstream directly, in one run. Figures are ratios and medians; nothing here is a test. */
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 150);
/** Answers before measuring begins: what is measured is a server that has run for a while. */
const WARM_UP_ROUNDS = 150;
const TOKENS = 1000;
/** For the time to the first event: so few that reading the rest of the answer is not measured too. */
const TOKENS_OF_SHORT_ANSWERS = 20;
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

for (const shape of SHAPES) await measureThroughput(shape);
await measureFirstEvent();

interface Pair {
  readonly through: () => Promise<Streamed>;
  readonly direct: () => Promise<Streamed>;
  readonly server: ChildProcess;
}

/** Starts an upstream, and the server in front of it with storage on; stops both afterwards. */
async function withServer(tokens: number, tokensPerWrite: number, use: (pair: Pair) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-bench-"));
  const upstreamEnv = { TOKENS_PER_ANSWER: String(tokens), TOKENS_PER_WRITE: String(tokensPerWrite) };
  const upstream = await startProgram(join(import.meta.dirname, "upstream.ts"), upstreamEnv, /listening (\d+)/);
  const upstreamUrl = `http://127.0.0.1:${upstream.match[1]}/v1`;
  const server = await startProgram(
    join(import.meta.dirname, "../../src/main.ts"),
    {
      NODE_ENV: "production",
      PORT: "0",
      STT_PORT: "0",
      DATA_DIR: folder,
      MODEL_BASE_URL: upstreamUrl,
      LOG_LEVEL: "warn",
    },
    /(http:\/\/127\.0\.0\.1:\d+)\/v1/,
  );
  const headers = { authorization: `Bearer ${readFileSync(join(folder, "api-key"), "utf8").trim()}` };
  try {
    await use({
      direct: () => streamOnce(`${upstreamUrl}/chat/completions`, { model: "bench", stream: true, messages: [] }),
      through: () =>
        streamOnce(`${server.match[1]}/v1/responses`, { model: "bench", stream: true, input: "Hi" }, headers),
      server: server.child,
    });
  } finally {
    server.child.kill("SIGTERM");
    upstream.child.kill("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureThroughput(shape: Shape): Promise<void> {
  await withServer(TOKENS, shape.tokensPerWrite, async ({ through, direct, server }) => {
    await streamMany(WARM_UP_ROUNDS, 4, through);
    await streamMany(WARM_UP_ROUNDS, 4, direct);
    const cpuBefore = cpuMs(server);
    const eventsThrough = await eventsPerSecond(shape, through);
    const cpu = ((cpuMs(server) - cpuBefore) * 1000) / (ROUNDS * TOKENS);
    const eventsDirect = await eventsPerSecond(shape, direct);
    console.log(`\n${shape.name}`);
    console.log(
      `  events a second: ${Math.round(eventsThrough)} through, ${Math.round(eventsDirect)} direct (ratio ${(eventsThrough / eventsDirect).toFixed(2)})`,
    );
    console.log(`  server CPU per 1,000 token events: ${cpu.toFixed(2)} ms (target ${TARGET_CPU_MS_PER_1000})`);
  });
}

async function eventsPerSecond(shape: Shape, once: () => Promise<Streamed>): Promise<number> {
  const started = performance.now();
  const runs = await streamMany(ROUNDS, shape.concurrency, once);
  return (runs.reduce((sum, run) => sum + run.events, 0) * 1000) / (performance.now() - started);
}

/** Calls alternate, so that a noisy machine disturbs both alike. */
async function measureFirstEvent(): Promise<void> {
  await withServer(TOKENS_OF_SHORT_ANSWERS, 1, async ({ through, direct }) => {
    await streamMany(WARM_UP_ROUNDS, 1, through);
    const added: number[] = [];
    const plain: number[] = [];
    for (let round = 0; round < FIRST_EVENT_ROUNDS; round++) {
      const alone = (await direct()).firstByteMs;
      plain.push(alone);
      added.push((await through()).firstByteMs - alone);
    }
    console.log("\ntime to the first event, concurrency 1");
    console.log(
      `  ${median(plain).toFixed(2)} ms direct, ${median(added).toFixed(2)} ms added (target ${TARGET_FIRST_EVENT_MS})`,
    );
  });
}

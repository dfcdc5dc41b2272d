import { cpuMs } from "./processes.ts";
import { median, type Streamed, streamMany, streamOnce } from "./stream-client.ts";
import { type Bench, withServer } from "./with-server.ts";

const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 150);
/** Answers for warm-up before measuring. */
const WARM_UP_ROUNDS = 150;
const TOKENS = 1000;
/** Few tokens, so that the time to the first event does not include reading the rest. */
const TOKENS_OF_SHORT_ANSWERS = 20;
const FIRST_EVENT_ROUNDS = 200;
const TARGET_CPU_MS_PER_1000 = 6;
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

export async function measureThroughput(): Promise<void> {
  for (const shape of SHAPES) {
    await withServer({ tokens: TOKENS, tokensPerWrite: shape.tokensPerWrite }, async (bench) => {
      const { through, direct } = streamsOf(bench);
      await streamMany(WARM_UP_ROUNDS, 4, through);
      await streamMany(WARM_UP_ROUNDS, 4, direct);
      const cpuBefore = cpuMs(bench.server);
      const eventsThrough = await eventsPerSecond(shape, through);
      const cpu = ((cpuMs(bench.server) - cpuBefore) * 1000) / (ROUNDS * TOKENS);
      const eventsDirect = await eventsPerSecond(shape, direct);
      console.log(`\n${shape.name}`);
      console.log(
        `  events a second: ${Math.round(eventsThrough)} through, ${Math.round(eventsDirect)} direct (ratio ${(eventsThrough / eventsDirect).toFixed(2)})`,
      );
      console.log(`  server CPU per 1,000 token events: ${cpu.toFixed(2)} ms (target ${TARGET_CPU_MS_PER_1000})`);
    });
  }
}

async function eventsPerSecond(shape: Shape, once: () => Promise<Streamed>): Promise<number> {
  const started = performance.now();
  const runs = await streamMany(ROUNDS, shape.concurrency, once);
  return (runs.reduce((sum, run) => sum + run.events, 0) * 1000) / (performance.now() - started);
}

/** Alternates the calls, so that noise affects both equally. */
export async function measureFirstEvent(): Promise<void> {
  await withServer({ tokens: TOKENS_OF_SHORT_ANSWERS }, async (bench) => {
    const { through, direct } = streamsOf(bench);
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

/** One streamed answer, directly from the upstream and through the server. */
export function streamsOf({ upstreamUrl, serverUrl, headers }: Bench) {
  return {
    direct: () => streamOnce(`${upstreamUrl}/chat/completions`, { model: "bench", stream: true, messages: [] }),
    through: () => streamOnce(`${serverUrl}/responses`, { model: "bench", stream: true, input: "Hi" }, headers),
  };
}

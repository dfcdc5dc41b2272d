import { setTimeout as sleep } from "node:timers/promises";
import type { LoadGenerator } from "./load-generator.ts";
import type { Outcome } from "./load-job.ts";
import { cpuOfTree, peakBytes, residentBytes } from "./processes.ts";
import type { Asked, Side } from "./sides.ts";

/** One line of the table. */
export interface Figure {
  readonly title: string;
  readonly must: number | null;
  readonly aim: number | null;
  /** Digits after the point. */
  readonly digits: number;
  /** Whether more is better; default: less is. */
  readonly isRate?: boolean;
  /** Whether what the upstream alone takes is subtracted. */
  readonly isOverDirect?: boolean;
}

/** Figures that one load gives together. */
export interface Row {
  readonly figures: readonly Figure[];
  /** Whether each sample needs a new server, since a process never gives back all of its memory. */
  readonly needsNewServer?: boolean;
  /** What makes a server warm: the compiler is at work for thousands of requests. Default: one measurement. */
  warmUp?(side: Side, load: LoadGenerator): Promise<unknown>;
  /** Resolves to the value of each figure. */
  measure(side: Side, load: LoadGenerator): Promise<readonly number[]>;
}

const MEGABYTE = 1_000_000;
const KILOBYTE = 1000;

/** Several tokens a write, so that the upstream is not what limits the streams. */
const TOKENS_PER_WRITE = Number(process.env["BENCH_TOKENS_PER_WRITE"] ?? 4);
/** So that a slow machine measures less instead of longer. */
const SAMPLE_SECONDS_MAX = 6;
const JSON_TOKENS = 20;
const JSON_ANSWER = { shape: { tokens: JSON_TOKENS, perWrite: JSON_TOKENS }, isStreamed: false, atOnce: 16 } as const;
/** After this many requests the rate of a new process rises no further. */
const JSON_WARM_UP = 16_000;
const JSON_SAMPLE = 3200;
const PACED_TOKENS = 100;
const PACE_MS = 20;

const IDLE_STREAMS = 500;
/** Opened in batches, so that the memory for opening a stream is not counted as memory of an open one. */
const IDLE_OPENED_AT_ONCE = 50;
const IDLE_WARM_UP = { count: 2000, atOnce: 8 };
const SETTLE_MS = 1500;

export const ROWS = {
  json: {
    figures: [
      { title: "JSON requests/s, 16 at once", must: 2500, aim: 3500, digits: 0, isRate: true },
      { title: "  CPU ms a request", must: 0.4, aim: 0.28, digits: 3 },
    ],
    warmUp: (side, load) => load.performWell(side.job({ ...JSON_ANSWER, count: JSON_WARM_UP })),
    measure: async (side, load) => {
      const { seconds, cpu, whole } = await timed(side, load, { ...JSON_ANSWER, count: JSON_SAMPLE });
      return [whole / seconds, cpu / whole];
    },
  },
  streams: {
    figures: [
      { title: "tokens/s, 64 streams of 200", must: 130_000, aim: 200_000, digits: 0, isRate: true },
      { title: "  CPU ms per 1,000 token events", must: 7.5, aim: 6, digits: 2 },
    ],
    measure: (side, load) => burst(side, load, { tokens: 200, streams: 512, atOnce: 64 }),
  },
  "long-streams": {
    figures: [
      { title: "tokens/s, 64 streams of 2,000", must: null, aim: null, digits: 0, isRate: true },
      { title: "  CPU ms per 1,000 token events", must: 4.6, aim: 4, digits: 2 },
    ],
    measure: (side, load) => burst(side, load, { tokens: 2000, streams: 64, atOnce: 64 }),
  },
  "first-text": {
    figures: [{ title: "first text over direct, 1 at a time, ms", must: 0.8, aim: 0.4, digits: 2, isOverDirect: true }],
    measure: async (side, load) => {
      const asked = { shape: { tokens: JSON_TOKENS }, count: 150, atOnce: 1 };
      return [(await load.performWell(side.job(asked))).firstTextMs.p50];
    },
  },
  paced: {
    figures: [
      { title: "paced tokens, p99 over direct, 16 streams, ms", must: 3, aim: 1, digits: 1, isOverDirect: true },
      { title: "  CPU ms per 1,000 token events", must: null, aim: null, digits: 0 },
    ],
    measure: (side, load) => paced(side, load, 16),
  },
  "paced-256": {
    figures: [
      { title: "paced tokens, p99 over direct, 256 streams, ms", must: 30, aim: 5, digits: 1, isOverDirect: true },
      { title: "  CPU ms per 1,000 token events", must: null, aim: null, digits: 0 },
    ],
    measure: (side, load) => paced(side, load, 256),
  },
  "burst-memory": {
    figures: [
      { title: "peak RSS, 256 streams of 2,000 at once, MB", must: 500, aim: 300, digits: 0 },
      { title: "  after two more such bursts", must: null, aim: null, digits: 0 },
    ],
    needsNewServer: true,
    measure: async (side, load) => {
      const streams = { tokens: 2000, streams: 256, atOnce: 256 };
      await burst(side, load, { tokens: 200, streams: 64, atOnce: 16 });
      await burst(side, load, streams);
      const first = peakBytes(side.pid) / MEGABYTE;
      await burst(side, load, streams);
      await burst(side, load, streams);
      return [first, peakBytes(side.pid) / MEGABYTE];
    },
  },
  "idle-memory": {
    figures: [{ title: `RSS per open idle stream, ${IDLE_STREAMS} streams, kB`, must: 40, aim: null, digits: 1 }],
    needsNewServer: true,
    measure: idleMemory,
  },
} as const satisfies Readonly<Record<string, Row>>;

interface Timed extends Outcome {
  /** Milliseconds. */
  readonly cpu: number;
}

async function timed(side: Side, load: LoadGenerator, asked: Asked): Promise<Timed> {
  const before = cpuOfTree(side.pid);
  const outcome = await load.performWell(side.job({ ...asked, secondsMax: SAMPLE_SECONDS_MAX }));
  return { ...outcome, cpu: cpuOfTree(side.pid) - before };
}

interface Burst {
  readonly tokens: number;
  readonly streams: number;
  readonly atOnce: number;
}

/** Tokens a second, and the CPU time of 1,000. */
async function burst(side: Side, load: LoadGenerator, { tokens, streams, atOnce }: Burst): Promise<readonly number[]> {
  const shape = { tokens, perWrite: TOKENS_PER_WRITE };
  const { seconds, cpu, whole, texts } = await timed(side, load, { shape, count: streams, atOnce });
  if (texts !== whole * tokens) throw new Error(`${whole} streams of ${tokens} tokens brought ${texts} token events`);
  return [texts / seconds, (cpu * 1000) / texts];
}

/** How late tokens come that the model sends one by one, and the CPU time of 1,000. */
async function paced(side: Side, load: LoadGenerator, streams: number): Promise<readonly number[]> {
  const shape = { tokens: PACED_TOKENS, paceMs: PACE_MS };
  const { delayMs, cpu, texts } = await timed(side, load, { shape, count: streams, atOnce: streams, isDated: true });
  return [delayMs.p99, (cpu * 1000) / texts];
}

/** The memory of an open stream that sends nothing. Before, caches are filled and code is compiled. */
async function idleMemory(side: Side, load: LoadGenerator): Promise<readonly number[]> {
  const shape = { tokens: 1, hangs: true };
  await load.performWell(side.job({ shape, ...IDLE_WARM_UP, atText: "close" }));
  await sleep(SETTLE_MS);
  const before = residentBytes(side.pid);
  const opened = { shape, count: IDLE_STREAMS, atOnce: IDLE_OPENED_AT_ONCE, atText: "hold" } as const;
  await load.performWell(side.job(opened));
  await sleep(SETTLE_MS);
  const after = residentBytes(side.pid);
  load.release();
  return [(after - before) / IDLE_STREAMS / KILOBYTE];
}

import { rmSync } from "node:fs";
import { checkOutBase } from "./base-checkout.ts";
import { LoadGenerator } from "./load-generator.ts";
import { PROBE_FLAGS, takeReport } from "./probe-report.ts";
import type { Probed } from "./probed.ts";
import { type Server, startServer, startUpstream, THIS_TREE, type Upstream } from "./servers.ts";
import { serverSide } from "./sides.ts";

const LOADS = 3;
const STORAGE_MS_MAX = 5;

/** Measures how long the event loop of the server is held under load, and how much of it is SQLite's. */
export async function measureLoopDelay(): Promise<void> {
  const base = checkOutBase();
  const upstream = await startUpstream();
  console.log("\nevent loop under load: JSON requests, 16 at once, beside streams of 2,000 tokens, 64 at once");
  try {
    if (base !== null) print(`base ${base.name}`, await probe(base.root, upstream));
    const { sqlite } = print("this tree", await probe(THIS_TREE, upstream));
    const met = (isMet: boolean): string => (isMet ? "met" : "missed");
    console.log(
      `  no SQLite call in the main thread: ${met(sqlite.calls === 0)}; storage holds the loop for at most ${STORAGE_MS_MAX} ms: ${met(sqlite.longestMs <= STORAGE_MS_MAX)}`,
    );
  } finally {
    upstream.stop();
    base?.remove();
  }
}

async function probe(root: string, upstream: Upstream): Promise<Probed> {
  const file = `/tmp/antiphon-loop-${process.pid}.json`;
  const server = await startServer({ root, upstream, nodeFlags: PROBE_FLAGS, env: { LOOP_PROBE_FILE: file } });
  const loads = { json: new LoadGenerator(), streams: new LoadGenerator() };
  try {
    await loadUp(server, loads); // Warm-up.
    await takeReport(server, file);
    for (let round = 0; round < LOADS; round += 1) await loadUp(server, loads);
    return await takeReport(server, file);
  } finally {
    loads.json.stop();
    loads.streams.stop();
    server.stop();
    rmSync(file, { force: true });
  }
}

interface Loads {
  readonly json: LoadGenerator;
  readonly streams: LoadGenerator;
}

async function loadUp(server: Server, { json, streams }: Loads): Promise<void> {
  const side = serverSide(server, { stores: true });
  const answers = { shape: { tokens: 20, perWrite: 20 }, isStreamed: false, count: 2000, atOnce: 16 };
  const long = { shape: { tokens: 2000, perWrite: 4 }, count: 128, atOnce: 64 };
  await Promise.all([json.performWell(side.job(answers)), streams.performWell(side.job(long))]);
}

function print(name: string, probed: Probed): Probed {
  const { delayMs, sqlite, collections } = probed;
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  console.log(
    `  ${name}: late by p50 ${ms(delayMs.p50)}, p90 ${ms(delayMs.p90)}, p99 ${ms(delayMs.p99)}, p99.9 ${ms(delayMs.p999)}, max ${ms(delayMs.max)}`,
  );
  console.log(
    `    SQLite in the main thread: ${sqlite.calls} calls, longest ${ms(sqlite.longestMs)}, together ${ms(sqlite.totalMs)}; garbage collections: longest ${ms(collections.longestMs)}, together ${ms(collections.totalMs)}`,
  );
  return probed;
}

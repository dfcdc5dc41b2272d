import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { threadCount } from "@antiphon/speech/recognition/whisper/process/thread-count.ts";
import { cpuOfTree } from "../processes.ts";
import { median } from "../statistics.ts";
import { streamSound } from "./live-stream.ts";
import type { Measured } from "./measured.ts";
import { startOurServer } from "./our-server.ts";
import { LAST_UTTERANCE_SECONDS, lastUtterance, spokenSound, wavOf } from "./spoken-sound.ts";
import { writeTimedModel } from "./timed-model.ts";
import { askCli, buildPrograms, startStockServer } from "./whisper-programs.ts";

const CACHE = join(import.meta.dirname, "../../../.cache/bench");
const STOCK_PORT = 18_237;

interface Case {
  readonly seconds: number;
  readonly rounds: number;
  /** How many times as fast as speech all but the last five seconds are sent. */
  readonly pace: number;
}

const CASES: readonly Case[] = [
  { seconds: 2, rounds: 7, pace: 1 },
  { seconds: 5, rounds: 5, pace: 1 },
  { seconds: 15, rounds: 3, pace: 4 },
  { seconds: 60, rounds: 3, pace: 4 },
  { seconds: 300, rounds: 1, pace: 4 },
];

/** Measures only sounds of these lengths in seconds, such as `2,60`. */
const CHOSEN = process.env["BENCH_STT_SECONDS"]?.split(",").map(Number) ?? CASES.map(({ seconds }) => seconds);

/**
 * The same for all three programs. Their threads spin while they wait for each other, so on a busy machine one thread
 * less gives better figures.
 */
const THREADS = Number(process.env["BENCH_STT_THREADS"] ?? threadCount(availableParallelism()));

const SPEEDUP_AT_2_S_MIN = 5;
const TAIL_RATIO_MAX = 1.5;
const SESSIONS = 8;
const SESSION_SECONDS = 30;

/** The three ways to transcribe the same sound, measured in turn. */
interface Ways {
  readonly cli: (samples: Int16Array) => Promise<Measured>;
  readonly stock: (samples: Int16Array) => Promise<Measured>;
  readonly ours: (samples: Int16Array, pace: number) => Promise<Measured>;
  readonly oursUrl: string;
}

/**
 * Measures the time from the end of the sound to its transcript: with a process per request, with whisper.cpp's own
 * server, and with ours, which transcribes during speech.
 */
export async function measureSpeech(): Promise<void> {
  const model = join(CACHE, "ggml-timed-base.en.bin");
  console.log("\nspeech: the programs are built and the model is written, which takes minutes the first time");
  const programs = await buildPrograms(join(CACHE, "whisper"));
  await writeTimedModel(model);
  const folder = mkdtempSync(join(tmpdir(), "antiphon-bench-stt-"));
  const stock = await startStockServer(programs.server, { model, threads: THREADS, port: STOCK_PORT });
  const server = await startOurServer({ folder, model, threads: THREADS, program: programs.server });
  try {
    await measureWays({
      oursUrl: server.url,
      cli: (samples) => {
        const path = join(folder, "sound.wav");
        writeFileSync(path, wavOf(samples));
        return askCli(programs.cli, model, THREADS, path);
      },
      stock: (samples) => withCpu(stock.pid, async () => (await stock.ask(wavOf(samples))).waitMs),
      ours: (samples, pace) => withCpu(server.pid, async () => (await streamSound(server.url, samples, pace)).waitMs),
    });
  } finally {
    stock.stop();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureWays(ways: Ways): Promise<void> {
  const { cli, stock, ours, oursUrl } = ways;
  for (const once of [cli, stock]) await once(spokenSound(2)); // Warm-up.
  await ours(spokenSound(2), 1);
  console.log(
    `from the end of the sound to its words, and processor time of all that works for it; medians, ${THREADS} threads`,
  );
  for (const { seconds, rounds, pace } of CASES.filter((one) => CHOSEN.includes(one.seconds))) {
    const samples = spokenSound(seconds);
    const results: { cli: Measured[]; stock: Measured[]; ours: Measured[]; tail: Measured[] } = {
      cli: [],
      stock: [],
      ours: [],
      tail: [],
    };
    for (let round = 0; round < rounds; round += 1) {
      results.cli.push(await cli(samples));
      results.stock.push(await stock(samples));
      results.ours.push(await ours(samples, pace));
      if (seconds > LAST_UTTERANCE_SECONDS) results.tail.push(await ours(lastUtterance(), 1));
    }
    report(seconds, results);
  }
  await measureSessions(oursUrl);
}

function report(
  seconds: number,
  results: Readonly<Record<"cli" | "stock" | "ours" | "tail", readonly Measured[]>>,
): void {
  const waitOf = (of: readonly Measured[]): number => median(of.map(({ waitMs }) => waitMs));
  const text = (of: readonly Measured[]): string =>
    `${waitOf(of).toFixed(0)} ms (CPU ${median(of.map(({ cpuMs }) => cpuMs)).toFixed(0)} ms)`;
  const { cli, stock, ours, tail } = results;
  const speedup = (of: readonly Measured[]): string => `${(waitOf(of) / waitOf(ours)).toFixed(1)} times`;
  console.log(`\n${seconds} s`);
  console.log(`  a process per request ${text(cli)}, stock server ${text(stock)}, ours ${text(ours)}`);
  const target = seconds === 2 ? ` (target at least ${SPEEDUP_AT_2_S_MIN})` : "";
  console.log(`  ours is ${speedup(cli)} faster than a process${target}, ${speedup(stock)} than the stock server`);
  if (tail.length > 0) {
    const ratio = (waitOf(ours) / waitOf(tail)).toFixed(2);
    const tailTarget = seconds === 60 ? ` (target at most ${TAIL_RATIO_MAX})` : "";
    console.log(`  ${ratio} times what the last ${LAST_UTTERANCE_SECONDS} s alone take${tailTarget}`);
  }
}

/** Measures parallel streams at the pace of speech. */
async function measureSessions(url: string): Promise<void> {
  const sound = spokenSound(SESSION_SECONDS);
  const ends = await Promise.allSettled(Array.from({ length: SESSIONS }, () => streamSound(url, sound, 1)));
  const waits = ends.flatMap((end) => (end.status === "fulfilled" && end.value.text !== "" ? [end.value.waitMs] : []));
  console.log(`\n${SESSIONS} sessions at once of ${SESSION_SECONDS} s, as fast as they are spoken`);
  console.log(
    `  ${SESSIONS - waits.length} failed (target 0); words after ${median(waits).toFixed(0)} ms, the last after ${Math.max(...waits).toFixed(0)} ms`,
  );
}

async function withCpu(pid: number, once: () => Promise<number>): Promise<Measured> {
  const before = cpuOfTree(pid);
  const waitMs = await once();
  return { waitMs, cpuMs: cpuOfTree(pid) - before };
}

import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { builtServer } from "@antiphon/speech/recognition/whisper/process/build-server.ts";
import { threadCount } from "@antiphon/speech/recognition/whisper/process/thread-count.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { engineFolder } from "../../src/servers/choices/choose-speech.ts";
import { cpuOfTree } from "../bench/processes.ts";
import { median } from "../bench/statistics.ts";
import { fetchSources } from "./sources.ts";
import { readUtterances, type Utterance } from "./utterances.ts";
import { startWays, type Way } from "./ways.ts";
import { spokenWords, wordErrors } from "./word-errors.ts";

/**
 * Measures word errors and time on recorded human speech, for whisper.cpp's own server and for ours, with the same
 * model and recordings. Downloads 82 MB on the first run.
 */
const CACHE = join(import.meta.dirname, "../../.cache/real-speech");

/** One in this many recordings is sent again at the end, to see whether the words are the same. */
const REPEATED_SHARE = 4;

interface Result {
  readonly said: Utterance;
  readonly text: string;
  readonly ms: number;
  /** CPU time of the server and its engine, in milliseconds. */
  readonly cpuMs: number;
  readonly words: number;
  readonly errors: number;
}

const { values } = parseArgs({
  options: {
    every: { type: "string", default: "1" },
    errors: { type: "boolean", default: false },
    /** Skips the slow runs with full windows. */
    fitted: { type: "boolean", default: false },
  },
});

const sources = fetchSources(CACHE);
const program = await engineProgram();
const every = Math.max(1, Number(values.every));
const utterances = readUtterances(sources.speech).filter((_, index) => index % every === 0);
const words = utterances.reduce((sum, { transcript }) => sum + spokenWords(transcript).length, 0);
const seconds = utterances.reduce((sum, { samples }) => sum + samples.length / 16_000, 0);
const threads = threadCount(availableParallelism());
console.log(
  `${utterances.length} recordings of ${seconds.toFixed(0)} s, ${words} words; tiny.en, ${threads} threads. All recordings take half an hour on two cores.`,
);

const folder = mkdtempSync(join(tmpdir(), "antiphon-real-speech-"));
const ways = await startWays({ folder, model: sources.model, threads, program });
try {
  await measure(values.fitted ? ways.fitted : ways.all);
} finally {
  await ways.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function measure(all: readonly [Way, ...Way[]]): Promise<void> {
  const results = new Map<Way, Result[]>(all.map((way) => [way, []]));
  const [first] = utterances;
  // Warm-up, because the first answer of each is slower.
  for (const way of all) if (first !== undefined) await way.ask(first.samples);
  for (const said of utterances)
    for (const [way, heard] of results) {
      const cpuBefore = cpuOfTree(way.pid);
      const { text, ms } = await way.ask(said.samples);
      const cpuMs = cpuOfTree(way.pid) - cpuBefore;
      const wordsSaid = spokenWords(said.transcript);
      heard.push({ said, text, ms, cpuMs, words: wordsSaid.length, errors: wordErrors(wordsSaid, spokenWords(text)) });
    }
  const stock = results.get(all[0]) ?? [];
  console.log("\nword errors, and speed relative to whisper.cpp's own server: total time, median, total CPU time");
  for (const [way, heard] of results) report(way, heard, stock);
  for (const [way, heard] of results) if (way.isOurs) await repeat(way, heard);
}

function report({ name }: Way, heard: readonly Result[], stock: readonly Result[]): void {
  const errors = heard.reduce((sum, result) => sum + result.errors, 0);
  const wrong = ((100 * errors) / words).toFixed(2);
  const ratios = heard.map(({ ms }, index) => (stock[index]?.ms ?? Number.NaN) / ms);
  const together = sumOf(stock, "ms") / sumOf(heard, "ms");
  const byProcessor = sumOf(stock, "cpuMs") / sumOf(heard, "cpuMs");
  const faster = [together, median(ratios), byProcessor].map((times) => times.toFixed(2)).join(", ");
  const each = `${(sumOf(heard, "ms") / heard.length).toFixed(0)} ms each`;
  console.log(`  ${name.padEnd(26)} ${wrong} % (${errors} of ${words})   ${each}   ${faster}`);
  if (!values.errors) return;
  for (const { said, text, errors: count } of heard)
    if (count > 0) console.log(`    ${count} in ${said.name}: "${said.transcript}" was heard as "${text.trim()}"`);
}

function sumOf(results: readonly Result[], what: "ms" | "cpuMs"): number {
  return results.reduce((sum, result) => sum + result[what], 0);
}

/** Sends recordings again in another order, so that a different recording precedes each. */
async function repeat(way: Way, heard: readonly Result[]): Promise<void> {
  const again = heard.filter((_, index) => index % REPEATED_SHARE === 0).toReversed();
  const different: string[] = [];
  for (const { said, text } of again) {
    const { text: second } = await way.ask(said.samples);
    if (second !== text) different.push(`"${text.trim()}" and then "${second.trim()}"`);
  }
  const all = `${again.length - different.length} of ${again.length} repeated recordings gave the same words`;
  console.log(`  ${way.name.padEnd(26)} ${all}${different.map((pair) => `\n    ${pair}`).join("")}`);
}

/** Returns the path of the `whisper-server` that our server builds. */
async function engineProgram(): Promise<string> {
  const onProgress = (percent: number | null): void => {
    console.log(`Building the speech engine (once): ${percent === null ? "started" : `${percent} %`}`);
  };
  const build = { folder: engineFolder(loadConfig(process.env, [])), onProgress };
  return (await builtServer(build, new AbortController().signal)).program;
}

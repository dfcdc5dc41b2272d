import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import type { Store } from "../../../src/store/open-store.ts";
import type { IndexedChunk } from "../../../src/vector-stores/ports/chunks.ts";
import type { ChunkQuestion } from "../../../src/vector-stores/ports/search.ts";
import { median, quantile } from "../statistics.ts";
import {
  addChunks,
  type BenchDatabase,
  benchDatabases,
  claim,
  createVectorStore,
  finish,
  OWNER,
  openBenchStore,
} from "./bench-store.ts";

const CHUNKS_OF_FILE = 100;
/** As many as the server takes in at once. */
const CHUNKS_AT_ONCE = 16;
const COMPARED_CHUNKS = 10_000;
const ALL_CHUNKS = 100_000;
const WORDS_OF_CHUNK = 200;
const DIFFERENT_WORDS = 60_000;
const MODEL = { name: "bench", dimensions: 384 };
const SEARCHES = 60;
const SEARCHES_AT_ONCE = 4;
const PER_KIND = 50;
const WORDS_MS_MAX = 30;
const MEANING_MS_MAX = 60;
const HELD_MS_MAX = 20;
const MEBIBYTE = 1024 * 1024;
const NEVER = new AbortController().signal;

/**
 * Measures taking in beside a bare insertion of the same texts into FTS5, and searches of 100,000 chunks. Words follow
 * Zipf's law; vectors are random, which costs as much as true ones.
 */
export async function measureSearchSpeed(): Promise<void> {
  for (const database of benchDatabases()) await measureOn(database);
}

async function measureOn(database: BenchDatabase): Promise<void> {
  console.log(`\n${database}`);
  seed = 1;
  const bench = await openBenchStore(database);
  const { folder, store } = bench;
  try {
    const names = Array.from({ length: ALL_CHUNKS / CHUNKS_OF_FILE }, (_, index) => ({ name: `${index}.txt` }));
    const storeId = await createVectorStore(store, names);
    await compareTakingIn(store, bareIndex(folder));
    for (let taken = COMPARED_CHUNKS; taken < ALL_CHUNKS; taken += CHUNKS_OF_FILE) await takeIn(store, fileOfChunks());
    console.log(`search among ${ALL_CHUNKS} chunks`);
    const beforeBytes = process.memoryUsage.rss();
    await measureSearches(store, storeId);
    const [before, after] = [beforeBytes, process.memoryUsage.rss()].map((bytes) => Math.round(bytes / MEBIBYTE));
    console.log(`  memory of the process with its threads: ${before} MiB before the searches, ${after} MiB after them`);
  } finally {
    await bench.close();
  }
}

async function compareTakingIn(store: Store, insertBare: (texts: readonly string[]) => void): Promise<void> {
  const ours: number[] = [];
  const bare: number[] = [];
  for (let taken = 0; taken < COMPARED_CHUNKS; taken += CHUNKS_OF_FILE) {
    const chunks = fileOfChunks();
    ours.push(...(await takeIn(store, chunks)));
    for (const some of portions(chunks)) {
      const startedMs = performance.now();
      insertBare(some.map(({ text }) => text));
      bare.push(performance.now() - startedMs);
    }
  }
  const sum = (times: readonly number[]): number => times.reduce((total, ms) => total + ms, 0);
  console.log(`\ntaking in ${COMPARED_CHUNKS} chunks of ${WORDS_OF_CHUNK} words, ${CHUNKS_AT_ONCE} at once`);
  for (const [name, times] of [["ours, with vectors", ours] as const, ["bare FTS5", bare] as const])
    console.log(
      `  ${name}: ${(sum(times) / COMPARED_CHUNKS).toFixed(3)} ms a chunk; a portion p50 ${median(times).toFixed(1)}, p99 ${quantile(times, 0.99).toFixed(1)}, longest ${Math.max(...times).toFixed(1)} ms`,
    );
  console.log(`  ratio ${(sum(ours) / sum(bare)).toFixed(2)}`);
}

/** Inserts texts into FTS5 with the tokenizer of its own, in one transaction. */
function bareIndex(folder: string): (texts: readonly string[]) => void {
  mkdirSync(join(folder, "bare"));
  const database = new DatabaseSync(join(folder, "bare/index.db"));
  database.exec("pragma journal_mode = wal; pragma synchronous = normal; create virtual table bare using fts5(text)");
  const insert = database.prepare("insert into bare (text) values (?)");
  return (texts) => {
    database.exec("begin");
    for (const text of texts) insert.run(text);
    database.exec("commit");
  };
}

/** Takes in one file; resolves to the milliseconds of each portion. */
async function takeIn(store: Store, chunks: readonly IndexedChunk[]): Promise<readonly number[]> {
  const task = await claim(store);
  const times: number[] = [];
  for (const some of portions(chunks)) {
    const startedMs = performance.now();
    await addChunks(store, task, some, MODEL);
    times.push(performance.now() - startedMs);
  }
  await finish(store, task);
  return times;
}

function* portions(chunks: readonly IndexedChunk[]): Generator<readonly IndexedChunk[]> {
  for (let start = 0; start < chunks.length; start += CHUNKS_AT_ONCE) yield chunks.slice(start, start + CHUNKS_AT_ONCE);
}

async function measureSearches(store: Store, storeId: string): Promise<void> {
  const byWords = (count: number): ChunkQuestion => ({
    words: [...new Set(someWords(count))].map((word) => [word]),
    stopWords: [],
    vectors: [],
  });
  const byMeaning = (): ChunkQuestion => ({
    words: [],
    stopWords: [],
    vectors: [{ model: MODEL, vector: randomVector(), commonShare: 0.4 }],
  });
  const kinds: readonly (readonly [string, () => ChunkQuestion, number])[] = [
    ["4 words", () => byWords(4), WORDS_MS_MAX],
    ["8 words", () => byWords(8), WORDS_MS_MAX],
    ["meaning", byMeaning, MEANING_MS_MAX],
    ["both", () => ({ ...byMeaning(), words: byWords(6).words }), WORDS_MS_MAX + MEANING_MS_MAX],
  ];
  for (const [name, ask, most] of kinds) {
    const find = async (): Promise<number> => {
      const question = ask();
      const startedMs = performance.now();
      await store.chunks.find({ owner: OWNER, storeIds: [storeId], filter: null }, [question], PER_KIND, NEVER);
      return performance.now() - startedMs;
    };
    await find(); // The first loads what the others find in memory.
    const times: number[] = [];
    const cpuBefore = process.cpuUsage();
    while (times.length < SEARCHES) times.push(await find());
    const { user, system } = process.cpuUsage(cpuBefore);
    const cpuMs = (user + system) / 1000 / SEARCHES;
    const held = await heldWhile(async () => {
      for (let asked = 0; asked < SEARCHES; asked += SEARCHES_AT_ONCE)
        await Promise.all(Array.from({ length: SEARCHES_AT_ONCE }, find));
    });
    const p50 = median(times);
    console.log(
      `  ${name}: p50 ${p50.toFixed(1)} ms (${p50 < most ? "met" : "missed"}: ${most}), p95 ${quantile(times, 0.95).toFixed(1)} ms, ${cpuMs.toFixed(1)} ms of processor time; event loop held for at most ${held.toFixed(1)} ms (${held <= HELD_MS_MAX ? "met" : "missed"}: ${HELD_MS_MAX})`,
    );
  }
}

/** The longest time in milliseconds for which the event loop of this process was late. */
async function heldWhile(work: () => Promise<void>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await work();
  delay.disable();
  return delay.max / 1e6;
}

function fileOfChunks(): readonly IndexedChunk[] {
  return Array.from({ length: CHUNKS_OF_FILE }, (_, ordinal) => {
    const words = someWords(WORDS_OF_CHUNK);
    const text = words.join(" ");
    const start = ordinal * text.length;
    const place = { ordinal, start, end: start + text.length, headings: [], columns: null };
    return { ...place, text, words, language: "eng", vector: randomVector() };
  });
}

/** How often words come up to each of them, the most frequent first. */
const FREQUENCIES = Float64Array.from({ length: DIFFERENT_WORDS });
let seen = 0;
for (let rank = 0; rank < DIFFERENT_WORDS; rank += 1) FREQUENCIES[rank] = seen += 1 / (rank + 1);

let seed = 1;

/** From 0 to 1, the same in each run. */
function random(): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
}

function someWords(count: number): string[] {
  return Array.from({ length: count }, () => {
    const wanted = random() * seen;
    let low = 0;
    let high = DIFFERENT_WORDS - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((FREQUENCIES[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return `w${low.toString(36)}`;
  });
}

/** Of unit length. */
function randomVector(): Float32Array {
  const vector = Float32Array.from({ length: MODEL.dimensions }, () => random() - 0.5);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

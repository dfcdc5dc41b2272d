import { writeFileSync } from "node:fs";
import { monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { isMainThread } from "node:worker_threads";
import type { Probed } from "./probed.ts";

/**
 * Loaded before the server with `--import`: measures how long the event loop is held, and by what. At each SIGUSR2 it
 * writes what it measured since the last one into the file that `LOOP_PROBE_FILE` names.
 */
const RESOLUTION_MS = 1;
/** How often the processor time of the thread is read. A longer interval means that one turn of the loop held it. */
const CPU_READ_EVERY_MS = 1;
const SLEEP_MS = 0.05;
const NEVER_SET = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
const MICROSECONDS_PER_MS = 1e3;
const NANOSECONDS_PER_MS = 1e6;
const CALLS = {
  database: ["exec", "prepare"],
  statement: ["all", "get", "run", "iterate"],
} as const;

const sqlite = { calls: 0, longestMs: 0, totalMs: 0 };
const collections = { longestMs: 0, totalMs: 0 };
const pieces = { longestMs: 0, totalMs: 0 };

function note(figures: { longestMs: number; totalMs: number }, ms: number): void {
  figures.longestMs = Math.max(figures.longestMs, ms);
  figures.totalMs += ms;
}

/** Replaces a method by one that notes how long it took. */
function watch(prototype: object, name: string): void {
  const method: unknown = Reflect.get(prototype, name);
  if (typeof method !== "function") return;
  Reflect.set(prototype, name, function (this: unknown, ...given: unknown[]): unknown {
    const startedAt = performance.now();
    try {
      return Reflect.apply(method, this, given);
    } finally {
      sqlite.calls += 1;
      note(sqlite, performance.now() - startedAt);
    }
  });
}

function report(delay: ReturnType<typeof monitorEventLoopDelay>): Probed {
  const quantile = (share: number): number =>
    Math.max(0, delay.percentile(share * 100) / NANOSECONDS_PER_MS - RESOLUTION_MS);
  return {
    delayMs: { p50: quantile(0.5), p90: quantile(0.9), p99: quantile(0.99), p999: quantile(0.999), max: quantile(1) },
    sqlite,
    collections,
    pieces,
  };
}

/**
 * The processor time of this thread until now, in milliseconds. The thread sleeps first, because Linux updates the time
 * of a running thread only at its ticks, which are 4 ms apart, but that of a sleeping one at once.
 */
function cpuMs(): number {
  Atomics.wait(NEVER_SET, 0, 0, SLEEP_MS);
  const { user, system } = process.threadCpuUsage();
  return (user + system) / MICROSECONDS_PER_MS;
}

/** Notes the processor time between two ticks of a timer, which no turn of the loop can exceed. */
function watchPieces(): void {
  let before = cpuMs();
  setInterval(() => {
    const now = cpuMs();
    note(pieces, now - before);
    before = now;
  }, CPU_READ_EVERY_MS).unref();
}

function start(file: string): void {
  for (const name of CALLS.database) watch(DatabaseSync.prototype, name);
  for (const name of CALLS.statement) watch(StatementSync.prototype, name);
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) note(collections, duration);
  }).observe({ entryTypes: ["gc"] });
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  watchPieces();
  process.on("SIGUSR2", () => {
    writeFileSync(file, JSON.stringify(report(delay)));
    delay.reset();
    Object.assign(sqlite, { calls: 0, longestMs: 0, totalMs: 0 });
    Object.assign(collections, { longestMs: 0, totalMs: 0 });
    Object.assign(pieces, { longestMs: 0, totalMs: 0 });
  });
}

const file = process.env["LOOP_PROBE_FILE"];
if (isMainThread && file !== undefined) start(file);

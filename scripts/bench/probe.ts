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
const NANOSECONDS_PER_MS = 1e6;
const CALLS = {
  database: ["exec", "prepare"],
  statement: ["all", "get", "run", "iterate"],
} as const;

const sqlite = { calls: 0, longestMs: 0, totalMs: 0 };
const collections = { longestMs: 0, totalMs: 0 };

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
  };
}

function start(file: string): void {
  for (const name of CALLS.database) watch(DatabaseSync.prototype, name);
  for (const name of CALLS.statement) watch(StatementSync.prototype, name);
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) note(collections, duration);
  }).observe({ entryTypes: ["gc"] });
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  process.on("SIGUSR2", () => {
    writeFileSync(file, JSON.stringify(report(delay)));
    delay.reset();
    Object.assign(sqlite, { calls: 0, longestMs: 0, totalMs: 0 });
    Object.assign(collections, { longestMs: 0, totalMs: 0 });
  });
}

const file = process.env["LOOP_PROBE_FILE"];
if (isMainThread && file !== undefined) start(file);

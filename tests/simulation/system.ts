import crypto from "node:crypto";
import fs from "node:fs";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import timersPromises from "node:timers/promises";
import { randomHex } from "@antiphon/base/ids.ts";
import type { Random } from "./random.ts";
import type { Scheduler, Step } from "./scheduler.ts";

/** The Unix time at which every simulation begins, in milliseconds. */
const BEGINNING_MS = 1_800_000_000_000;
const NANOSECONDS_PER_MS = 1_000_000;
/** What `randomHex` draws at a time, in hexadecimal digits. */
const POOL_DIGITS = 8_192;

/** What time and chance are at this moment. */
interface World {
  readonly scheduler: Scheduler;
  readonly random: Random;
}

let world: World | null = null;

function current(): World {
  if (world === null) throw new Error("no simulation runs");
  return world;
}

/** A timer of simulated time. */
class SimulatedTimer {
  #step: Step | null = null;

  begin(ms: number, run: () => void, isRepeated: boolean): this {
    const { scheduler } = current();
    const delay = Math.max(1, Number.isNaN(ms) ? 1 : ms);
    this.#step = scheduler.plan(scheduler.current, delay, `timer of ${delay} ms`, () => {
      if (isRepeated) this.begin(ms, run, true);
      run();
    });
    return this;
  }

  atOnce(run: () => void): this {
    const { scheduler } = current();
    this.#step = scheduler.plan(scheduler.current, 0, "next turn", run);
    return this;
  }

  cancel(): void {
    if (this.#step !== null) this.#step.run = null;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  [Symbol.dispose](): void {
    this.cancel();
  }
}

type Callback = (...args: unknown[]) => void;

const globals = {
  setTimeout: (run: Callback, ms: number, ...args: unknown[]) =>
    new SimulatedTimer().begin(ms, () => run(...args), false),
  setInterval: (run: Callback, ms: number, ...args: unknown[]) =>
    new SimulatedTimer().begin(ms, () => run(...args), true),
  setImmediate: (run: Callback, ...args: unknown[]) => new SimulatedTimer().atOnce(() => run(...args)),
  clearTimeout: cancel,
  clearInterval: cancel,
  clearImmediate: cancel,
};

function cancel(timer: unknown): void {
  if (timer instanceof SimulatedTimer) timer.cancel();
}

function sleep(ms: number, value: unknown, options?: { readonly signal?: AbortSignal }): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const signal = options?.signal;
    const leave = (): void => {
      timer.cancel();
      reject(new DOMException("This operation was aborted", "AbortError"));
    };
    const timer = new SimulatedTimer().begin(
      ms,
      () => {
        signal?.removeEventListener("abort", leave);
        resolve(value);
      },
      false,
    );
    if (signal?.aborted === true) leave();
    else signal?.addEventListener("abort", leave, { once: true });
  });
}

const RealDate = Date;

class SimulatedDate extends RealDate {
  // oxlint-disable-next-line typescript/no-explicit-any -- The constructor of dates has many forms.
  constructor(...args: any[]) {
    if (args.length === 0) super(SimulatedDate.now());
    // @ts-expect-error -- All forms of the real constructor.
    else super(...args);
  }

  static override now(): number {
    return Math.floor(BEGINNING_MS + current().scheduler.now);
  }
}

function fillRandomly<Bytes extends NodeJS.ArrayBufferView>(bytes: Bytes): Bytes {
  const { random } = current();
  const view = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let place = 0; place < view.length; place += 1) view[place] = random.below(256);
  return bytes;
}

/** Replaces time, timers and chance of this process by simulated ones, for good. */
export function simulateSystem(): void {
  Object.assign(globalThis, globals, { Date: SimulatedDate });
  Object.assign(timers, globals);
  Object.assign(timersPromises, {
    setTimeout: sleep,
    setImmediate: (value: unknown) => new Promise((resolve) => void globals.setImmediate(() => resolve(value))),
  });
  performance.now = () => current().scheduler.now;
  process.hrtime.bigint = () => BigInt(Math.round(current().scheduler.now * NANOSECONDS_PER_MS));
  AbortSignal.timeout = (ms: number) => {
    const controller = new AbortController();
    globals.setTimeout(() => controller.abort(new DOMException("The operation timed out", "TimeoutError")), ms);
    return controller.signal;
  };
  Math.random = () => current().random.next();
  Object.assign(crypto, {
    randomBytes: (size: number) => fillRandomly(Buffer.alloc(size)),
    randomFillSync: fillRandomly,
    randomInt: (end: number) => current().random.below(end),
  });
  makeFilesSynchronous();
  syncBuiltinESMExports();
}

/** A file is read or written within the step that asks for it: the system's threads would make the order random. */
function makeFilesSynchronous(): void {
  for (const name of ["mkdir", "readdir", "rm", "stat", "statfs", "unlink"] as const) {
    const work: unknown = fs[`${name}Sync`];
    if (typeof work !== "function") continue;
    Object.assign(promises, { [name]: async (...args: unknown[]): Promise<unknown> => work(...args) });
  }
}

/** Time and chance of the next seed. */
export function beginWorld(scheduler: Scheduler, random: Random): void {
  world = { scheduler, random };
  // Uses up what an earlier seed has drawn.
  randomHex(POOL_DIGITS);
}

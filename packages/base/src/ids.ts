import { randomFillSync } from "node:crypto";

const MS_PER_S = 1000;

/**
 * The part that the ids of one response and its items share: 16 hex digits of key, `00`, and the creation time in Unix
 * seconds. Clients treat ids as opaque.
 */
export interface IdStem {
  readonly key: string;
  readonly createdAt: number;
  /**
   * 16 hex digits: the first three are the millisecond of that second, the others are random. With a counter of 8
   * digits they end each item's id, so that ids need no clock and no random numbers.
   */
  readonly seed: string;
}

/** Contains the millisecond, so that ids of one second sort by time too and new ones are last in an index. */
export function newIdStem(createdAt: number, key: string = randomHex(16)): IdStem {
  return { key, createdAt, seed: hex(millisecondOf(createdAt), 3) + randomHex(14).slice(1) };
}

/** The current millisecond of this second; its last one if it has just passed. */
function millisecondOf(second: number): number {
  return Math.min(MS_PER_S - 1, Math.max(0, Date.now() - second * MS_PER_S));
}

/**
 * The id number `counter` of a stem: deterministic, unique per prefix and counter, and not guessable without the seed.
 */
export function idFromStem(prefix: string, stem: IdStem, counter: number): string {
  return `${prefix}_${stem.key}00${hex(stem.createdAt, 8)}${stem.seed}${hex(counter, 8)}`;
}

/** The stem of an id from `idFromStem`. */
export function stemFromId(id: string): IdStem {
  const [, key = "", createdAt = "", seed = ""] =
    /_([0-9a-f]{16})00([0-9a-f]{8})([0-9a-f]{16})[0-9a-f]{8}$/.exec(id) ?? [];
  return { key, createdAt: Number.parseInt(createdAt, 16), seed };
}

/** The creation time of an id's stem, in Unix milliseconds; null if the id is not from `idFromStem`. */
export function timeOfId(id: string): number | null {
  const { createdAt, seed } = stemFromId(id);
  return seed === "" ? null : createdAt * MS_PER_S + Number.parseInt(seed.slice(0, 3), 16);
}

/** The counter of an id from `idFromStem`; null for any other id. */
export function numberOfId(id: string): number | null {
  const counter = /_[0-9a-f]{16}00[0-9a-f]{24}([0-9a-f]{8})$/.exec(id)?.[1];
  return counter === undefined ? null : Number.parseInt(counter, 16);
}

/**
 * Creates an id without a stem: `prefix_` and 48 hex digits. The first eight are the creation time in Unix seconds; the
 * last 16 are a key that several ids may share.
 */
export function newId(prefix: string, createdAt: number, key: string = randomHex(16)): string {
  return `${prefix}_${hex(createdAt, 8)}${randomHex(24)}${key}`;
}

/** The key of an id from `newId`; undefined for any other id. */
export function keyOfId(id: string): string | undefined {
  return /^[a-z]+_[0-9a-f]{32}([0-9a-f]{16})$/.exec(id)?.[1];
}

export function newRequestId(): string {
  return `req_${randomHex(32)}`;
}

/** Unused random bytes. Generating many at once costs a hundredth of generating each id's few. */
const pool = { bytes: Buffer.alloc(4096), at: 4096 };

/** `digits` is even and at most 8,192. */
export function randomHex(digits: number): string {
  const length = digits / 2;
  if (pool.at + length > pool.bytes.length) {
    randomFillSync(pool.bytes);
    pool.at = 0;
  }
  const from = pool.at;
  pool.at += length;
  return pool.bytes.toString("hex", from, pool.at);
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0").slice(-digits);
}

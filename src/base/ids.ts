import { randomBytes } from "node:crypto";

/**
 * The random part shared by the ids of one response and its items: 16 hex digits of key, then `00`, then the second of
 * creation. Clients treat ids as opaque; only the prefix is ever checked.
 */
export interface IdStem {
  readonly key: string;
  readonly createdAt: number;
  /**
   * 16 hex digits; with a counter of 8 more it makes the tail of each item's id, so that ids can be derived without a
   * clock or a die.
   */
  readonly seed: string;
}

export function newIdStem(createdAt: number, key: string = randomHex(16)): IdStem {
  return { key, createdAt, seed: randomHex(16) };
}

/** The `counter`-th id of a stem: deterministic, unique per prefix and counter, not guessable without the seed. */
export function idFromStem(prefix: string, stem: IdStem, counter: number): string {
  return `${prefix}_${stem.key}00${hex(stem.createdAt, 8)}${stem.seed}${hex(counter, 8)}`;
}

/** The stem that an id of `idFromStem` was made from. */
export function stemFromId(id: string): IdStem {
  const [, key = "", createdAt = "", seed = ""] =
    /_([0-9a-f]{16})00([0-9a-f]{8})([0-9a-f]{16})[0-9a-f]{8}$/.exec(id) ?? [];
  return { key, createdAt: Number.parseInt(createdAt, 16), seed };
}

/** The counter that an id of `idFromStem` was made with; null for any other id. */
export function numberOfId(id: string): number | null {
  const counter = /_[0-9a-f]{16}00[0-9a-f]{24}([0-9a-f]{8})$/.exec(id)?.[1];
  return counter === undefined ? null : Number.parseInt(counter, 16);
}

/**
 * A fresh id of no stem: `prefix_` and 48 hex digits, the first eight of them the second of creation, the last 16 the
 * key it may share with others.
 */
export function newId(prefix: string, createdAt: number, key: string = randomHex(16)): string {
  return `${prefix}_${hex(createdAt, 8)}${randomHex(24)}${key}`;
}

/** The key of an id made by `newId`; undefined if it was made otherwise. */
export function keyOfId(id: string): string | undefined {
  return /^[a-z]+_[0-9a-f]{32}([0-9a-f]{16})$/.exec(id)?.[1];
}

export function newRequestId(): string {
  return `req_${randomHex(32)}`;
}

export function randomHex(digits: number): string {
  return randomBytes(digits / 2).toString("hex");
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0").slice(-digits);
}

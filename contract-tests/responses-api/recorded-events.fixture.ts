import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "../records.fixture.ts";
import { nameOfEvent } from "./stream-situations.fixture.ts";

/** Reads every `NAME.chunks.txt`, a recorded stream of the reference with one event per line. */
export function readRecordedEvents(folder: string): unknown[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(".chunks.txt"));
  const lines = files.flatMap((file) => readFileSync(join(folder, file), "utf8").split("\n"));
  return lines.filter((line) => line.trim() !== "").map((line): unknown => JSON.parse(line));
}

/** Snapshots are not compared, because the recordings lack the newest members of a response. */
export function isSnapshot(event: unknown): boolean {
  return isRecord(event) && "response" in event;
}

/**
 * True if both events have the same members of the same types, and the same lists are empty. All errors count as one
 * kind.
 */
export function isOfOneKind(example: unknown, event: unknown): boolean {
  if (nameOfEvent(example) !== nameOfEvent(event) || !isRecord(example) || isSnapshot(example)) return false;
  return "error" in example || isLike(example, event);
}

function isLike(example: unknown, value: unknown): boolean {
  if (Array.isArray(example) && Array.isArray(value)) {
    if (example.length === 0) return value.length === 0;
    return example.every((element) => value.some((other) => isLike(element, other)));
  }
  if (!isRecord(example) || !isRecord(value)) return true;
  return (
    WORDS.every((word) => !(word in example) || example[word] === value[word]) &&
    OPTIONAL.every((member) => member in example === member in value) &&
    Object.entries(example).every(([name, member]) => isLike(member, value[name]))
  );
}

/** Members that background events or shortened recordings may lack. */
const OPTIONAL = ["logprobs", "obfuscation"];
/** Members whose value distinguishes one kind of event or item from another. */
const WORDS = ["type", "status", "phase"];

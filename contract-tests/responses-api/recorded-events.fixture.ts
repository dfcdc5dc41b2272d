import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "../records.fixture.ts";
import { nameOfEvent } from "./stream-situations.fixture.ts";

/** `NAME.chunks.txt` holds streams of the reference, one event a line. */
export function readRecordedEvents(folder: string): unknown[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(".chunks.txt"));
  const lines = files.flatMap((file) => readFileSync(join(folder, file), "utf8").split("\n"));
  return lines.filter((line) => line.trim() !== "").map((line): unknown => JSON.parse(line));
}

/** Recordings are older than the newest members of a response, so its snapshots are not among what is compared. */
export function isSnapshot(event: unknown): boolean {
  return isRecord(event) && "response" in event;
}

/**
 * One event stands for another if both carry the same kinds of things, and lists are empty in both or in neither. Any
 * error stands for any other.
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

/** Background events are not padded, and events of a shortened recording have neither. */
const OPTIONAL = ["logprobs", "obfuscation"];
/** By these one kind of thing differs from another. */
const WORDS = ["type", "status", "phase"];

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readResponse, readResponseStreamEvent } from "@antiphon/contracts/responses-api/readers.js";
import type { Response, ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";

/** Folder of recordings: `NAME.chunks.txt` is a stream with one event per line, `NAME.json` a plain body. */
export const RECORDINGS = process.env["REFERENCE_RECORDINGS"];

/** Recordings may be older than our contract or shortened, so most members are optional. */
export type RecordedResponse = Pick<Response, "model" | "output"> & Partial<Response>;

export interface RecordedStream {
  readonly name: string;
  readonly events: readonly ResponseStreamEvent[];
}

/** A response, or the body of an error. */
export interface RecordedBody {
  readonly name: string;
  readonly body: unknown;
}

export function readStreams(folder: string): RecordedStream[] {
  return filesOf(folder, ".chunks.txt").flatMap((file) => {
    const streams: { name: string; events: ResponseStreamEvent[] }[] = [];
    for (const line of readFileSync(join(folder, file), "utf8").split("\n")) {
      if (line.trim() === "") continue;
      const event = readEvent(JSON.parse(line), file);
      if (event.type === "response.created") streams.push({ name: `${file} #${streams.length + 1}`, events: [] });
      streams.at(-1)?.events.push(event);
    }
    return streams;
  });
}

export function readBodies(folder: string): RecordedBody[] {
  return filesOf(folder, ".json").map((name) => ({ name, body: JSON.parse(readFileSync(join(folder, name), "utf8")) }));
}

/** The snapshot in the first event of a stream. */
export function firstSnapshot({ name, events: [first] }: RecordedStream): RecordedResponse {
  if (first?.type !== "response.created") throw new Error(`${name} does not begin with response.created`);
  return first.response;
}

/** Returns null if the body is an error. */
export function asResponse(body: unknown): RecordedResponse | null {
  return readResponse(body) ? body : null;
}

function filesOf(folder: string, ending: string): string[] {
  return readdirSync(folder).filter((file) => file.endsWith(ending));
}

function readEvent(value: unknown, file: string): ResponseStreamEvent {
  if (!readResponseStreamEvent(value)) throw new Error(`${file}: ${JSON.stringify(value)} is not an event`);
  return value;
}

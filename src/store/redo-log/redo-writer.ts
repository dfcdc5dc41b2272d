import { closeSync, ftruncateSync, mkdirSync, openSync, writeSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { redoFrameOf } from "./frames.ts";
import { segmentName, workerFolder } from "./redo-folders.ts";

/** A segment that has reached this size gets no more frames, in bytes. */
const SEGMENT_BYTES = 4 * 1024 * 1024;
const SCRATCH_BYTES = 64 * 1024;
const OWNER_ONLY = 0o600;
const FOLDER_OWNER_ONLY = 0o700;

/** The place of a change in the log of its worker, in bytes since the log began. */
export interface RedoSpan {
  readonly start: number;
  readonly end: number;
}

interface Segment {
  readonly file: string;
  readonly start: number;
}

/**
 * Appends changes to the redo log of one worker. A change that was written survives the death of the process, like a
 * commit with `synchronous=normal`. Works on the event loop: a write into the cache of the system takes 2 to 30 µs,
 * and waking the store thread for a commit takes longer.
 */
export class RedoWriter {
  readonly worker: number;
  readonly #folder: string;
  readonly #scratch = Buffer.allocUnsafe(SCRATCH_BYTES);
  readonly #segments: Segment[] = [];
  #descriptor: number | null = null;
  #segmentBytes = 0;
  #end = 0;

  constructor(folder: string, worker: number) {
    this.worker = worker;
    this.#folder = workerFolder(folder, worker);
    mkdirSync(this.#folder, { recursive: true, mode: FOLDER_OWNER_ONLY });
  }

  /** Throws if it cannot be written; the log then ends where it did. */
  append(text: string): RedoSpan {
    if (this.#descriptor === null || this.#segmentBytes >= SEGMENT_BYTES) this.#beginSegment();
    const descriptor = this.#descriptor ?? 0;
    const frame = redoFrameOf(text, this.#scratch);
    try {
      for (let at = 0; at < frame.length; )
        at += writeSync(descriptor, frame, at, frame.length - at, this.#segmentBytes + at);
    } catch (error) {
      ftruncateSync(descriptor, this.#segmentBytes);
      throw error;
    }
    const start = this.#end;
    this.#segmentBytes += frame.length;
    this.#end += frame.length;
    return { start, end: this.#end };
  }

  /** The changes before this position are in the database. */
  release(position: number): void {
    while (this.#segments.length > 1 && (this.#segments[1]?.start ?? position) <= position) {
      const segment = this.#segments.shift();
      // What is left is removed with the folder.
      if (segment !== undefined) rm(segment.file, { force: true }).catch(() => {});
    }
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #beginSegment(): void {
    const file = join(this.#folder, segmentName(this.#end));
    const descriptor = openSync(file, "wx", OWNER_ONLY);
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = descriptor;
    this.#segments.push({ file, start: this.#end });
    this.#segmentBytes = 0;
  }
}

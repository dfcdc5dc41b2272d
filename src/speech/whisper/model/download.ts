import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, fetch, type Response } from "undici";
import { isRecord } from "../../../base/json/records.ts";
import { withFileLock } from "./file-lock.ts";

export interface Download {
  readonly url: string;
  /** Where the file will be; while it is not whole it lies beside it, with `.part` at its end. */
  readonly path: string;
  /** Null: whatever comes. */
  readonly bytes: number | null;
  readonly sha256: string;
  readonly onProgress: (receivedBytes: number, totalBytes: number | null) => void;
  /** Null where the usual patience is right. */
  readonly patience?: Patience;
}

export interface Patience {
  /** After so long without a byte the connection is given up. */
  readonly stallMs: number;
  /** Before the second try; it doubles with each further one that brings nothing. */
  readonly firstPauseMs: number;
}

/**
 * The file could not be had. The message is a sentence without a full stop; it names the host, and no other part of the
 * URL.
 */
export class DownloadError extends Error {
  override readonly name = "DownloadError";
}

const PATIENCE: Patience = { stallMs: 30_000, firstPauseMs: 1000 };
/** Tries in a row that bring no byte. */
const TRIES_IN_VAIN_MAX = 5;
/** Where the size is not known, a file is not larger than this. */
const BYTES_MAX = 16 * 1024 ** 3;
const PART_MODE = 0o644;

/** The stall watch ends what takes too long. */
const WAITING = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** Something that a later try may overcome. */
class Interruption extends Error {
  override readonly name = "Interruption";
}

/**
 * Has a file there, whole and checked. What an earlier try left is continued, and two processes do not do it at once.
 * Rejects with `DownloadError` or the signal's reason; then what has come so far is kept for the next try.
 */
export async function download(call: Download, signal: AbortSignal): Promise<void> {
  await mkdir(dirname(call.path), { recursive: true });
  await withFileLock(`${call.path}.lock`, signal, async () => {
    if ((await sizeOf(call.path)) !== null) return; // Another process was faster.
    try {
      if (await fetchAll(call, signal)) return;
      // What an earlier try left belonged to something else.
      await rm(partOf(call), { force: true });
      if (await fetchAll(call, signal)) return;
      throw new DownloadError(`What ${hostOf(call)} sent is not the file that was asked for: its checksum is another`);
    } catch (error) {
      signal.throwIfAborted();
      throw asDownloadError(error, call);
    }
  });
}

/** False where all bytes came, and they are not the right ones; they are removed then. */
async function fetchAll(call: Download, signal: AbortSignal): Promise<boolean> {
  const { firstPauseMs } = call.patience ?? PATIENCE;
  for (let inVain = 0; ; ) {
    const before = (await sizeOf(partOf(call))) ?? 0;
    try {
      return await tryOnce(call, signal);
    } catch (error) {
      if (!(error instanceof Interruption)) throw error;
      const after = (await sizeOf(partOf(call))) ?? 0;
      inVain = after > before ? 0 : inVain + 1;
      if (inVain >= TRIES_IN_VAIN_MAX) throw new DownloadError(error.message, { cause: error });
      await sleep(firstPauseMs * 2 ** inVain, undefined, { signal });
    }
  }
}

async function tryOnce(call: Download, signal: AbortSignal): Promise<boolean> {
  await using part = await open(partOf(call), "a+", PART_MODE);
  let received = (await part.stat()).size;
  let hash = await hashOf(partOf(call), received, signal);
  call.onProgress(received, call.bytes);
  if (call.bytes === null || received !== call.bytes) {
    const { reply, stall } = await ask(call, received, signal);
    if (received > 0 && reply.status !== 206) {
      await part.truncate(0); // The server begins at the beginning.
      received = 0;
      hash = createHash("sha256");
    }
    await receive(call, { reply, stall, part, received, hash });
  }
  await part.sync();
  if (hash.digest("hex") !== call.sha256) {
    await rm(partOf(call), { force: true });
    return false;
  }
  await rename(partOf(call), call.path);
  return true;
}

interface Reception {
  readonly reply: Response;
  readonly stall: StallWatch;
  readonly part: FileHandle;
  readonly received: number;
  readonly hash: Hash;
}

async function receive(call: Download, { reply, stall, part, received: before, hash }: Reception): Promise<void> {
  const length = Number(reply.headers.get("content-length") ?? Number.NaN);
  const total = call.bytes ?? (Number.isSafeInteger(length) ? before + length : null);
  let received = before;
  try {
    for await (const chunk of reply.body ?? []) {
      stall.touch();
      if (!(chunk instanceof Uint8Array)) continue;
      received += chunk.length;
      if (received > (total ?? BYTES_MAX))
        throw new DownloadError(`${hostOf(call)} sends more than the ${total ?? BYTES_MAX} bytes that the file has`);
      await part.appendFile(chunk);
      hash.update(chunk);
      call.onProgress(received, total);
    }
  } catch (error) {
    throw interruption(error, call);
  } finally {
    stall.end();
  }
  if (total !== null && received < total) throw new Interruption(`${hostOf(call)} broke off the download`);
}

/** Asks for what is missing; the reply is one of success. */
async function ask(
  call: Download,
  received: number,
  signal: AbortSignal,
): Promise<{ readonly reply: Response; readonly stall: StallWatch }> {
  const stall = new StallWatch((call.patience ?? PATIENCE).stallMs);
  const headers = { "accept-encoding": "identity", ...(received > 0 ? { range: `bytes=${received}-` } : {}) };
  try {
    const either = AbortSignal.any([signal, stall.signal]);
    const reply = await fetch(call.url, { headers, signal: either, dispatcher: WAITING });
    stall.touch();
    if (reply.status === 200 || (reply.status === 206 && isContinuation(reply, received))) return { reply, stall };
    await reply.body?.cancel();
    throw await refusal(call, reply.status);
  } catch (error) {
    stall.end();
    throw interruption(error, call);
  }
}

function isContinuation(reply: Response, received: number): boolean {
  return reply.headers.get("content-range")?.startsWith(`bytes ${received}-`) === true;
}

async function refusal(call: Download, status: number): Promise<Error> {
  if (status === 206 || status === 416) {
    await rm(partOf(call), { force: true }); // What is here is no beginning of what is there.
    return new Interruption(`${hostOf(call)} cannot continue the download`);
  }
  if (status === 408 || status === 429 || status >= 500)
    return new Interruption(`${hostOf(call)} answered with status ${status}`);
  return new DownloadError(`${hostOf(call)} does not give the file: it answered with status ${status}`);
}

function interruption(error: unknown, call: Download): Error {
  if (error instanceof DownloadError || error instanceof Interruption) return error;
  const code = isRecord(error) ? error["code"] : null;
  if (code === "ENOSPC" || code === "EDQUOT")
    return new DownloadError("There is no room left for the model file", { cause: error });
  if (error instanceof Error && error.name === "TimeoutError")
    return new Interruption(`${hostOf(call)} stopped sending`, { cause: error });
  return new Interruption(`${hostOf(call)} cannot be reached`, { cause: error });
}

function asDownloadError(error: unknown, call: Download): DownloadError {
  if (error instanceof DownloadError) return error;
  return new DownloadError(`The file from ${hostOf(call)} could not be stored in ${dirname(call.path)}`, {
    cause: error,
  });
}

function hostOf({ url }: Download): string {
  return new URL(url).host;
}

function partOf({ path }: Download): string {
  return `${path}.part`;
}

async function sizeOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ size }) => size,
    () => null,
  );
}

async function hashOf(path: string, bytes: number, signal: AbortSignal): Promise<Hash> {
  const hash = createHash("sha256");
  if (bytes === 0) return hash;
  for await (const chunk of createReadStream(path, { end: bytes - 1, signal }))
    if (chunk instanceof Uint8Array) hash.update(chunk);
  return hash;
}

/** Aborts its signal once nothing has been touched for a while. */
class StallWatch {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(stallMs: number) {
    this.#timer = setTimeout(() => this.#controller.abort(new DOMException("stalled", "TimeoutError")), stallMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  touch(): void {
    this.#timer.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

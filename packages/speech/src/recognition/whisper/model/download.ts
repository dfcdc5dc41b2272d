import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isRecord } from "@antiphon/base/json/records.ts";
import { Agent, fetch, type Response } from "undici";
import { withFileLock } from "./file-lock.ts";

export interface Download {
  readonly url: string;
  /** Where the file is stored. Until it is complete, it has the suffix `.part`. */
  readonly path: string;
  /** The exact size in bytes; null if not known. */
  readonly bytes: number | null;
  readonly sha256: string;
  readonly onProgress: (receivedBytes: number, totalBytes: number | null) => void;
  /** Left out for the usual timing. */
  readonly retryTiming?: RetryTiming;
}

export interface RetryTiming {
  /** The connection is closed after this long without a byte. */
  readonly stallMs: number;
  /** Pause before the second try; it doubles with each further try that brings no byte. */
  readonly firstPauseMs: number;
}

/**
 * The file could not be downloaded. The message is a sentence without a full stop, and names no part of the URL but the
 * host.
 */
export class DownloadError extends Error {
  override readonly name = "DownloadError";
}

const RETRY_TIMING: RetryTiming = { stallMs: 30_000, firstPauseMs: 1000 };
/** Consecutive tries that bring no byte. */
const TRIES_IN_VAIN_MAX = 5;
/** Limit for a file of unknown size. */
const BYTES_MAX = 16 * 1024 ** 3;
const PART_MODE = 0o644;

/** Has no timeouts of its own: `StallWatch` ends stalled requests. */
const UNTIMED_AGENT = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** A failure that a later try may overcome. */
class RetryableFailure extends Error {
  override readonly name = "RetryableFailure";
}

/**
 * Downloads a file and verifies its checksum. Continues a partial download; a lock keeps other processes from
 * downloading the same file. Rejects with `DownloadError` or the signal's reason, and keeps the received bytes for the
 * next try.
 */
export async function download(call: Download, signal: AbortSignal): Promise<void> {
  await mkdir(dirname(call.path), { recursive: true });
  await withFileLock(`${call.path}.lock`, signal, async () => {
    if ((await fileSize(call.path)) !== null) return; // Another process was faster.
    try {
      if (await fetchAll(call, signal)) return;
      // The partial download was part of another file.
      await rm(partPath(call), { force: true });
      if (await fetchAll(call, signal)) return;
      throw new DownloadError(`The file from ${hostOf(call)} has the wrong checksum`);
    } catch (error) {
      signal.throwIfAborted();
      throw asDownloadError(error, call);
    }
  });
}

/** False if all bytes arrived with a wrong checksum; the bytes are then removed. */
async function fetchAll(call: Download, signal: AbortSignal): Promise<boolean> {
  const { firstPauseMs } = call.retryTiming ?? RETRY_TIMING;
  for (let inVain = 0; ; ) {
    const before = (await fileSize(partPath(call))) ?? 0;
    try {
      return await tryOnce(call, signal);
    } catch (error) {
      if (!(error instanceof RetryableFailure)) throw error;
      const after = (await fileSize(partPath(call))) ?? 0;
      inVain = after > before ? 0 : inVain + 1;
      if (inVain >= TRIES_IN_VAIN_MAX) throw new DownloadError(error.message, { cause: error });
      await sleep(firstPauseMs * 2 ** inVain, undefined, { signal });
    }
  }
}

async function tryOnce(call: Download, signal: AbortSignal): Promise<boolean> {
  await using part = await open(partPath(call), "a+", PART_MODE);
  let receivedBytes = (await part.stat()).size;
  let hash = await hashOf(partPath(call), receivedBytes, signal);
  call.onProgress(receivedBytes, call.bytes);
  if (call.bytes === null || receivedBytes !== call.bytes) {
    const { reply, stall } = await ask(call, receivedBytes, signal);
    if (receivedBytes > 0 && reply.status !== 206) {
      await part.truncate(0); // The server ignored the range and sends the whole file.
      receivedBytes = 0;
      hash = createHash("sha256");
    }
    await receive(call, { reply, stall, part, receivedBytes, hash });
  }
  await part.sync();
  if (hash.digest("hex") !== call.sha256) {
    await rm(partPath(call), { force: true });
    return false;
  }
  await rename(partPath(call), call.path);
  return true;
}

interface Reception {
  readonly reply: Response;
  readonly stall: StallWatch;
  readonly part: FileHandle;
  readonly receivedBytes: number;
  readonly hash: Hash;
}

async function receive(call: Download, { reply, stall, part, receivedBytes: before, hash }: Reception): Promise<void> {
  const length = Number(reply.headers.get("content-length") ?? Number.NaN);
  const total = call.bytes ?? (Number.isSafeInteger(length) ? before + length : null);
  let receivedBytes = before;
  try {
    for await (const chunk of reply.body ?? []) {
      stall.touch();
      if (!(chunk instanceof Uint8Array)) continue;
      receivedBytes += chunk.length;
      if (receivedBytes > (total ?? BYTES_MAX))
        throw new DownloadError(`${hostOf(call)} sent more than the expected ${total ?? BYTES_MAX} bytes`);
      await part.appendFile(chunk);
      hash.update(chunk);
      call.onProgress(receivedBytes, total);
    }
  } catch (error) {
    throw asFailure(error, call);
  } finally {
    stall.end();
  }
  if (total !== null && receivedBytes < total) throw new RetryableFailure(`${hostOf(call)} broke off the download`);
}

/** Requests the missing bytes and returns a successful reply. */
async function ask(
  call: Download,
  receivedBytes: number,
  signal: AbortSignal,
): Promise<{ readonly reply: Response; readonly stall: StallWatch }> {
  const stall = new StallWatch((call.retryTiming ?? RETRY_TIMING).stallMs);
  const headers = { "accept-encoding": "identity", ...(receivedBytes > 0 ? { range: `bytes=${receivedBytes}-` } : {}) };
  try {
    const either = AbortSignal.any([signal, stall.signal]);
    const reply = await fetch(call.url, { headers, signal: either, dispatcher: UNTIMED_AGENT });
    stall.touch();
    if (reply.status === 200 || (reply.status === 206 && isContinuation(reply, receivedBytes))) return { reply, stall };
    await reply.body?.cancel();
    throw await refusal(call, reply.status);
  } catch (error) {
    stall.end();
    throw asFailure(error, call);
  }
}

function isContinuation(reply: Response, receivedBytes: number): boolean {
  return reply.headers.get("content-range")?.startsWith(`bytes ${receivedBytes}-`) === true;
}

async function refusal(call: Download, status: number): Promise<Error> {
  if (status === 206 || status === 416) {
    await rm(partPath(call), { force: true }); // The partial download does not fit the server's file.
    return new RetryableFailure(`${hostOf(call)} cannot continue the download`);
  }
  if (status === 408 || status === 429 || status >= 500)
    return new RetryableFailure(`${hostOf(call)} answered with status ${status}`);
  return new DownloadError(`${hostOf(call)} refused the download with status ${status}`);
}

function asFailure(error: unknown, call: Download): Error {
  if (error instanceof DownloadError || error instanceof RetryableFailure) return error;
  const code = isRecord(error) ? error["code"] : null;
  if (code === "ENOSPC" || code === "EDQUOT")
    return new DownloadError("No disk space is left for the model file", { cause: error });
  if (error instanceof Error && error.name === "TimeoutError")
    return new RetryableFailure(`${hostOf(call)} stopped sending`, { cause: error });
  return new RetryableFailure(`${hostOf(call)} cannot be reached`, { cause: error });
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

function partPath({ path }: Download): string {
  return `${path}.part`;
}

async function fileSize(path: string): Promise<number | null> {
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

/** Aborts its signal if `touch` is not called for `stallMs`. */
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

import { setTimeout as sleep } from "node:timers/promises";
import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { FileStorageAway } from "@antiphon/domain/storage.ts";
import { AwsV4Signer } from "aws4fetch";
import { Agent, type Dispatcher, request } from "undici";
import { elementText, S3Refused } from "./s3-reply.ts";
import type { UploadPart } from "./upload-parts.ts";

/** The address of a bucket, and its access key. */
export interface S3Place {
  readonly bucket: string;
  /** The URL of a server with the bucket as the first part of the path; null for Amazon. */
  readonly endpoint: string | null;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface S3Call {
  readonly method: "DELETE" | "GET" | "HEAD" | "POST" | "PUT";
  /** The key of an object; null for the bucket itself. */
  readonly key: string | null;
  readonly query?: Readonly<Record<string, string>>;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly part?: UploadPart;
  readonly signal?: AbortSignal;
}

/** A successful response. Drain or destroy its body. */
export interface S3Reply {
  readonly status: number;
  readonly header: (name: string) => string;
  readonly body: Dispatcher.ResponseData["body"];
}

/** The maximum number of attempts per call. */
const ATTEMPTS_MAX = 3;
const FIRST_PAUSE_MS = 100;
/** The time limit of one attempt until its reply begins, and the addition per byte sent. */
const ATTEMPT_MS_MAX = 5000;
const SENT_BYTES_A_MS = 500;
/** After this time, a call is not retried. */
const CALL_MS_MAX = 20_000;
const CONNECT_MS_MAX = 3000;
/** The longest pause between two pieces of a body. */
const BODY_PAUSE_MS_MAX = 10_000;
/** Further calls wait for one of these. */
const CONNECTIONS_MAX = 64;
const UPLOADS_AT_ONCE_MAX = 8;
/** The maximum size of an XML reply. */
const TEXT_BYTES_MAX = 256 * 1024;

const FIRST_ERROR_STATUS = 300; // A redirect to another region counts as an error, because the signature does not fit.
const FIRST_SERVER_ERROR_STATUS = 500;
const NOT_IMPLEMENTED = 501;
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 409, 429]);
const PASSING_CODES: ReadonlySet<string> = new Set(["RequestTimeout", "SlowDown"]);
const NO_PART: Pick<UploadPart, "sha256"> = {
  sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", // The hash of an empty body.
};

/**
 * Calls a bucket of an S3-compatible storage. Temporary failures are retried a few times, so each call must be
 * repeatable. Rejects with `FileStorageAway` if no attempt succeeded, with `S3Refused`, or with the reason of the
 * signal.
 */
export class S3Client {
  readonly #place: S3Place;
  readonly #url: string;
  readonly #attemptMs: number;
  /** Each upload has a part of its file in memory. */
  readonly uploads = new Semaphore(UPLOADS_AT_ONCE_MAX);
  readonly #signingKeys = new Map<string, ArrayBuffer>();
  readonly #agent = new Agent({
    connections: CONNECTIONS_MAX,
    connect: { timeout: CONNECT_MS_MAX },
    headersTimeout: 0, // Each attempt has its own limit.
    bodyTimeout: BODY_PAUSE_MS_MAX,
  });

  constructor(place: S3Place, attemptMs = ATTEMPT_MS_MAX) {
    this.#place = place;
    this.#attemptMs = attemptMs;
    this.#url = bucketUrl(place);
  }

  /** The caller reads the body at its own speed. */
  async open(call: S3Call): Promise<S3Reply> {
    return await this.#repeat(call, async ({ statusCode: status, headers, body }) => {
      return { status, header: (name) => String(headers[name] ?? ""), body };
    });
  }

  /** Resolves to the text of the reply. */
  async send(call: S3Call): Promise<string> {
    return await this.#repeat(call, ({ body }) => readBodyText(body));
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #repeat<T>(call: S3Call, read: (data: Dispatcher.ResponseData) => Promise<T>): Promise<T> {
    const giveUpAt = performance.now() + CALL_MS_MAX;
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#attempt(call, read, attempt > 1);
      if ("answer" in outcome) return outcome.answer;
      if (attempt === ATTEMPTS_MAX || performance.now() > giveUpAt) throw new FileStorageAway(outcome.fault);
      const pauseMs = FIRST_PAUSE_MS * 2 ** (attempt - 1) * (1 + Math.random());
      await sleep(pauseMs, null, call.signal === undefined ? {} : { signal: call.signal });
    }
  }

  /** Resolves to a temporary fault, and rejects with any other. */
  async #attempt<T>(
    call: S3Call,
    read: (data: Dispatcher.ResponseData) => Promise<T>,
    isRepeated: boolean,
  ): Promise<{ readonly answer: T } | { readonly fault: unknown }> {
    call.signal?.throwIfAborted();
    const attempt = new AbortController();
    const attemptMs = this.#attemptMs + (call.part?.bytes.length ?? 0) / SENT_BYTES_A_MS;
    const timer = setTimeout(() => attempt.abort(new Error(`no reply in ${Math.round(attemptMs)} ms`)), attemptMs);
    const signal = call.signal === undefined ? attempt.signal : AbortSignal.any([call.signal, attempt.signal]);
    try {
      const data = await this.#request(call, signal);
      if (data.statusCode < FIRST_ERROR_STATUS) return { answer: await read(data) };
      const code = elementText(await readBodyText(data.body), "Code");
      const refusal = new S3Refused(call.method, { status: data.statusCode, code, isRepeated });
      if (isPassing(refusal)) return { fault: refusal };
      throw refusal;
    } catch (error) {
      call.signal?.throwIfAborted();
      if (error instanceof S3Refused) throw error;
      return { fault: error };
    } finally {
      clearTimeout(timer);
    }
  }

  async #request(
    { method, key, query = {}, headers = {}, part }: S3Call,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const { region, accessKeyId, secretAccessKey } = this.#place;
    const queryText = new URLSearchParams(query).toString();
    const path = key === null ? "" : `/${objectPath(key)}`;
    const url = `${this.#url}${path}${queryText === "" ? "" : `?${queryText}`}`;
    const signer = new AwsV4Signer({
      method,
      url,
      headers: { ...headers, "x-amz-content-sha256": (part ?? NO_PART).sha256 },
      service: "s3",
      region,
      accessKeyId,
      secretAccessKey,
      cache: this.#signingKeys,
    });
    const signedRequest = await signer.sign();
    return await request(signedRequest.url, {
      dispatcher: this.#agent,
      method,
      headers: Object.fromEntries(signedRequest.headers),
      body: part?.bytes ?? null,
      signal,
    });
  }
}

function isPassing({ status, code }: S3Refused): boolean {
  if (PASSING_STATUSES.has(status) || PASSING_CODES.has(code)) return true;
  return status >= FIRST_SERVER_ERROR_STATUS && status !== NOT_IMPLEMENTED;
}

async function readBodyText(body: AsyncIterable<unknown>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    if (!(piece instanceof Uint8Array)) continue;
    bytes += piece.length;
    if (bytes > TEXT_BYTES_MAX) throw new Error(`a reply of the file storage is longer than ${TEXT_BYTES_MAX} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

/** The URL of a bucket's objects, without a trailing slash. */
function bucketUrl({ bucket, endpoint, region }: Pick<S3Place, "bucket" | "endpoint" | "region">): string {
  if (endpoint !== null) return `${endpoint.replace(/\/+$/, "")}/${bucket}`;
  // No certificate covers a bucket name that contains a dot.
  return bucket.includes(".")
    ? `https://s3.${region}.amazonaws.com/${bucket}`
    : `https://${bucket}.s3.${region}.amazonaws.com`;
}

/** The path of an object below the URL of its bucket. */
function objectPath(key: string): string {
  return key.split("/").map(encodeURIComponent).join("/");
}

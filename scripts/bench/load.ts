import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Job, Outcome } from "./load-job.ts";
import { quantile } from "./statistics.ts";

/**
 * The load generator, in its own process. Reads jobs from its input and writes outcomes, one line of JSON each. It
 * looks for marks in the bytes of replies and parses nothing, so that it takes little of the machine.
 */
const HEAD_END = "\r\n\r\n";
const BODY_END = "\r\n0\r\n\r\n";
/** Longer than any mark. */
const TAIL_BYTES = 64;
const REASONS_MAX = 5;
const DATED = /(?:"delta":|"content":)" at (\d+\.\d+) "/g;
const NOTHING = Buffer.alloc(0);

/** What a job has seen so far. */
interface Tally {
  readonly counts: { whole: number; unended: number; failed: number; texts: number };
  readonly reasons: string[];
  readonly firstTextMs: number[];
  readonly delayMs: number[];
}

/** One reply, as its bytes arrive. */
class Reply {
  readonly #job: Job;
  readonly #tally: Tally;
  readonly #startedAt = performance.now();
  /** The bytes left of the body: null before the head was read, infinite while a chunked body lasts. */
  #left: number | null = null;
  #tail: Buffer = NOTHING;
  #status = "";
  #sawEnd = false;
  sawText = false;

  constructor(job: Job, tally: Tally) {
    this.#job = job;
    this.#tally = tally;
  }

  get isOver(): boolean {
    return this.#left === 0;
  }

  /** Why the reply, which is over, is not what was asked for; null if it is. */
  get fault(): "unended" | "failed" | null {
    if (this.#status !== "200") return "failed";
    return this.#sawEnd ? null : "unended";
  }

  get end(): string {
    return this.#tail.toString("latin1");
  }

  take(piece: Buffer): void {
    const joined = this.#tail === NOTHING ? piece : Buffer.concat([this.#tail, piece]);
    if (this.#left === null) this.#readHead(joined);
    else this.#left -= piece.length;
    this.#look(joined);
    this.#tail = joined.subarray(-TAIL_BYTES);
    if (this.#left === Number.POSITIVE_INFINITY && this.#tail.includes(BODY_END)) this.#left = 0;
  }

  #readHead(bytes: Buffer): void {
    const length = bytes.indexOf(HEAD_END);
    if (length === -1) return;
    const head = bytes.toString("latin1", 0, length);
    this.#status = head.slice("HTTP/1.1 ".length, "HTTP/1.1 200".length);
    const body = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    this.#left =
      body === undefined ? Number.POSITIVE_INFINITY : Number(body) - (bytes.length - length - HEAD_END.length);
  }

  #look(bytes: Buffer): void {
    const { endMark, textMark, isDated } = this.#job;
    this.#sawEnd ||= bytes.includes(endMark);
    const from = Math.max(0, this.#tail.length - textMark.length + 1); // Before it, everything was counted already.
    for (let at = bytes.indexOf(textMark, from); at !== -1; at = bytes.indexOf(textMark, at + textMark.length)) {
      this.#tally.counts.texts += 1;
      if (this.sawText) continue;
      this.sawText = true;
      this.#tally.firstTextMs.push(performance.now() - this.#startedAt);
    }
    if (!isDated) return;
    const now = performance.timeOrigin + performance.now();
    for (const [, sent] of bytes.toString("latin1", this.#tail.length).matchAll(DATED))
      this.#tally.delayMs.push(now - Number(sent));
  }
}

const held: Socket[] = [];

/** Sends the request on the socket. Resolves to whether the socket can carry another one. */
function ask(socket: Socket, request: Buffer, job: Job, tally: Tally): Promise<boolean> {
  const reply = new Reply(job, tally);
  return new Promise((resolve) => {
    const settle = (outcome: "whole" | "unended" | "failed", canGoOn: boolean, reason = ""): void => {
      socket.removeAllListeners();
      socket.on("error", () => {});
      tally.counts[outcome] += 1;
      if (outcome !== "whole" && tally.reasons.length < REASONS_MAX) tally.reasons.push(reason);
      resolve(canGoOn);
    };
    socket.on("data", (piece: Buffer) => {
      reply.take(piece);
      if (reply.isOver) settle(reply.fault ?? "whole", true, `a reply ended with …${reply.end}`);
      else if (reply.sawText && job.atText !== "read") {
        settle("whole", false);
        if (job.atText === "close") socket.destroy();
        else held.push(socket.resume());
      }
    });
    socket.on("error", (error) => settle("failed", false, error.message));
    socket.on("close", () => settle("failed", false, `a connection was closed after …${reply.end}`));
    socket.write(request);
  });
}

function requestOf({ path, headers, body }: Job): Buffer {
  const lines = Object.entries({ ...headers, host: "127.0.0.1", "content-length": String(Buffer.byteLength(body)) });
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`,
  );
}

async function perform(job: Job): Promise<Outcome> {
  const tally: Tally = {
    counts: { whole: 0, unended: 0, failed: 0, texts: 0 },
    reasons: [],
    firstTextMs: [],
    delayMs: [],
  };
  const request = requestOf(job);
  const startedAt = performance.now();
  const mayBegin = (): boolean => begun < job.count && performance.now() - startedAt < job.secondsMax * 1000;
  let begun = 0;
  const worker = async (): Promise<void> => {
    let socket: Socket | null = null;
    while (mayBegin()) {
      const place = begun;
      begun += 1;
      if (job.perSecond !== undefined)
        await sleep(Math.max(0, startedAt + (place * 1000) / job.perSecond - performance.now()));
      socket ??= connect({ port: job.port, host: "127.0.0.1", noDelay: true });
      if (!(await ask(socket, request, job, tally))) socket = null;
    }
    socket?.destroy();
  };
  await Promise.all(Array.from({ length: job.atOnce }, worker));
  const quantiles = (values: readonly number[]) => ({ p50: quantile(values, 0.5), p99: quantile(values, 0.99) });
  return {
    seconds: (performance.now() - startedAt) / 1000,
    ...tally.counts,
    reasons: tally.reasons,
    firstTextMs: quantiles(tally.firstTextMs),
    delayMs: quantiles(tally.delayMs),
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  if (line === "release") for (const socket of held.splice(0)) socket.destroy();
  else console.log(JSON.stringify(await perform(JSON.parse(line))));
}

import { Agent, type IncomingMessage, request } from "node:http";

export interface Streamed {
  /** From sending the request to the first bytes of the reply, in milliseconds. */
  readonly firstByteMs: number;
  readonly totalMs: number;
  /** The number of lines that start with `data:`. */
  readonly events: number;
}

/** Longer than any text that is searched for. */
const TAIL_CHARACTERS = 40;

const agent = new Agent({ keepAlive: true, maxSockets: 256 });

/** The end of a complete stream: ours with `response.completed`, the upstream's with `[DONE]`. */
const WHOLE = /event: response\.completed\n|data: \[DONE\]\n/;

/**
 * Posts `body` and reads the event stream of the reply, counting events without parsing them. Rejects if the stream is
 * incomplete.
 */
export function streamOnce(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Streamed> {
  const text = JSON.stringify(body);
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const call = request(url, {
      agent,
      method: "POST",
      headers: { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(text) },
    });
    call.once("error", reject);
    call.once("response", (reply) => {
      if (reply.statusCode !== 200) return void explainRefusal(url, reply).then(reject);
      let firstByteMs = 0;
      let events = 0;
      let isWhole = false;
      let tail = "";
      reply.setEncoding("utf8");
      reply.on("data", (piece: string) => {
        if (firstByteMs === 0) firstByteMs = performance.now() - started;
        const joined = tail + piece;
        events += joined.split("data: ").length - 1 - (tail.split("data: ").length - 1);
        isWhole ||= WHOLE.test(joined);
        tail = joined.slice(-TAIL_CHARACTERS);
      });
      reply.once("error", reject);
      reply.once("end", () => {
        if (isWhole) resolve({ firstByteMs, totalMs: performance.now() - started, events });
        else reject(new Error(`a stream of ${url} ended before its answer was complete: …${tail}`));
      });
    });
    call.end(text);
  });
}

/** An error with the reply of a server that did not stream. */
export async function explainRefusal(url: string, reply: IncomingMessage): Promise<Error> {
  let text = "";
  for await (const piece of reply.setEncoding("utf8")) text += piece;
  return new Error(`${url} answered ${reply.statusCode}: ${text.slice(0, 500)}`);
}

/** Runs `count` streams, `concurrency` at a time. */
export async function streamMany(
  count: number,
  concurrency: number,
  once: () => Promise<Streamed>,
): Promise<Streamed[]> {
  const results: Streamed[] = [];
  let begun = 0;
  const worker = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      results.push(await once());
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return results;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The quantile of the values: this share of them is smaller. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

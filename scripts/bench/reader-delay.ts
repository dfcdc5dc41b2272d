import type { Server } from "./servers.ts";
import { quantile } from "./statistics.ts";
import { modelName } from "./upstream-shape.ts";

/** How long tokens take from the model server to readers, in milliseconds. */
export interface ReaderDelay {
  readonly own: Delay;
  /** NaN without another node. */
  readonly other: Delay;
  /** Tokens that were made. Each was read by one reader, or by one on each node. */
  readonly events: number;
}

interface Delay {
  readonly p50: number;
  readonly p99: number;
}

const STREAMS = 8;
const SHAPE = { tokens: 150, paceMs: 20 };
const DATED = /"delta":" at (\d+\.\d+) "/g;

/** Reads paced responses on the node that makes them and, at the same time, on another one. */
export async function readerDelay(maker: Server, other: Server | null): Promise<ReaderDelay> {
  const [own, elsewhere]: [number[], number[]] = [[], []];
  await Promise.all(
    Array.from({ length: STREAMS }, async () => {
      const id = await begin(maker);
      await Promise.all([read(maker, id, own), other === null ? null : read(other, id, elsewhere)]);
    }),
  );
  return { own: delayOf(own), other: delayOf(elsewhere), events: STREAMS * SHAPE.tokens };
}

async function begin({ port, headers }: Server): Promise<string> {
  const body = JSON.stringify({ model: modelName(SHAPE), input: "Hi", background: true });
  const reply = await fetch(`http://127.0.0.1:${port}/v1/responses`, { method: "POST", headers, body });
  const { id }: Record<string, unknown> = JSON.parse(await reply.text());
  return String(id);
}

/** Adds the delay of each token that comes live. The first ones are replayed. */
async function read({ port, headers }: Server, id: string, delays: number[]): Promise<void> {
  const reply = await fetch(`http://127.0.0.1:${port}/v1/responses/${id}/events?dialect=reference`, { headers });
  if (reply.status !== 200 || reply.body === null) throw new Error(`a reader was answered ${reply.status}`);
  let tail = "";
  let seen = 0;
  for await (const piece of reply.body.pipeThrough(new TextDecoderStream())) {
    const now = performance.timeOrigin + performance.now();
    const text = tail + piece;
    const end = text.lastIndexOf("\n") + 1;
    tail = text.slice(end);
    for (const [, sent] of text.slice(0, end).matchAll(DATED)) {
      seen += 1;
      if (seen > REPLAYED_MAX) delays.push(now - Number(sent));
    }
  }
}

/** About how many tokens are there before the reader is. */
const REPLAYED_MAX = 25;

function delayOf(delays: readonly number[]): Delay {
  return { p50: quantile(delays, 0.5), p99: quantile(delays, 0.99) };
}

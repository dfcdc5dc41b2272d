/** The counting thread: replies with the tokens of texts. */
import { isMainThread, parentPort } from "node:worker_threads";
import { assert } from "@antiphon/base/assert.ts";
import type { CountAnswer, CountRequest, CountStop } from "./count-message.ts";
import { countTexts } from "./count-texts.ts";

assert(!isMainThread && parentPort !== null, "this module is the start of a thread");
const port = parentPort;
const underWay = new Map<number, AbortController>();

function* textsOf({ text, lengths }: CountRequest): Generator<string> {
  let start = 0;
  for (const length of lengths) {
    yield text.slice(start, start + length);
    start += length;
  }
}

async function countAnswer(request: CountRequest): Promise<CountAnswer> {
  const { id, encoding } = request;
  const stop = new AbortController();
  underWay.set(id, stop);
  try {
    return { id, tokens: await countTexts(encoding, textsOf(request), stop.signal) };
  } catch (error) {
    return { id, fault: String(error) };
  } finally {
    underWay.delete(id);
  }
}

async function postAnswer(request: CountRequest): Promise<void> {
  port.postMessage(await countAnswer(request));
}

port.on("message", (message: CountRequest | CountStop) => {
  if ("stop" in message) underWay.get(message.stop)?.abort();
  else void postAnswer(message);
});

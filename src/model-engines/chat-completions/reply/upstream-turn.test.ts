import { setImmediate as nextTurn } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { expect, test } from "vitest";
import { ToolNames } from "../../context/tool-names.ts";
import { UpstreamTurn } from "../../model-server/reply/upstream-turn.ts";
import { ChunkReader } from "./chunk-reader.ts";
import { ChunkStream } from "./chunk-stream.ts";

test("a socket that is always ready is read 64 kB at a time, with a turn of the event loop in between", async () => {
  const reader = new ChunkReader({ toolNames: new ToolNames(), reasoningTags: "off", wantsLogprobs: false });
  const context = { model: "m", host: "localhost", apiKey: null, keySetting: "MODEL_API_KEY" };
  const stream = new ChunkStream(reader, context);
  const { signal } = new AbortController();
  const tokens = { usageOf: () => Promise.reject(new Error("the turn is left before its end")) };
  const turn = new UpstreamTurn({ stream, context, totalMs: 10_000, idleMs: 10_000, signal, tokens }, [], () => {});
  let paused = false;
  const controller: Dispatcher.DispatchController = {
    rawHeaders: null,
    rawTrailers: null,
    aborted: false,
    paused: false,
    reason: null,
    abort: () => {},
    pause: () => void (paused = true),
    resume: () => void (paused = false),
  };
  turn.onRequestStart(controller);
  turn.onResponseStart(controller, 200, { "content-type": "text/event-stream" });
  const comment = Buffer.from(`: ${"x".repeat(16 * 1024 - 4)}\n\n`);
  const readUntilPaused = (): number => {
    let bytes = 0;
    for (; !paused; bytes += comment.length) turn.onResponseData(controller, comment);
    return bytes;
  };
  for (let round = 0; round < 3; round++) {
    expect(readUntilPaused()).toBe(64 * 1024);
    await nextTurn();
    expect(paused).toBe(false);
  }
  await (await turn.acceptance)[Symbol.asyncIterator]().return?.();
});

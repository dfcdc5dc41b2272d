import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { aRequest } from "@antiphon/domain/models/model-request.fixture.ts";
import { expect, test } from "vitest";
import { sse } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { createChatCompletionsEngine } from "../../src/model-engines/chat-completions/engine.ts";
import { verifies } from "../verifies.ts";
import { chunk, serveBytes } from "./model-server.ts";

/**
 * More than the queue holds before the model server has to pause. It is all in one event, so that the pause falls on
 * the last bytes.
 */
const WORDS = 6_000;
const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const DONE = sse(chunk("", "stop"), "[DONE]");
const ARRIVAL_MS = 30;
const TIMEOUTS = { connectMs: 2_000, idleMs: 10_000, totalMs: 15_000 };

/** The last bytes of a stream that ends with its connection, and whether they complete the answer. */
const LAST_WORDS: Readonly<Record<string, readonly [text: string, isEnd: boolean]>> = {
  "its end mark": [DONE, true],
  "its end mark and more": [`${DONE}data: {"error":{"message":"late"}}\n\n`, true],
  "its end mark and much more": [DONE + ": ping\n\n".repeat(100_000), true],
  "a broken event": ["data: nonsense\n\n", false],
  "a broken event and more": [`data: nonsense\n\n${sse(chunk("Hello")).repeat(5_000)}${DONE}`, false],
  nothing: ["", false],
};

test.each(Object.entries(LAST_WORDS))(
  "a model stream that was paused ends well or fails, and takes nothing with it: %s",
  async (_name, [text, isEnd]) => {
    verifies("transport.faults.no-request-ends-the-process");
    const words = Array.from({ length: WORDS }, (_, index) => `${index} `);
    const choices = words.map((content) => ({ delta: { content } }));
    const left = Promise.withResolvers<Socket>();
    const model = await serveBytes((socket) => {
      socket.end(HEAD + sse({ choices }) + text);
      left.resolve(socket);
    });
    const engine = createChatCompletionsEngine({ baseUrl: model.url, apiKey: null, timeouts: TIMEOUTS });
    const turn = await engine.sample(aRequest(), new AbortController().signal);
    const socket = await left.promise;
    if (!socket.writableFinished) await once(socket, "finish");
    await delay(ARRIVAL_MS); // The end must arrive before the pause is over; no event shows when.
    let said = "";
    const read = async (): Promise<void> => {
      for await (const batch of turn) for (const event of batch) if (event.type === "text_delta") said += event.text;
    };
    if (isEnd) await read();
    else await expect(read()).rejects.toThrow(/^The model server /);
    expect(said).toBe(words.join(""));
    await model.close();
  },
);

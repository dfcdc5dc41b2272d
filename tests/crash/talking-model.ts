import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type ChatServer,
  lastChunk,
  serveChat,
  sse,
  textChunk,
} from "../../src/model-engines/chat-completions/chat-server.fixture.ts";

const WORDS_MAX = 60;
const PAUSE_MS_MAX = 8;

/**
 * A model server that sends a random number of words with random pauses. Answers to the input `endless` never end.
 */
export function serveTalkingModel(): Promise<ChatServer> {
  return serveChat((response, { body }) =>
    talk(response, body.includes("endless") ? Number.POSITIVE_INFINITY : Math.ceil(Math.random() * WORDS_MAX)),
  );
}

async function talk(response: ServerResponse, words: number): Promise<void> {
  await sleep(Math.random() * PAUSE_MS_MAX * 4);
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  for (let word = 0; word < words && !response.destroyed; word++) {
    await sleep(Math.random() * PAUSE_MS_MAX);
    response.write(sse(textChunk(`word${word} `)));
  }
  response.end(sse(lastChunk("stop"), "[DONE]"));
}

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A chat-completions server for benches, in its own process. Each answer is a stream of `TOKENS_PER_ANSWER` chunks,
 * `TOKENS_PER_WRITE` of them in each write, with a turn of the event loop or `PACE_MS` between writes. With a pace,
 * each token contains the time at which it was sent. With `HANGS`, the stream stays open after its tokens.
 */
const tokens = Number(process.env["TOKENS_PER_ANSWER"] ?? 1000);
const perWrite = Number(process.env["TOKENS_PER_WRITE"] ?? 1);
const paceMs = Number(process.env["PACE_MS"] ?? 0);
const hangs = process.env["HANGS"] === "true";

function chunk(delta: object, finish: string | null): string {
  const body = {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_800_000_000,
    model: "bench",
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
  return `data: ${JSON.stringify(body)}\n\n`;
}

const token = chunk({ content: " token" }, null);
function datedToken(): string {
  return chunk({ content: ` at ${(performance.timeOrigin + performance.now()).toFixed(3)} ` }, null);
}

const usage = `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_800_000_000, model: "bench", choices: [], usage: { prompt_tokens: 5, completion_tokens: tokens, total_tokens: tokens + 5 } })}\n\n`;
const end = `${chunk({}, "stop")}${usage}data: [DONE]\n\n`;

const server = createServer((request, response) => {
  request.resume();
  if (request.url?.endsWith("/models") === true) {
    response
      .setHeader("content-type", "application/json")
      .end(JSON.stringify({ object: "list", data: [{ id: "bench", object: "model" }] }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(chunk({ role: "assistant", content: "" }, null));
  let sent = 0;
  const step = (): void => {
    const count = Math.min(perWrite, tokens - sent);
    if (count === 0) {
      if (!hangs) response.end(end);
      return;
    }
    sent += count;
    response.write(paceMs === 0 ? token.repeat(count) : datedToken().repeat(count));
    next();
  };
  const next = (): unknown => (paceMs === 0 ? setImmediate(step) : setTimeout(step, paceMs));
  next();
});

server.listen(0, "127.0.0.1", () => {
  const address: AddressInfo | string | null = server.address();
  if (typeof address === "object" && address !== null) console.log(`listening ${address.port}`);
});

import { createServer, type Socket } from "node:net";
import { shapeOf, type UpstreamShape } from "./upstream-shape.ts";

/**
 * A chat-completions server for benches, in its own process. It speaks just enough HTTP for keep-alive, and sends
 * bytes made beforehand, so that its own work is small. The model's name says how it answers: see `UpstreamShape`.
 */
const HEAD_END = "\r\n\r\n";
const STREAM_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

function event(members: object): string {
  const body = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_800_000_000, model: "bench" };
  return `data: ${JSON.stringify({ ...body, ...members })}\n\n`;
}

const delta = (content: object, finish: string | null): string =>
  event({ choices: [{ index: 0, delta: content, finish_reason: finish }] });

function framed(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

const begin = Buffer.from(STREAM_HEAD + framed(delta({ role: "assistant", content: "" }, null)));
const token = delta({ content: " token" }, null);
const [beforeTime = "", afterTime = ""] = delta({ content: " at TIME " }, null).split("TIME");

function endOf(tokens: number): Buffer {
  const usage = { prompt_tokens: 5, completion_tokens: tokens, total_tokens: tokens + 5 };
  const last = `${delta({}, "stop")}${event({ choices: [], usage })}data: [DONE]\n\n`;
  return Buffer.from(`${framed(last)}0\r\n\r\n`);
}

/** Makes a thing once for each key. */
function remembered<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const made = new Map<Key, Made>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const fresh = make(key);
    made.set(key, fresh);
    return fresh;
  };
}

const tokensOnce = remembered((count: number) => Buffer.from(framed(token.repeat(count))));
const endOnce = remembered(endOf);
const shapeOnce = remembered(shapeOf);

function datedTokens(count: number): string {
  const time = (performance.timeOrigin + performance.now()).toFixed(3);
  return framed((beforeTime + time + afterTime).repeat(count));
}

function stream(socket: Socket, { tokens, perWrite, paceMs, hangs }: UpstreamShape): void {
  let left = tokens;
  const next = (): unknown => (paceMs === 0 ? setImmediate(step) : setTimeout(step, paceMs));
  const step = (): void => {
    if (socket.destroyed) return;
    const count = Math.min(perWrite, left);
    if (count === 0) {
      if (!hangs) socket.write(endOnce(tokens));
      return;
    }
    left -= count;
    const hasRoom = socket.write(paceMs === 0 ? tokensOnce(count) : datedTokens(count));
    if (hasRoom) next();
    else socket.once("drain", next);
  };
  socket.write(begin);
  next();
}

function sendModels(socket: Socket): void {
  const text = JSON.stringify({ object: "list", data: [{ id: "bench", object: "model" }] });
  socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
}

function answer(socket: Socket, request: string): void {
  if (request.startsWith("GET ")) sendModels(socket);
  else stream(socket, shapeOnce(/"model":"([^"]+)"/.exec(request)?.[1] ?? ""));
}

/** The length of the request at the start of the text; null while it is incomplete. */
function requestLength(text: string): number | null {
  const headEnd = text.indexOf(HEAD_END);
  if (headEnd === -1) return null;
  const body = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
  const length = headEnd + HEAD_END.length + body;
  return text.length >= length ? length : null;
}

const server = createServer({ noDelay: true }, (socket) => {
  let pending = "";
  socket.on("error", () => socket.destroy());
  socket.on("data", (bytes) => {
    pending += bytes.toString("latin1");
    const length = requestLength(pending);
    if (length === null) return;
    const request = pending.slice(0, length);
    pending = pending.slice(length);
    answer(socket, request);
  });
});

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) console.log(`listening ${address.port}`);
});

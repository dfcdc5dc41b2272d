import type { Socket } from "node:net";
import { sse } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { chunk } from "./model-server.ts";

/** What a model server does to a connection after a complete call. */
export type Deed = (socket: Socket) => void;

export const STREAM_HEAD = head("200 OK", { "content-type": "text/event-stream", "transfer-encoding": "chunked" });
const TEXT = sse(chunk("Hello"), chunk(", world"));
const FINISH = sse(chunk("", "stop"));
const LAST = "0\r\n\r\n";

/** The error that the client gets. */
export interface Refused {
  readonly deed: Deed;
  readonly status: number;
  readonly code: string;
  readonly retryAfter?: string;
}

const broken = (deed: Deed): Refused => ({ deed, status: 502, code: "server_error" });

/** Failures before the model server has started to answer, and refusals. */
export const REFUSALS: Readonly<Record<string, Refused>> = {
  "closes before a status": broken((socket) => socket.end()),
  "resets before a status": broken((socket) => socket.resetAndDestroy()),
  "dies within the status line": broken((socket) => socket.end("HTTP/1.1 2")),
  "dies after the status line": broken((socket) => socket.end("HTTP/1.1 200 OK\r\n")),
  "dies within a header's name": broken((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-ty")),
  "dies within a header's value": broken((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-type: text/ev")),
  "resets within the headers": broken((socket) =>
    socket.write("HTTP/1.1 200 OK\r\ncontent-type: te", () => socket.resetAndDestroy()),
  ),
  "speaks another protocol": broken((socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n")),
  "speaks no known protocol": broken((socket) => socket.end(Buffer.from([0, 255, 22, 3, 1, 13, 10, 13, 10]))),
  "declares two lengths": broken((socket) =>
    socket.end("HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello"),
  ),
  "has a header without end": broken((socket) => socket.end(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(200_000)}`)),
  "has ten thousand headers": broken((socket) => socket.end(`HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(10_000)}\r\n`)),
  "sends only 100 Continue": broken((socket) => socket.end("HTTP/1.1 100 Continue\r\n\r\n".repeat(50))),
  "answers nothing": broken((socket) => socket.end(plain("200 OK", "application/json", ""))),
  "answers without a body": broken((socket) => socket.end("HTTP/1.1 204 No Content\r\n\r\n")),
  "answers with white space": broken((socket) => socket.end(plain("200 OK", "application/json", " \n "))),
  "answers with half an object": broken((socket) =>
    socket.end(plain("200 OK", "application/json", '{"choices":[{"mess')),
  ),
  "answers with a list": broken((socket) => socket.end(plain("200 OK", "application/json", "[]"))),
  "dies within an object": broken((socket) =>
    socket.end(`${head("200 OK", { "content-type": "application/json", "content-length": "500" })}{"choi`),
  ),
  "answers with a page": broken((socket) =>
    socket.end(plain("200 OK", "text/html", "<!doctype html><html><body>It works!</body></html>")),
  ),
  "redirects (301)": broken((socket) => socket.end(redirect("301 Moved Permanently"))),
  "redirects (302)": broken((socket) => socket.end(redirect("302 Found"))),
  "redirects (307)": broken((socket) => socket.end(redirect("307 Temporary Redirect"))),
  "knows no such path": broken((socket) => socket.end(plain("404 Not Found", "text/html", "<h1>Not Found</h1>"))),
  "answers an error with status 200": {
    deed: (socket) => socket.end(plain("200 OK", "application/json", error({ message: "boom" }))),
    status: 500,
    code: "server_error",
  },
  "fails (500)": {
    deed: (socket) => socket.end(plain("500 Oops", "text/plain", "Traceback (most recent call last): /srv/x.py")),
    status: 500,
    code: "server_error",
  },
  "fails with an endless body (500)": {
    deed: (socket) => void flood(socket, head("500 Oops", {}), "x"),
    status: 500,
    code: "server_error",
  },
  "dies within an error (500)": {
    deed: (socket) => socket.end(`${head("500 Oops", { "content-length": "500" })}{"err`),
    status: 500,
    code: "server_error",
  },
  "is overloaded (529)": {
    deed: (socket) => socket.end(plain("529 Overloaded", "application/json", error({ message: "busy" }))),
    status: 503,
    code: "server_error",
  },
  "is not ready (503)": {
    deed: (socket) => socket.end(plain("503 No", "text/plain", "", { "retry-after": "9" })),
    status: 503,
    code: "server_error",
    retryAfter: "9",
  },
  "limits the rate (429)": {
    deed: (socket) =>
      socket.end(plain("429 Slow down", "application/json", error({ message: "slow" }), { "retry-after": "7" })),
    status: 429,
    code: "rate_limit_exceeded",
    retryAfter: "7",
  },
  "limits the rate for ever (429)": {
    deed: (socket) => socket.end(plain("429 Slow down", "text/plain", "", { "retry-after": "9".repeat(400) })),
    status: 429,
    code: "rate_limit_exceeded",
  },
  "has no credit (402)": {
    deed: (socket) => socket.end(plain("402 Pay", "application/json", error({ message: "pay" }))),
    status: 429,
    code: "insufficient_quota",
  },
  "does not know the model (404)": {
    deed: (socket) => socket.end(plain("404 Not Found", "application/json", error({ message: "model 'm' not found" }))),
    status: 400,
    code: "model_not_found",
  },
  "finds the input too long (400)": {
    deed: (socket) =>
      socket.end(
        plain("400 Bad Request", "application/json", error({ code: "context_length_exceeded", message: "too long" })),
      ),
    status: 400,
    code: "context_length_exceeded",
  },
  "blames a member that is on every object (400)": {
    deed: (socket) =>
      socket.end(plain("400 Bad Request", "application/json", error({ message: "bad", param: "constructor" }))),
    status: 400,
    code: "invalid_request_error",
  },
  "answers an error of wrong types (400)": {
    deed: (socket) =>
      socket.end(
        plain("400 Bad Request", "application/json", '{"error":{"message":{},"code":[],"type":7,"param":{}}}'),
      ),
    status: 400,
    code: "invalid_request_error",
  },
};

/** Failures and nonsense in a started stream. */
export const BREAKS: Readonly<Record<string, Deed>> = {
  "ends after its headers": (socket) => socket.end(STREAM_HEAD + LAST),
  "closes after its headers": (socket) => socket.end(STREAM_HEAD),
  "resets after its headers": (socket) => socket.write(STREAM_HEAD, () => socket.resetAndDestroy()),
  "closes within a chunk's length": (socket) => socket.end(`${STREAM_HEAD}1f`),
  "closes within a chunk": (socket) => socket.end(`${STREAM_HEAD}fff\r\n${TEXT}`),
  "frames its chunks wrongly": (socket) => socket.end(`${STREAM_HEAD}${framed(TEXT)}zzz\r\n`),
  "closes within the word data": says("da"),
  "closes after the word data": says("data:"),
  "closes within JSON": says(`${TEXT}data: {"choices":[{"del`),
  "closes within a character": (socket) =>
    socket.end(Buffer.concat([Buffer.from(`${STREAM_HEAD}14\r\ndata: {"choices":"`), Buffer.from([0xe2, 0x82])])),
  "closes between events": (socket) => socket.end(STREAM_HEAD + framed(TEXT)),
  "ends between events": says(TEXT),
  "resets between events": (socket) => socket.write(STREAM_HEAD + framed(TEXT), () => socket.resetAndDestroy()),
  "ends within a call": says(
    sse({
      choices: [
        { index: 0, delta: { tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: '{"a' } }] } },
      ],
    }),
  ),
  "ends within reasoning": says(sse({ choices: [{ index: 0, delta: { reasoning_content: "Hm" } }] })),
  "sends text in place of JSON": says(`${TEXT}data: hello\n\n`),
  "sends a page": says("<html><body>\n\n</body></html>\n\n"),
  "sends a list": says(sse([])),
  "sends null": says("data: null\n\n"),
  "sends NULs": says("\0".repeat(1000)),
  "sends JSON 10,000 deep": says(`data: {"choices":${"[".repeat(10_000)}${"]".repeat(10_000)}}\n\n`),
  "sends JSON cut 10,000 deep": says(`data: ${"[".repeat(10_000)}\n\n`),
  "sends wrong types everywhere": says(
    sse(
      { id: 7, model: [], usage: "x", choices: {} },
      { choices: [null, 7, { index: "x", delta: 7, finish_reason: {} }] },
      { choices: [{ delta: { content: {}, tool_calls: [null, 7, {}, { index: "x", function: 7 }] } }] },
    ),
  ),
  "sends an error in an event": says(TEXT + sse({ error: { message: "boom", code: 500 } })),
  "sends an event of the name error": says(`${TEXT}event: error\ndata: {"message":"boom"}\n\n`),
  "gives up in its own words": says(TEXT + sse(chunk("", "error"))),
  "compresses without being asked": (socket) => socket.end(`${STREAM_HEAD}5\r\n\u001f\u008b\b\0\0\r\n${LAST}`),
};

/** Unclean endings that still complete the response. */
export const ENDINGS: Readonly<Record<string, Deed>> = {
  "closes after its finish reason": (socket) => socket.end(STREAM_HEAD + framed(TEXT + FINISH)),
  "resets after its finish reason": (socket) =>
    socket.write(STREAM_HEAD + framed(TEXT + FINISH), () => setImmediate(() => socket.resetAndDestroy())),
  "ends without an empty line": says(TEXT + FINISH.trimEnd()),
  "closes after [DONE]": (socket) => socket.end(`${STREAM_HEAD}${framed(`${TEXT}${FINISH}data: [DONE]\n\n`)}`),
  "continues after [DONE]": says(`${TEXT}${FINISH}data: [DONE]\n\ndata: {"error":{"message":"late"}}\n\ndata: x\n\n`),
  "never closes after [DONE]": (socket) => socket.write(STREAM_HEAD + framed(`${TEXT}${FINISH}data: [DONE]\n\n`)),
  "sends one byte at a time": (socket) =>
    socket.end(STREAM_HEAD + [...`${TEXT}${FINISH}data: [DONE]\n\n`].map(framed).join("") + LAST),
  "ends its lines with CR": says(`${TEXT}${FINISH}data: [DONE]\n\n`.replaceAll("\n", "\r")),
  "calls its stream text": (socket) => socket.end(plain("200 OK", "text/plain", `${TEXT}${FINISH}data: [DONE]\n\n`)),
  "sends comments without end in sight": says(`${": ping\n\n".repeat(10_000)}${TEXT}${FINISH}`),
  "sends a line of 5 M characters": says(sse(chunk("x".repeat(5_000_000))) + FINISH),
};

function head(status: string, headers: Readonly<Record<string, string>>): string {
  return `HTTP/1.1 ${status}\r\n${Object.entries({ connection: "close", ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;
}

function plain(
  status: string,
  contentType: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): string {
  return (
    head(status, { "content-type": contentType, "content-length": String(Buffer.byteLength(body)), ...headers }) + body
  );
}

function redirect(status: string): string {
  return plain(status, "text/html", "<a>elsewhere</a>", { location: "http://127.0.0.1:9/v1/chat/completions" });
}

function error(members: object): string {
  return JSON.stringify({ error: { type: "some_error", ...members } });
}

export function framed(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

function says(text: string): Deed {
  return (socket) => socket.end(STREAM_HEAD + framed(text) + LAST);
}

/** Writes endlessly, as fast as it is read, until the reader closes; returns the number of bytes written. */
export function flood(socket: Socket, before: string, piece: string): { bytes(): number } {
  const block = piece.repeat(Math.ceil(65_536 / piece.length));
  let bytes = 0;
  const write = (): void => {
    while (!socket.destroyed) {
      bytes += block.length;
      if (!socket.write(block)) return;
    }
  };
  socket.on("drain", write);
  socket.write(before);
  write();
  return { bytes: () => bytes };
}

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createInterface } from "node:readline";
import type { SttClientMessage } from "@antiphon/contracts/local-stt/types.ts";
import { describe, expect, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { verifies } from "../../../../tests/verifies.ts";
import { bodyOf, collect, type LocalServer, listen, sendJson, startLocalServer } from "../http/local-server.fixture.ts";
import {
  AntiphonSpeech,
  APIConnectionError,
  APIError,
  APIUserAbortError,
  InternalServerError,
  StreamBrokenError,
} from "../index.ts";

const CHUNK: SttClientMessage = { type: "chunk", audio_base64: "AAAA" };
const FLUSH: SttClientMessage = { type: "flush" };
const END: SttClientMessage = { type: "end" };
const HELLO = { type: "hello", protocol: "stt-jsonl-v1" };

const TRANSPORTS = ["ndjson", "websocket"] as const;

describe.each(TRANSPORTS)("a stream over %s", (streamTransport) => {
  const openStream = (server: LocalServer, messages: AsyncIterable<SttClientMessage>, signal?: AbortSignal) =>
    new AntiphonSpeech({ baseUrl: server.url, streamTransport }).streamTranscription(
      messages,
      {},
      signal === undefined ? {} : { signal },
    );

  test("yields a reply before the next message is sent", async () => {
    verifies("client.stt.both-stream-transports");
    await using server = await startSpeechServer();
    const answers = new Doorbell();
    async function* talk() {
      for (const message of [CHUNK, CHUNK, FLUSH, END]) {
        await answers.ring;
        yield message;
      }
    }
    const heard: unknown[] = [];
    for await (const message of await openStream(server, talk())) {
      heard.push(message);
      answers.press();
    }
    expect(heard).toEqual([
      HELLO,
      { type: "ack", received_bytes: 3 },
      { type: "ack", received_bytes: 6 },
      { type: "transcript.final", text: "2" },
      { type: "transcript.final", text: "0" },
      { type: "stream.closed" },
    ]);
  });

  test("cancels a source that continues after the end", async () => {
    verifies("client.stt.both-stream-transports");
    await using server = await startSpeechServer();
    const { talk, isCancelled } = endlessTalk([END]);
    await collect(await openStream(server, talk));
    await isCancelled;
    await server.closed;
  });

  test("closes the connection and cancels the source when the loop is left early", async () => {
    verifies("client.streams.leaving-early-closes");
    await using server = await startSpeechServer();
    const { talk, isCancelled } = endlessTalk([CHUNK]);
    for await (const message of await openStream(server, talk)) if (message.type === "ack") break;
    await isCancelled;
    await server.closed;
  });

  test("ends at once when its signal aborts", async () => {
    verifies("client.abort.signal-ends-call");
    await using server = await startSpeechServer();
    const controller = new AbortController();
    const { talk, isCancelled } = endlessTalk([CHUNK]);
    const stream = await openStream(server, talk, controller.signal);
    setTimeout(() => controller.abort(), 50);
    await expect(collect(stream)).rejects.toBeInstanceOf(APIUserAbortError);
    await isCancelled;
    await server.closed;
  });

  test("throws an error message of the server, after the messages before it", async () => {
    verifies("client.stt.both-stream-transports");
    await using server = await startSpeechServer();
    const heard: string[] = [];
    const reading = (async () => {
      for await (const { type } of await openStream(server, say([CHUNK, { type: "chunk", audio_base64: "" }])))
        heard.push(type);
    })();
    await expect(reading).rejects.toMatchObject({
      name: "APIError",
      code: "invalid_message",
      message: "audio_base64 is required",
    });
    await expect(reading).rejects.toBeInstanceOf(APIError);
    expect(heard).toEqual(["hello", "ack"]);
  });

  test("rejects when the server disconnects before stream.closed", async () => {
    verifies("client.streams.broken-stream-rejects");
    await using server = await startSpeechServer();
    const stream = await openStream(server, endlessTalk([CHUNK]).talk);
    const reading = (async () => {
      for await (const { type } of stream) if (type === "ack") server.server.emit("go-away");
    })();
    await expect(reading).rejects.toBeInstanceOf(StreamBrokenError);
  });

  test("rejects with the error of a source that fails", async () => {
    await using server = await startSpeechServer();
    async function* talk() {
      yield CHUNK;
      await new Promise((resolve) => setTimeout(resolve, 30));
      throw new RangeError("no microphone");
    }
    const reading = (async () => collect(await openStream(server, talk())))();
    await expect(reading).rejects.toThrow("no microphone");
    await server.closed;
  });

  test("carries ten thousand messages without losing one", async () => {
    verifies("client.stt.both-stream-transports");
    await using server = await startSpeechServer();
    const heard = await collect(await openStream(server, say([...Array.from({ length: 10_000 }, () => CHUNK), END])));
    expect(heard).toHaveLength(10_003);
    expect(heard.at(-3)).toEqual({ type: "ack", received_bytes: 30_000 });
  });

  test("rejects when the server is unreachable", async () => {
    const nowhere = new AntiphonSpeech({ baseUrl: "http://127.0.0.1:1", streamTransport });
    await expect(nowhere.streamTranscription(say([END]))).rejects.toBeInstanceOf(APIConnectionError);
  });

  test("rejects when the server refuses", async () => {
    await using server = await startLocalServer((reply) =>
      sendJson(reply, 503, { error: { code: "model_loading", message: "Wait." } }),
    );
    // WebSockets do not report the status.
    const ErrorClass = streamTransport === "ndjson" ? InternalServerError : APIConnectionError;
    await expect(openStream(server, say([END]))).rejects.toBeInstanceOf(ErrorClass);
  });
});

test("lines are read if they are split anywhere, are blank, or lack the last line end", async () => {
  verifies("client.stt.both-stream-transports");
  const bytes = Buffer.from(
    `${JSON.stringify({ ...HELLO, note: "Grüße 👋" })}\n\r\n${JSON.stringify({ type: "stream.closed" })}`,
  );
  for (let at = 0; at <= bytes.length; at += 1) {
    const body = bodyOf([bytes.subarray(0, at), bytes.subarray(at)]);
    const speech = new AntiphonSpeech({ fetch: () => Promise.resolve(new Response(body)), streamTransport: "ndjson" });
    const heard = await collect(await speech.streamTranscription(say([])));
    expect(heard, `split at ${at}`).toEqual([{ ...HELLO, note: "Grüße 👋" }, { type: "stream.closed" }]);
  }
});

async function* say(messages: readonly SttClientMessage[]): AsyncGenerator<SttClientMessage> {
  yield* messages;
}

/** Yields the messages, then waits until it is cancelled. */
function endlessTalk(messages: readonly SttClientMessage[]) {
  let cancel: () => void = () => undefined;
  const isCancelled = new Promise<void>((resolve) => {
    cancel = resolve;
  });
  const left = [...messages];
  const iterator: AsyncIterator<SttClientMessage> = {
    next: () => {
      const value = left.shift();
      return value === undefined ? new Promise(() => undefined) : Promise.resolve({ value });
    },
    return: () => {
      cancel();
      return Promise.resolve({ done: true, value: undefined });
    },
  };
  return { talk: { [Symbol.asyncIterator]: () => iterator }, isCancelled };
}

class Doorbell {
  ring: Promise<void> = Promise.resolve();
  press: () => void = () => undefined;

  constructor() {
    this.#arm();
  }

  #arm(): void {
    this.ring = new Promise((resolve) => {
      this.press = () => {
        resolve();
        this.#arm();
      };
    });
  }
}

/** Serves stt-jsonl-v1 over both transports. A transcript is the number of chunks since the previous one. */
async function startSpeechServer(): Promise<LocalServer> {
  const server = createServer((request, reply) => answerLines(request, reply));
  const sockets = new WebSocketServer({ server, path: "/ws/transcribe" });
  sockets.on("connection", answerSocket);
  server.on("go-away", () => server.closeAllConnections());
  server.on("go-away", () => sockets.clients.forEach((socket) => socket.terminate()));
  return listen(server);
}

function answerLines(request: IncomingMessage, reply: ServerResponse): void {
  reply.writeHead(200, { "content-type": "application/x-ndjson" });
  const answer = createAnswerer(
    (message) => reply.write(`${JSON.stringify(message)}\n`),
    () => reply.end(),
  );
  request.on("error", () => undefined);
  createInterface({ input: request })
    .on("line", answer)
    .on("error", () => undefined);
}

function answerSocket(socket: WebSocket): void {
  const answer = createAnswerer(
    (message) => socket.send(JSON.stringify(message)),
    () => socket.close(1000),
  );
  socket.on("message", (data) => answer(Buffer.isBuffer(data) ? data.toString() : ""));
}

function createAnswerer(send: (message: unknown) => void, close: () => void): (line: string) => void {
  let bytes = 0;
  let chunks = 0;
  send(HELLO);
  return (line) => {
    if (line === "") return;
    const message: SttClientMessage = JSON.parse(line);
    if (message.type === "chunk") {
      if (message.audio_base64 === "") {
        send({ type: "error", code: "invalid_message", message: "audio_base64 is required" });
        return close();
      }
      bytes += Buffer.from(message.audio_base64, "base64").length;
      chunks += 1;
      return send({ type: "ack", received_bytes: bytes });
    }
    send({ type: "transcript.final", text: String(chunks) });
    chunks = 0;
    if (message.type === "flush") return;
    send({ type: "stream.closed" });
    close();
  };
}

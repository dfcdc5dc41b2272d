import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import {
  AntiphonCloudSpeech,
  APIError,
  APITimeoutError,
  type CloudClientMessage,
  type CloudServerMessage,
  InternalServerError,
  type KeyedSocket,
  RateLimitError,
  StreamBrokenError,
  type UpgradeReply,
} from "../index.ts";
import { pausingAfter } from "./pausing-source.fixture.ts";

const MINUTE_MS = 60_000;
const PIECE: CloudClientMessage = { type: "audio", audio_base64: "AAAA" };

/** A socket of a service in memory. It opens or is refused; then the test controls it. */
class FakeSocket implements KeyedSocket {
  bufferedAmount = 0;
  readonly sent: unknown[] = [];
  closedWith: number | undefined;
  readonly #events = new EventTarget();
  #refused: (request: unknown, reply: UpgradeReply) => void = () => {};

  constructor(refusal: UpgradeReply | null) {
    queueMicrotask(() => (refusal === null ? this.#tell("open") : this.#refused(null, refusal)));
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(code = 1006): void {
    if (this.closedWith !== undefined) return;
    this.closedWith = code;
    this.#tell("close", { code });
  }

  say(...messages: readonly object[]): void {
    for (const message of messages) this.#tell("message", { data: JSON.stringify(message) });
  }

  addEventListener(type: string, listener: (event: { readonly data: unknown; readonly code: number }) => void): void {
    this.#events.addEventListener(type, (event) => listener(Object.assign({ data: null, code: 1006 }, event)));
  }

  on(_event: "unexpected-response", listener: (request: unknown, reply: UpgradeReply) => void): void {
    this.#refused = listener;
  }

  #tell(type: string, members: object = {}): void {
    this.#events.dispatchEvent(Object.assign(new Event(type), members));
  }
}

describe("a cloud stream", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** A client, and the sockets that it opens. */
  const start = (refusals: readonly (UpgradeReply | null)[] = [null]) => {
    const sockets: FakeSocket[] = [];
    const openSocket = (): FakeSocket => {
      const socket = new FakeSocket(refusals[sockets.length] ?? null);
      sockets.push(socket);
      return socket;
    };
    const client = new AntiphonCloudSpeech({ baseUrl: "https://stt.example.com", apiKey: "sk-1", openSocket });
    return { client, sockets };
  };

  test("sends a heartbeat at least every 300 s while nobody speaks", async () => {
    verifies("cloud.stream.heartbeat-keeps-open");
    const { client, sockets } = start();
    await client.stream(pausingAfter(PIECE).messages);
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS);
    expect(sockets[0]?.sent).toEqual([PIECE, ...Array.from({ length: 5 }, () => ({ type: "heartbeat" }))]);
    if (sockets[0] !== undefined) sockets[0].bufferedAmount = 1;
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS);
    expect(sockets[0]?.sent).toHaveLength(6);
    sockets[0]?.close();
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS);
    expect(sockets[0]?.sent).toHaveLength(6);
  });

  test("reads its source no faster than it sends, and not while its messages are not read", async () => {
    const { client, sockets } = start();
    let taken = 0;
    async function* talk() {
      for (; taken < 1000; taken += 1) yield PIECE;
    }
    const stream = await client.stream(talk());
    const [socket] = sockets;
    if (socket === undefined) throw new Error("a socket was opened");
    socket.bufferedAmount = 2 * 1024 * 1024;
    await vi.advanceTimersByTimeAsync(1000);
    const jammedAt = taken;
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect([taken, jammedAt < 1000]).toEqual([jammedAt, true]);
    socket.bufferedAmount = 0;
    for (let count = 0; count < 300; count += 1) socket.say({ type: "interim", text: "a", confidence: null });
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(taken - jammedAt).toBeLessThan(2);
    const reading = texts(stream);
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect([taken, socket.sent.at(-1)]).toEqual([1000, { type: "audio", audio_base64: "", last: true }]);
    socket.say({ type: "final", text: "b", confidence: 0.9 });
    socket.close(1000);
    expect((await reading).at(-1)).toBe("b");
  });

  test("is retried 60 s after a rate limit that names no time, and so are other streams of the client", async () => {
    verifies("cloud.stream.rate-limit-waits-60-seconds");
    const { client, sockets } = start([{ statusCode: 429, headers: {} }]);
    const first = client.stream(pausingAfter<CloudClientMessage>().messages);
    await vi.advanceTimersByTimeAsync(MINUTE_MS / 2);
    const second = client.stream(pausingAfter<CloudClientMessage>().messages);
    await vi.advanceTimersByTimeAsync(MINUTE_MS / 2 - 1000);
    expect(sockets).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(3000);
    await Promise.all([first, second]);
    expect(sockets).toHaveLength(3);
  });

  test("that ends with a rate limit makes the next one wait too", async () => {
    verifies("cloud.stream.audio-limit", "cloud.client.typed-errors");
    const { client, sockets } = start();
    const stream = await client.stream(pausingAfter<CloudClientMessage>().messages);
    sockets[0]?.say({ type: "error", code: "rate_limited", message: "Too much." });
    await expect(texts(stream)).rejects.toBeInstanceOf(RateLimitError);
    const next = client.stream(pausingAfter<CloudClientMessage>().messages);
    await vi.advanceTimersByTimeAsync(MINUTE_MS - 1000);
    expect(sockets).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(3000);
    await next;
  });

  test.each([
    ["internal_error", InternalServerError],
    ["something_new", APIError],
  ])("that ends with the error %s rejects with the matching class", async (code, ErrorClass) => {
    verifies("cloud.client.typed-errors");
    const { client, sockets } = start();
    const stream = await client.stream(pausingAfter<CloudClientMessage>().messages);
    sockets[0]?.say({ type: "error", code, message: "No." });
    await expect(texts(stream)).rejects.toBeInstanceOf(ErrorClass);
    expect(sockets[0]?.closedWith).toBe(1000);
  });

  test.each([
    ["before its last audio", [PIECE], 1000],
    ["with another code", [{ ...PIECE, last: true }], 1001],
  ] as const)("that closes %s rejects", async (_name, messages, code) => {
    verifies("client.streams.broken-stream-rejects");
    const { client, sockets } = start();
    const { messages: source, isCancelled } = pausingAfter(...messages);
    const stream = await client.stream(source);
    await vi.advanceTimersByTimeAsync(1);
    sockets[0]?.close(code);
    await expect(texts(stream)).rejects.toBeInstanceOf(StreamBrokenError);
    await isCancelled;
  });

  test("may be silent for hours, but not after the last audio", async () => {
    const { client, sockets } = start();
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    async function* talk() {
      yield PIECE;
      await isOver;
      yield { ...PIECE, last: true };
    }
    const reading = texts(await client.stream(talk()));
    reading.catch(() => {});
    await vi.advanceTimersByTimeAsync(300 * MINUTE_MS);
    expect(sockets[0]?.closedWith).toBeUndefined();
    end();
    await vi.advanceTimersByTimeAsync(4 * MINUTE_MS);
    sockets[0]?.say({ type: "final", text: "still at it", confidence: null });
    await vi.advanceTimersByTimeAsync(4 * MINUTE_MS);
    expect(sockets[0]?.closedWith).toBeUndefined();
    await vi.advanceTimersByTimeAsync(2 * MINUTE_MS);
    await expect(reading).rejects.toBeInstanceOf(APITimeoutError);
    expect(sockets[0]?.closedWith).toBe(1000);
  });

  test("needs no interims, and accepts an empty final", async () => {
    verifies("cloud.stream.interims-may-be-missing", "cloud.stream.empty-final");
    const { client, sockets } = start();
    const stream = await client.stream(pausingAfter<CloudClientMessage>({ ...PIECE, last: true }).messages);
    await vi.advanceTimersByTimeAsync(1);
    for (const text of ["", "one", ""]) sockets[0]?.say({ type: "final", text, confidence: null });
    sockets[0]?.close(1000);
    expect(await texts(stream)).toEqual(["", "one", ""]);
  });

  test("passes on unknown messages and members", async () => {
    verifies("client.readers.unknown-members-ignored");
    const { client, sockets } = start();
    const stream = await client.stream(pausingAfter<CloudClientMessage>({ ...PIECE, last: true }).messages);
    await vi.advanceTimersByTimeAsync(1);
    const heard: unknown[] = [];
    sockets[0]?.say({ type: "language", language: "en" }, { type: "final", text: "a", speaker: 1 });
    sockets[0]?.close(1000);
    for await (const message of stream) heard.push(message);
    expect(heard).toEqual([
      { type: "language", language: "en" },
      { type: "final", text: "a", speaker: 1 },
    ]);
  });
});

async function texts(stream: AsyncIterable<CloudServerMessage>): Promise<string[]> {
  const all: string[] = [];
  for await (const message of stream) if (message.type !== "error") all.push(message.text);
  return all;
}

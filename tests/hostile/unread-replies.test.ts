import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { sse } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { memoryOf } from "../kit/processes.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { readSnapshot, responseIdOf } from "./event-stream.ts";
import { chunk, serveBytes } from "./model-server.ts";
import { chunkedBodyOf, createCall, RawConnection } from "./raw-connection.ts";

const MEBIBYTE = 1024 * 1024;
const MODEL = "antiphon-built-in";
const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/** Opens a connection, reads the first bytes of the reply to `call`, and reads no more. */
async function openUnread(url: string, call: string): Promise<RawConnection> {
  const connection = await RawConnection.open(url);
  connection.send(call);
  await once(connection.socket, "data");
  connection.socket.pause();
  return connection;
}

/** Reads whole replies, and counts their bytes without keeping them. */
class CountingClient {
  readonly socket: Socket;
  #head = "";
  #bytes = 0;

  constructor(url: string, call: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect({ host: hostname, port: Number(port) });
    onTestFinished(() => void this.socket.destroy());
    this.socket.on("error", () => {});
    this.socket.on("data", (piece: Buffer) => {
      if (this.#bytes === 0) this.#head = piece.toString("latin1", 0, piece.indexOf("\r\n\r\n") + 4);
      this.#bytes += piece.length;
    });
    this.socket.write(call);
  }

  static async openUnread(url: string, call: string): Promise<CountingClient> {
    const client = new CountingClient(url, call);
    await once(client.socket, "data");
    client.socket.pause();
    return client;
  }

  get isWhole(): boolean {
    const length = /^content-length: (\d+)/im.exec(this.#head)?.[1];
    return length !== undefined && this.#bytes >= this.#head.length + Number(length);
  }

  /** Reads the rest; returns whether it was complete. */
  async readOn(): Promise<boolean> {
    this.socket.resume();
    while (!this.isWhole && !this.socket.destroyed && !this.socket.readableEnded)
      await new Promise((resolve) => setTimeout(resolve, 5));
    return this.isWhole;
  }
}

describe.skipIf(process.platform !== "linux")("large replies that nobody reads", () => {
  const REPLY_BYTES = 8 * MEBIBYTE;
  const CLIENTS = 32;
  const UNREAD_BYTES_MAX = 4 * REPLY_BYTES;
  /** After as many replies, a server has made as much garbage as it ever does at once. */
  const WARMING_REPLIES = 4;
  /** Leaves room for garbage and a busy machine. Without the budget it would be nearly twice this. */
  const GROWTH_BYTES_MAX = 4 * UNREAD_BYTES_MAX;

  async function storeLarge(server: ChildServer): Promise<string> {
    const reply = await server.post("/v1/responses", { model: MODEL, input: "x".repeat(REPLY_BYTES) });
    const { id } = await reply.json();
    return `GET /v1/responses/${id}/input_items HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${server.apiKey}\r\n\r\n`;
  }

  test("hold at most the budget; the longest unread are cut, and other clients are served", async () => {
    verifies("transport.replies.unread-budget");
    // The heap has no room for the reply's text beside its bytes, for as many clients as the budget allows.
    const flags = ["--max-old-space-size=160"];
    const server = await startChildServer({ env: { UNREAD_BYTES_MAX: String(UNREAD_BYTES_MAX) }, flags });
    const call = await storeLarge(server);
    for (let reply = 0; reply < WARMING_REPLIES; reply += 1)
      expect(await new CountingClient(server.url, call).readOn()).toBe(true);
    const { residentBytes: before } = await memoryOf(server.pid);
    const unread: CountingClient[] = [];
    for (let client = 0; client < CLIENTS; client += 1) unread.push(await CountingClient.openUnread(server.url, call));
    expect((await memoryOf(server.pid)).residentBytes - before).toBeLessThan(GROWTH_BYTES_MAX);
    expect(await new CountingClient(server.url, call).readOn()).toBe(true);
    expect((await server.post("/v1/responses", { model: MODEL, input: "Hi" })).status).toBe(200);
    for (const cut of unread.slice(0, CLIENTS / 2)) expect(await cut.readOn()).toBe(false);
    expect(await unread.at(-1)?.readOn()).toBe(true);
  });

  test("are cut if their reader reads nothing for too long; a slow reader is served", async () => {
    verifies("transport.replies.unread-timeout");
    const server = await startChildServer({ env: { UNREAD_TIMEOUT_MS: "1500" } });
    const call = await storeLarge(server);
    const idle = await CountingClient.openUnread(server.url, call);
    const slow = await CountingClient.openUnread(server.url, call);
    const trickling = setInterval(() => readSome(slow.socket), 50);
    onTestFinished(() => clearInterval(trickling));
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    clearInterval(trickling);
    expect([await idle.readOn(), await slow.readOn()]).toEqual([false, true]);
  });
});

/** How many looks in a row a connection must be unchanged. */
const STILL_LOOKS = 10;

/** Resolves once the system takes no more bytes for this connection from the server. */
async function untilBlocked({ localPort = 0, remotePort = 0 }: Socket): Promise<void> {
  const ends = [remotePort, localPort].map((port) => `:${port.toString(16).toUpperCase().padStart(4, "0")}`);
  let before = "";
  let looks = 0;
  await expect
    .poll(
      async () => {
        const lines = (await readFile("/proc/net/tcp", "utf8")).split("\n").map((line) => line.trim().split(/\s+/));
        const [, , , , queues = ""] =
          lines.find(([, one, other]) => one?.endsWith(ends[0] ?? "") && other?.endsWith(ends[1] ?? "")) ?? [];
        const isStill = queues === before && !queues.startsWith("00000000");
        looks = isStill ? looks + 1 : 0;
        before = queues;
        return looks;
      },
      { interval: 50 },
    )
    .toBeGreaterThan(STILL_LOOKS);
}

/** Lets a paused socket read for a moment. */
function readSome(socket: Socket): void {
  socket.resume();
  setTimeout(() => socket.pause(), 5);
}

describe("streams that nobody reads", () => {
  const PIECES = sse(chunk("x".repeat(150))).repeat(13_000);

  /** A server whose model says much, and its last word when the test says so. */
  async function serve(env: Readonly<Record<string, string>>): Promise<TestServer & { finish(): void }> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const model = await serveBytes((socket) => {
      socket.write(HEAD + PIECES);
      void promise.then(() => socket.end(sse(chunk("", "stop"), "[DONE]")));
    });
    const server = await startTestServer({ env: { MODEL_BASE_URL: model.url, ...env } });
    onTestFinished(async () => {
      await server.close();
      await model.close();
    });
    return { ...server, finish: resolve };
  }

  const stream = (server: TestServer, members: object = {}): Promise<RawConnection> =>
    openUnread(server.url, createCall(server.apiKey, { model: "m", input: "Go on", stream: true, ...members }));
  const statusOf = async (server: TestServer, connection: RawConnection): Promise<string> => {
    const id = responseIdOf(chunkedBodyOf(connection.received));
    return readSnapshot(await (await server.fetch(`/v1/responses/${id}`)).json()).status;
  };
  const openStreams = async (server: TestServer): Promise<number> => {
    const metrics = await (await server.fetch("/metrics")).text();
    return Number(/^antiphon_streams_open (\d+)/m.exec(metrics)?.[1]);
  };

  test("are cut if their reader reads nothing for too long, also after their runs have ended", async () => {
    verifies("transport.replies.unread-timeout");
    const server = await serve({ UNREAD_TIMEOUT_MS: "1000" });
    server.finish();
    const unread = await Promise.all(Array.from({ length: 4 }, () => stream(server)));
    await expect.poll(() => openStreams(server)).toBe(0);
    for (const connection of unread) expect(await statusOf(server, connection)).toBe("completed");
  });

  test("are cut beyond the budget; a stored response continues without its reader, any other ends", async () => {
    verifies("transport.replies.unread-budget", "transport.replies.cut-runs-go-on");
    const server = await serve({ UNREAD_BYTES_MAX: "150000" });
    const stored = await stream(server);
    await untilBlocked(stored.socket); // So that it has been idle longest.
    await Promise.all(Array.from({ length: 5 }, () => stream(server, { store: false })));
    await expect.poll(() => openStreams(server)).toBeLessThan(4);
    stored.socket.resume();
    await stored.untilClosed();
    expect(await statusOf(server, stored)).toBe("in_progress");
    server.finish();
    await expect.poll(() => statusOf(server, stored)).toBe("completed");
  });
});

import { randomBytes } from "node:crypto";
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { memoryOf } from "../kit/processes.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { errorOf } from "./catalogue-error.ts";
import { bodyOf, createHead, RawConnection } from "./raw-connection.ts";

const MEBIBYTE = 1024 * 1024;
const MODEL = "antiphon-built-in";
const BODY_BYTES = 8 * MEBIBYTE;
const INCOMING_BYTES_MAX = 16 * MEBIBYTE;
const LIMITS = {
  BODY_BYTES_MAX: String(BODY_BYTES + 1024),
  BACKEND_MAX_UPLOAD_MB: "1",
  INCOMING_BYTES_MAX: String(INCOMING_BYTES_MAX),
};
/**
 * Many times the budget, because garbage is collected late on a busy machine. All bodies unpacked would take twice as
 * much, and again as much as text.
 */
const GROWTH_BYTES_MAX = 320 * MEBIBYTE;
const AT_ONCE = 80;

const COMPRESSIONS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gzipSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: (bytes) => zstdCompressSync(bytes),
};

/** A create call of this many bytes, `blanks` of them spaces. */
function bodyOfSize(bytes: number, blanks: number): Buffer {
  const [before, after] = [`{"model":"${MODEL}","input":"`, '"}'];
  const text = randomBytes(bytes).toString("base64");
  return Buffer.from(
    before + text.slice(0, bytes - blanks - before.length - after.length) + " ".repeat(blanks) + after,
  );
}

/** Compresses to about a sixtieth. */
const PACKED = gzipSync(bodyOfSize(BODY_BYTES, BODY_BYTES - 150_000));

describe.skipIf(process.platform !== "linux")("many bodies sent at once", () => {
  const post = (server: ChildServer, body: Buffer): Promise<Response> =>
    server.fetch("/v1/responses", {
      method: "POST",
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
      body: new Uint8Array(body),
    });

  test("are decompressed as far as memory allows if they are compressed, and the others are told to retry later", async () => {
    verifies("transport.body.incoming-budget");
    const server = await startChildServer({ env: LIMITS });
    await (await server.post("/v1/responses", { model: MODEL, input: "Warm up" })).text();
    const { residentBytes: before } = await memoryOf(server.pid);
    const replies = await Promise.all(Array.from({ length: AT_ONCE }, () => post(server, PACKED)));
    const statuses = replies.map(({ status }) => status);
    for (const reply of replies) await reply.text();
    expect((await memoryOf(server.pid)).peakBytes - before).toBeLessThan(GROWTH_BYTES_MAX);
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(statuses).toContain(503);
    expect((await post(server, PACKED)).status).toBe(200); // The memory is free again.
  });

  test("hold no more than the budget if each lacks its last byte, and small requests pass", async () => {
    verifies("transport.body.incoming-budget");
    const server = await startChildServer({ env: LIMITS });
    const body = bodyOfSize(BODY_BYTES, 0);
    const connections = await Promise.all(Array.from({ length: AT_ONCE / 4 }, () => RawConnection.open(server.url)));
    for (const connection of connections) {
      connection.send(createHead(server.apiKey, { "content-length": body.length }));
      connection.send(body.subarray(0, -1));
    }
    const refused = (): readonly RawConnection[] => connections.filter(({ received }) => received !== "");
    const heldAtMost = INCOMING_BYTES_MAX / BODY_BYTES;
    await expect.poll(() => refused().length, { timeout: 20_000 }).toBeGreaterThanOrEqual(AT_ONCE / 4 - heldAtMost);
    const [first] = refused();
    expect(first?.received).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: 1/i);
    expect(JSON.parse(bodyOf(first?.received ?? ""))).toMatchObject({ error: { code: "server_is_overloaded" } });
    expect((await server.post("/v1/responses", { model: MODEL, input: "Hi" })).status).toBe(200);
    const waiting = connections.filter(({ received }) => received === "");
    for (const connection of waiting) connection.send(body.subarray(-1));
    for (const connection of waiting) await connection.until((text) => text.startsWith("HTTP/1.1 200"));
    for (const connection of connections) connection.leave();
  });
});

describe("a compressed body", () => {
  async function serve(): Promise<TestServer> {
    const server = await startTestServer();
    return server;
  }

  test.each(Object.entries(COMPRESSIONS))(
    "that unpacks to more than a hundred times its size gets 413: %s",
    async (encoding, compress) => {
      verifies("transport.body.unpacked-ratio");
      const server = await serve();
      const post = (body: Buffer): Promise<Response> =>
        server.fetch("/v1/responses", {
          method: "POST",
          headers: { "content-type": "application/json", "content-encoding": encoding },
          body: new Uint8Array(compress(body)),
        });
      const bomb = await post(bodyOfSize(BODY_BYTES, BODY_BYTES - 1000));
      expect(await errorOf(bomb)).toMatchObject({ status: 413, code: "request_too_large" });
      expect((await post(bodyOfSize(BODY_BYTES, BODY_BYTES - 300_000))).status).toBe(200);
      expect((await post(bodyOfSize(MEBIBYTE / 2, MEBIBYTE / 2 - 1000))).status).toBe(200);
    },
  );
});

import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { PIXEL_BYTES } from "../responses/media-samples.ts";
import { verifies } from "../verifies.ts";
import { errorOf, readError } from "./catalogue-error.ts";
import { bodyOf, createHead, isWhole, RawConnection } from "./raw-connection.ts";

const MODEL = "antiphon-built-in";
const BYTES_MAX = 64 * 1024;
const BOMB_BYTES = 64 * 1024 * 1024;
const BOMBS_AT_ONCE = 20;
/** Room for decompression windows and buffers. The decompressed bodies would take seven times as much. */
const GROWTH_BYTES_MAX = (BOMBS_AT_ONCE * BOMB_BYTES) / 7;

const COMPRESSIONS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gzipSync(bytes),
  "x-gzip": (bytes) => gzipSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: (bytes) => zstdCompressSync(bytes),
};

/** Bodies that claim a compression they do not have, or not to their end. */
const NOT_COMPRESSED: Readonly<Record<string, (compress: (bytes: Buffer) => Buffer) => Buffer>> = {
  "plain JSON": () => bodyOfSize(500),
  "one byte": () => Buffer.from([0x1f]),
  "half of it": (compress) => compress(bodyOfSize(500)).subarray(0, 40),
  "a flipped byte": (compress) => {
    const bytes = Buffer.from(compress(bodyOfSize(500)));
    bytes[0] = (bytes[0] ?? 0) ^ 0xff;
    return bytes;
  },
};

describe("a large body", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ env: { BODY_BYTES_MAX: String(BYTES_MAX) } });
  });
  afterAll(() => server.close());

  const post = (bytes: Buffer, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    server.fetch("/v1/responses", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: new Uint8Array(bytes),
    });

  test.each([0, 1, 2])("is served at %i bytes under the limit", async (under) => {
    expect((await post(bodyOfSize(BYTES_MAX - under))).status).toBe(200);
  });

  test.each([1, 2, BYTES_MAX, 20 * BYTES_MAX])("gets 413 in JSON at %i bytes over the limit", async (over) => {
    verifies("transport.body.limit-is-413-json");
    const reply = await post(bodyOfSize(BYTES_MAX + over));
    expect(await errorOf(reply)).toMatchObject({ status: 413, code: "request_too_large", param: null });
    expect((await post(bodyOfSize(200))).status).toBe(200);
  });

  test("gets 413 if it arrives in chunks without a declared length", async () => {
    verifies("transport.body.limit-is-413-json");
    const connection = await RawConnection.open(server.url);
    connection.send(createHead(server.apiKey, { "transfer-encoding": "chunked" }));
    const chunk = "x".repeat(1024);
    for (let sent = 0; sent <= BYTES_MAX; sent += chunk.length)
      connection.send(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    const received = await connection.until(isWhole);
    expect(received).toMatch(/^HTTP\/1\.1 413 /);
    expect(readError(bodyOf(received))).toMatchObject({ code: "request_too_large" });
    connection.leave();
  });

  test("is served if it arrives in chunks of one byte", async () => {
    const connection = await RawConnection.open(server.url);
    connection.send(createHead(server.apiKey, { "transfer-encoding": "chunked" }));
    const bytes = bodyOfSize(2000).toString();
    connection.send([...bytes].map((character) => `1;extension=${"x".repeat(8)}\r\n${character}\r\n`).join(""));
    connection.send("0\r\ntrailer: x\r\n\r\n");
    expect(await connection.until(isWhole)).toMatch(/^HTTP\/1\.1 200 /);
    connection.leave();
  });

  test("gets 413 for its declared length alone", async () => {
    const connection = await RawConnection.open(server.url);
    connection.send(createHead(server.apiKey, { "content-length": 10 * BYTES_MAX }));
    expect(await connection.until(isWhole)).toMatch(/^HTTP\/1\.1 413 /);
    connection.leave();
  });

  test.each(["-1", "0x10", "1e3", "99999999999999999999999", "12, 13", "abc"])(
    "with the length %s is invalid HTTP or too large",
    async (length) => {
      const connection = await RawConnection.open(server.url);
      connection.send(createHead(server.apiKey, { "content-length": length }));
      const received = await connection.until(isWhole);
      expect(received).toMatch(/^HTTP\/1\.1 4(?:00|13) /);
      readError(bodyOf(received));
      connection.leave();
    },
  );

  test.each(Object.entries(COMPRESSIONS))("is measured after decompression: %s", async (encoding, compress) => {
    verifies("transport.body.decodes-zstd-and-gzip", "transport.body.limit-counts-decoded-bytes");
    expect((await post(compress(bodyOfSize(BYTES_MAX)), { "content-encoding": encoding })).status).toBe(200);
    const over = await post(compress(bodyOfSize(BYTES_MAX + 1)), { "content-encoding": encoding });
    expect(await errorOf(over)).toMatchObject({ status: 413, code: "request_too_large" });
  });

  test.each(Object.entries(COMPRESSIONS))(
    "gets 413 as a compression bomb, without being decompressed: %s",
    async (encoding, compress) => {
      verifies("transport.body.limit-counts-decoded-bytes");
      const bomb = compress(Buffer.alloc(BOMB_BYTES, " "));
      expect(bomb.length).toBeLessThan(BYTES_MAX * 2);
      const before = process.memoryUsage().rss;
      const replies = await Promise.all(
        Array.from({ length: BOMBS_AT_ONCE }, () => post(bomb, { "content-encoding": encoding })),
      );
      for (const reply of replies)
        expect(await errorOf(reply)).toMatchObject({ status: 413, code: "request_too_large" });
      expect(process.memoryUsage().rss - before).toBeLessThan(GROWTH_BYTES_MAX);
    },
  );

  test.each(Object.entries(COMPRESSIONS))(
    "gets 400 if it does not have its declared encoding: %s",
    async (encoding, compress) => {
      for (const [name, make] of Object.entries(NOT_COMPRESSED)) {
        const reply = await post(make(compress), { "content-encoding": encoding });
        expect(await errorOf(reply), name).toMatchObject({ status: 400, code: "invalid_json" });
      }
    },
  );

  test.each(["compress", "gzip, gzip", "zstd,gzip", "aws-chunked", "*", "lzma"])(
    "gets 415 for the encoding %s",
    async (encoding) => {
      const reply = await post(bodyOfSize(200), { "content-encoding": encoding });
      expect(await errorOf(reply)).toMatchObject({ status: 415, code: "unsupported_content_encoding" });
    },
  );
});

test("a server with default settings accepts a body with images of twelve megabytes", async () => {
  verifies("transport.body.large-images-fit");
  const server = await startTestServer();
  // Viewers stop at the end of the image.
  const picture = Buffer.concat([PIXEL_BYTES, Buffer.alloc(6 * 1024 * 1024, 7)]).toString("base64");
  const part = { type: "input_image", image_url: `data:image/png;base64,${picture}` };
  const reply = await server.post("/v1/responses", {
    model: MODEL,
    input: [{ role: "user", content: [{ type: "input_text", text: "Compare them" }, part, part] }],
  });
  expect(reply.status, (await reply.text()).slice(0, 1000)).toBe(200);
});

/** A create call of exactly this many bytes. */
function bodyOfSize(bytes: number): Buffer {
  const [before, after] = [`{"model":"${MODEL}","input":"`, '"}'];
  return Buffer.from(before + "x".repeat(bytes - before.length - after.length) + after);
}

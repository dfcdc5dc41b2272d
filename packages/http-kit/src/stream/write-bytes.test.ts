import { expect, test } from "vitest";
import type { ByteStream } from "../handler.ts";
import { connectTo, everythingFrom, type Sample, startSample, until } from "../http/sample-interface.fixture.ts";

/** Serves a stream of bytes at `/v1/things/1`. */
function serve(bytes: ByteStream): Promise<Sample> {
  const getThing = async () => ({ status: 200, bytes, contentType: "application/octet-stream" });
  return startSample({ handlers: { getThing } });
}

function streamOf(size: number, chunks: AsyncIterable<Uint8Array>): ByteStream {
  return { size, chunks };
}

async function* breaksAfter(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
  throw new Error("the disk is gone");
}

test("bytes come with their length and type", async () => {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let number = 0; number < 100; number += 1) yield Buffer.alloc(70_000, number);
  }
  const sample = await serve(streamOf(7_000_000, chunks()));
  const reply = await fetch(`${sample.url}/v1/things/1`);
  expect([reply.headers.get("content-length"), reply.headers.get("content-type")]).toEqual([
    "7000000",
    "application/octet-stream",
  ]);
  const bytes = Buffer.from(await reply.arrayBuffer());
  expect(bytes.equals(Buffer.concat(await Array.fromAsync(chunks())))).toBe(true);
});

test("an empty stream of bytes is an empty reply", async () => {
  async function* nothing(): AsyncGenerator<Uint8Array> {}
  const reply = await fetch(`${(await serve(streamOf(0, nothing()))).url}/v1/things/1`);
  expect([reply.status, reply.headers.get("content-length"), await reply.text()]).toEqual([200, "0", ""]);
});

test("a source that fails before its first bytes gets an ordinary error reply", async () => {
  const reply = await fetch(`${(await serve(streamOf(4, breaksAfter()))).url}/v1/things/1`);
  expect([reply.status, await reply.json()]).toMatchObject([500, { error: { code: "internal_error" } }]);
});

test("a source that fails later breaks the connection, and the log holds the error", async () => {
  const sample = await serve(streamOf(8, breaksAfter("half")));
  const text = fetch(`${sample.url}/v1/things/1`).then((reply) => reply.text());
  await expect(text).rejects.toThrow(/terminated|fetch failed/);
  expect(sample.log.filter(({ level }) => level === "error")).toMatchObject([
    { fields: { err: { message: "the disk is gone" } } },
  ]);
});

test("a HEAD request does not read the source", async () => {
  let asked = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    asked += 1;
    yield Buffer.from("body");
  }
  const reply = await fetch(`${(await serve(streamOf(4, counted()))).url}/v1/things/1`, { method: "HEAD" });
  expect([reply.status, reply.headers.get("content-length"), asked]).toEqual([200, "4", 0]);
});

test("the source is not read ahead of a client that does not read, and is ended when it leaves", async () => {
  let yielded = 0;
  let returned = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        yielded += 1;
        yield Buffer.alloc(1_000_000);
      }
    } finally {
      returned = true;
    }
  }
  const sample = await serve(streamOf(1e12, endless()));
  const socket = connectTo(sample);
  socket.pause();
  socket.write("GET /v1/things/1 HTTP/1.1\r\nhost: h\r\n\r\n");
  await until(() => yielded > 0);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(yielded).toBeLessThan(20); // As much as fits into the buffers of the two sockets.
  const closed = everythingFrom(socket);
  socket.destroy();
  await closed;
  await until(() => returned);
});

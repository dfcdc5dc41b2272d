import { readdir } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { memoryOf } from "../kit/processes.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { verifies } from "../verifies.ts";

const MEBIBYTE = 1024 * 1024;
const FILE_MEBIBYTES = 200;
/** Memory that a transfer of any size may add: buffers, and garbage not yet collected. */
const GROWTH_BYTES_MAX = 120 * MEBIBYTE;

/** More than the pipes between two processes hold, so that writing has begun before everything is sent. */
const SENT_BYTES = 64 * MEBIBYTE;

async function startChild(): Promise<{ server: ChildServer; dataDir: string }> {
  const dataDir = temporaryFolder();
  const server = await startChildServer({ scenario: "models: [m]\nscenarios: []\n", env: { DATA_DIR: dataDir } });
  return { server, dataDir };
}

function largeForm(): ReadableStream<Uint8Array> {
  const parts = formParts();
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await parts.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}

async function* formParts(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="large.bin"\r\n\r\n');
  for (let index = 0; index < FILE_MEBIBYTES; index += 1) yield Buffer.alloc(MEBIBYTE, index);
  yield Buffer.from('\r\n--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n--b--\r\n');
}

test.skipIf(process.platform !== "linux")(
  "the server's memory does not grow with the size of a file",
  { timeout: 60_000 },
  async () => {
    verifies("files.content.streams");
    const { server } = await startChild();
    const authorization = `Bearer ${server.apiKey}`;
    const { peakBytes: before } = await memoryOf(server.pid);
    const form: RequestInit & { readonly duplex: "half" } = {
      method: "POST",
      headers: { authorization, "content-type": "multipart/form-data; boundary=b" },
      body: largeForm(),
      duplex: "half",
    };
    const reply = await fetch(`${server.url}/v1/files`, form);
    const { id, bytes } = z.object({ id: z.string(), bytes: z.number() }).parse(await reply.json());
    expect(bytes).toBe(FILE_MEBIBYTES * MEBIBYTE);
    const content = await fetch(`${server.url}/v1/files/${id}/content`, { headers: { authorization } });
    let size = 0;
    for await (const chunk of content.body ?? []) {
      if (size % MEBIBYTE === 0) expect(chunk[0]).toBe((size / MEBIBYTE) % 256);
      size += chunk.length;
    }
    expect(size).toBe(bytes);
    expect((await memoryOf(server.pid)).peakBytes - before).toBeLessThan(GROWTH_BYTES_MAX);
  },
);

test("a process killed during an upload leaves nothing of it", async () => {
  verifies("files.storage.half-written-is-removed");
  const { server, dataDir } = await startChild();
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  socket.write(
    `POST /v1/files HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${server.apiKey}\r\n` +
      `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${2 * SENT_BYTES}\r\n\r\n` +
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n',
  );
  await new Promise((resolve) => socket.write(Buffer.alloc(SENT_BYTES), resolve));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await server.kill();
  await closed;
  expect(await readdir(join(dataDir, "files"))).toEqual([]);
});

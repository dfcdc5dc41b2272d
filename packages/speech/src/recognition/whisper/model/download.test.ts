import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../../../tests/verifies.ts";
import { type Download, download } from "./download.ts";

const FILE = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7 + (index >> 8)) % 256));
const SHA256 = createHash("sha256").update(FILE).digest("hex");
const RETRY_TIMING = { stallMs: 60_000, firstPauseMs: 5 };
const never = new AbortController().signal;

/** Answers one request. `progress` counts the bytes that the client has stored so far. */
type Answer = (
  request: IncomingMessage,
  response: ServerResponse,
  at: { readonly count: number; readonly progress: readonly number[] },
) => void;

interface Mirror {
  readonly folder: string;
  readonly path: string;
  /** The `range` header of each request; empty if the request had none. */
  readonly ranges: string[];
  readonly call: (more?: Partial<Download>) => Download;
  readonly progress: number[];
}

/** A loopback server that has the file, and an empty folder to download to. */
async function mirror(answer: Answer): Promise<Mirror> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-download-"));
  const ranges: string[] = [];
  const progress: number[] = [];
  const server = createServer((request, response) => {
    ranges.push(request.headers.range ?? "");
    answer(request, response, { count: ranges.length, progress });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true, force: true });
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const path = join(folder, "models", "model.bin");
  const call: Mirror["call"] = (more = {}) => ({
    url: `http://127.0.0.1:${port}/secret-path/model.bin?token=secret`,
    path,
    bytes: FILE.length,
    sha256: SHA256,
    onProgress: (received) => progress.push(received),
    retryTiming: RETRY_TIMING,
    ...more,
  });
  return { folder, path, ranges, call, progress };
}

/** Serves the file or the requested range of it. */
const serve: Answer = (request, response) => {
  const start = startOf(request);
  if (start >= FILE.length) return void response.writeHead(416).end();
  const headers = { "content-length": FILE.length - start };
  if (start === 0) response.writeHead(200, headers);
  else response.writeHead(206, { ...headers, "content-range": `bytes ${start}-${FILE.length - 1}/${FILE.length}` });
  response.end(FILE.subarray(start));
};

/** Sends `bytes` bytes of the requested range and closes the connection once the client has stored them. */
function serveOnly(bytes: number): Answer {
  return (request, response, { progress }) => {
    const start = startOf(request);
    const headers = { "content-length": FILE.length - start };
    if (start === 0) response.writeHead(200, headers);
    else response.writeHead(206, { ...headers, "content-range": `bytes ${start}-${FILE.length - 1}/${FILE.length}` });
    response.write(FILE.subarray(start, start + bytes));
    const end = Math.min(FILE.length, start + bytes);
    const breakOff = setInterval(() => {
      if ((progress.at(-1) ?? 0) < end) return;
      clearInterval(breakOff);
      response.destroy();
    }, 5);
    response.once("close", () => clearInterval(breakOff));
  };
}

function startOf(request: IncomingMessage): number {
  return Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
}

async function left({ folder }: Mirror): Promise<string[]> {
  return (await readdir(join(folder, "models"))).toSorted();
}

test("a file is downloaded, verified and moved into place, and nothing else is left", async () => {
  const from = await mirror(serve);
  await download(from.call(), never);
  expect((await readFile(from.path)).equals(FILE)).toBe(true);
  expect(await left(from)).toEqual(["model.bin"]);
  expect(from.progress).toEqual(from.progress.toSorted((a, b) => a - b));
  expect([from.progress[0], from.progress.at(-1)]).toEqual([0, FILE.length]);
});

test("a download that is interrupted repeatedly continues where it stopped", async () => {
  verifies("stt.model.download-resumes");
  const from = await mirror(serveOnly(70_000));
  await download(from.call(), never);
  expect((await readFile(from.path)).equals(FILE)).toBe(true);
  expect(from.ranges).toEqual(["", "bytes=70000-", "bytes=140000-", "bytes=210000-", "bytes=280000-"]);
});

test("a partial download of an earlier process is continued", async () => {
  verifies("stt.model.download-resumes");
  const from = await mirror(serve);
  const leaving = new AbortController();
  const half = from.call({ onProgress: (received) => received >= 100_000 && leaving.abort(new Error("stopped")) });
  await expect(download(half, leaving.signal)).rejects.toThrow("stopped");
  expect(await left(from)).toEqual(["model.bin.part"]);
  await download(from.call(), never);
  expect(from.ranges[1]).toMatch(/^bytes=\d{5,}-$/);
  expect((await readFile(from.path)).equals(FILE)).toBe(true);
});

test("a partial download of another file is discarded", async () => {
  const from = await mirror(serve);
  await download(from.call(), never);
  await rm(from.path);
  await writeFile(`${from.path}.part`, Buffer.alloc(1000, 1));
  await download(from.call(), never);
  expect(from.ranges).toEqual(["", "bytes=1000-", ""]);
  expect((await readFile(from.path)).equals(FILE)).toBe(true);
});

test("a partial download that is longer than the file is discarded", async () => {
  const from = await mirror(serve);
  await download(from.call(), never);
  await rm(from.path);
  await writeFile(`${from.path}.part`, Buffer.alloc(FILE.length + 1, 1));
  await download(from.call({ bytes: null }), never);
  expect((await readFile(from.path)).equals(FILE)).toBe(true);
});

test("the whole file is requested from a server that cannot continue a download", async () => {
  const from = await mirror((request, response, at) => {
    if (at.count === 1) return serveOnly(50_000)(request, response, at);
    response.writeHead(200, { "content-length": FILE.length }).end(FILE);
  });
  await download(from.call(), never);
  expect((await readFile(from.path)).equals(FILE)).toBe(true);
});

test("a server that fails for a while is retried", async () => {
  const from = await mirror((request, response, at) =>
    at.count < 4 ? response.writeHead(at.count === 1 ? 503 : 429).end() : serve(request, response, at),
  );
  await download(from.call(), never);
  expect(from.ranges).toHaveLength(4);
});

test("a redirect is followed with the same range", async () => {
  const from = await mirror((request, response, at) => {
    if (request.url?.startsWith("/elsewhere") === true) return serveOnly(200_000)(request, response, at);
    response.writeHead(302, { location: "/elsewhere" }).end();
  });
  await download(from.call(), never);
  expect(from.ranges).toEqual(["", "", "bytes=200000-", "bytes=200000-"]);
});

test.each<{ what: string; answer: Answer; more?: Partial<Download>; message: RegExp }>([
  {
    what: "with a wrong checksum",
    answer: (_request, response) => response.writeHead(200).end(Buffer.alloc(FILE.length)),
    message: /^The file from 127\.0\.0\.1:\d+ has the wrong checksum$/,
  },
  {
    what: "that the server does not have",
    answer: (_request, response) => response.writeHead(404).end(),
    message: /^127\.0\.0\.1:\d+ refused the download with status 404$/,
  },
  {
    what: "that is longer than expected",
    answer: (_request, response) => response.writeHead(200).end(Buffer.alloc(FILE.length + 1)),
    message: /sent more than the expected 300000 bytes$/,
  },
  {
    what: "of a server that keeps failing",
    answer: (_request, response) => response.writeHead(503).end(),
    message: /answered with status 503$/,
  },
  {
    what: "of a server that stops sending",
    answer: (_request, response) => response.writeHead(200).write("x"),
    more: { retryTiming: { stallMs: 100, firstPauseMs: 5 } },
    message: /^127\.0\.0\.1:\d+ stopped sending$/,
  },
])("a file $what is rejected, and the message says why without the URL", async ({ answer, more, message }) => {
  verifies("stt.model.download-is-checked");
  const from = await mirror(answer);
  const outcome = download(from.call(more), never);
  await expect(outcome).rejects.toMatchObject({ name: "DownloadError", message: expect.stringMatching(message) });
  await expect(outcome).rejects.not.toThrow(/secret/);
  expect(await left(from)).not.toContain("model.bin");
});

test("the error names a server that cannot be reached", async () => {
  const from = await mirror(serve);
  const outcome = download(from.call({ url: "http://127.0.0.1:9/model.bin" }), never);
  await expect(outcome).rejects.toMatchObject({ message: "127.0.0.1:9 cannot be reached" });
});

test("two simultaneous downloads of the same file fetch it once", async () => {
  const from = await mirror(serve);
  await Promise.all([download(from.call(), never), download(from.call(), never)]);
  expect(from.ranges).toEqual([""]);
});

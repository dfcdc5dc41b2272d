import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { FileStorageAway } from "@antiphon/domain/storage.ts";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../tests/kit/temporary-folder.ts";
import { type S3Fault, type S3Server, startS3Server } from "../../tests/services/s3-server.ts";
import { HAS_VERSITYGW, startVersitygw } from "../../tests/services/versitygw.ts";
import type { FileBytes } from "../store/stores/files/file-bytes.ts";
import { FileFolder } from "../store/stores/files/file-folder.ts";
import { S3Client, type S3Place } from "./s3-client.ts";
import { S3ContainerFiles } from "./s3-container-files.ts";
import { S3Files } from "./s3-files.ts";
import { S3Refused } from "./s3-reply.ts";

const MEBIBYTE = 1024 * 1024;
const NEVER = new AbortController().signal;
/** Three parts, the last of one byte. */
const LARGE = randomBytes(10 * MEBIBYTE + 1);

function clientOf(place: S3Place, attemptMs?: number): S3Client {
  const client = new S3Client(place, attemptMs);
  onTestFinished(() => client.close());
  return client;
}

async function openS3(): Promise<{ files: S3Files; server: S3Server }> {
  const server = await startS3Server();
  return { files: new S3Files(clientOf(server), "antiphon/files/"), server };
}

function openFolder(): FileBytes {
  const folder = temporaryFolder();
  return new FileFolder(join(folder, "files"));
}

/** Pieces whose sizes divide no part evenly. */
async function* inPieces(bytes: Buffer, size = 100_003): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function digest(bytes: Buffer | null): string {
  return createHash("sha256")
    .update(bytes ?? "")
    .digest("hex");
}

const STORAGES: readonly { name: string; isThere: boolean; open: () => Promise<FileBytes> }[] = [
  { name: "a folder", isThere: true, open: async () => openFolder() },
  { name: "a small S3 server", isThere: true, open: async () => (await openS3()).files },
  {
    name: "versitygw",
    isThere: HAS_VERSITYGW,
    open: async () => new S3Files(clientOf(await startVersitygw()), "antiphon/files/"),
  },
];

describe.each(STORAGES)("in $name", ({ isThere, open }) => {
  beforeEach((context) => context.skip(!isThere, "it is not installed"));

  test.each([0, 1, 5 * MEBIBYTE, 5 * MEBIBYTE + 1, LARGE.length])("%i bytes come back as they were", async (size) => {
    const files = await open();
    const bytes = LARGE.subarray(0, size);
    expect(await files.write("file-a", inPieces(bytes), NEVER)).toBe(size);
    expect(digest(await files.read("file-a"))).toBe(digest(bytes));
    expect(digest(Buffer.concat(await Array.fromAsync(files.stream("file-a"))))).toBe(digest(bytes));
  });

  test("an unknown file is null, and can be removed", async () => {
    const files = await open();
    expect(await files.read("file-unknown")).toBeNull();
    await files.remove("file-unknown");
    await files.removeUnfinished("file-unknown");
  });

  test("a removed file is unknown", async () => {
    const files = await open();
    await files.write("file-a", inPieces(Buffer.from("one")), NEVER);
    await files.write("file-b", inPieces(Buffer.from("two")), NEVER);
    await files.remove("file-a");
    await files.removeUnfinished("file-b");
    expect(await files.read("file-a")).toBeNull();
    expect(await files.read("file-b")).toBeNull();
  });

  test("leaving early ends the reading", async () => {
    const files = await open();
    await files.write("file-a", inPieces(LARGE), NEVER);
    for await (const piece of files.stream("file-a")) {
      expect(piece.length).toBeGreaterThan(0);
      break;
    }
    expect(digest(await files.read("file-a"))).toBe(digest(LARGE));
  });

  test.each([10, LARGE.length])("nothing is shown of an upload of %i bytes that breaks", async (size) => {
    const files = await open();
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield LARGE.subarray(0, size - 1);
      throw new Error("the sender left");
    }
    await expect(files.write("file-a", broken(), NEVER)).rejects.toThrow("the sender left");
    await files.remove("file-a");
    expect(await files.read("file-a")).toBeNull();
  });
});

test.skipIf(!HAS_VERSITYGW).each([3, LARGE.length])("versitygw keeps the first %i bytes under an id", async (size) => {
  const files = new S3Files(clientOf(await startVersitygw()), "f/");
  await files.write("file-a", inPieces(LARGE.subarray(0, size)), NEVER);
  await expect(files.write("file-a", inPieces(LARGE.subarray(1)), NEVER)).rejects.toThrow("412");
  expect(digest(await files.read("file-a"))).toBe(digest(LARGE.subarray(0, size)));
});

test.each([3, LARGE.length])("an id is never overwritten: the first %i bytes stay", async (size) => {
  const { files, server } = await openS3();
  await files.write("file-a", inPieces(LARGE.subarray(0, size)), NEVER);
  const again = files.write("file-a", inPieces(LARGE.subarray(1, size)), NEVER);
  await expect(again).rejects.toThrow("the file storage refused");
  expect(server.objects.get("antiphon/files/file-a")).toHaveLength(size);
  expect(server.unfinished()).toEqual([]);
});

test("a large file is sent in parts of equal size as it comes", async () => {
  const { files, server } = await openS3();
  await files.write("file-a", inPieces(LARGE), NEVER);
  const shape = server.calls.map((call) => call.replace(/uploadId=[\w-]+/, "uploadId=…"));
  expect(shape).toEqual([
    "POST /antiphon-tests/antiphon/files/file-a?uploads=",
    "PUT /antiphon-tests/antiphon/files/file-a?partNumber=1&uploadId=…",
    "PUT /antiphon-tests/antiphon/files/file-a?partNumber=2&uploadId=…",
    "PUT /antiphon-tests/antiphon/files/file-a?partNumber=3&uploadId=…",
    "POST /antiphon-tests/antiphon/files/file-a?uploadId=…",
  ]);
});

test("reading goes on at the byte where the connection broke", async () => {
  const { files, server } = await openS3();
  await files.write("file-a", inPieces(LARGE), NEVER);
  server.plan("GET", { type: "broken-body", afterBytes: 100_000 }, { type: "broken-body", afterBytes: 50_000 });
  expect(digest(await files.read("file-a"))).toBe(digest(LARGE));
  const ranges = server.calls.flatMap((call) => /bytes=\d+-/.exec(call)?.[0] ?? []);
  expect(ranges).toEqual(["bytes=100000-", "bytes=150000-"]);
});

test("a connection that breaks at the same byte again and again is no answer", async () => {
  const { files, server } = await openS3();
  await files.write("file-a", inPieces(LARGE), NEVER);
  const nothing: S3Fault = { type: "broken-body", afterBytes: 0 };
  server.plan("GET", nothing, nothing, nothing, nothing);
  await expect(files.read("file-a")).rejects.toThrow(FileStorageAway);
});

test.each<S3Fault>([
  { type: "error", status: 503, code: "SlowDown" },
  { type: "error", status: 500, code: "InternalError" },
  { type: "error", status: 409, code: "ConditionalRequestConflict" },
  { type: "lost-answer" },
])("two passing faults are overcome: $type $code", async (fault) => {
  for (const size of [3, LARGE.length]) {
    const { files, server } = await openS3();
    server.plan("PUT", fault, fault);
    server.plan("POST", fault, fault);
    await files.write("file-a", inPieces(LARGE.subarray(0, size)), NEVER);
    server.plan("POST", null);
    server.plan("GET", fault, fault);
    expect(digest(await files.read("file-a"))).toBe(digest(LARGE.subarray(0, size)));
    server.plan("DELETE", fault, fault);
    await files.remove("file-a");
    expect(server.objects.size).toBe(0);
  }
});

test("the end of an upload whose answer was lost is not taken for another's", async () => {
  const { files, server } = await openS3();
  server.plan("POST", null, { type: "lost-answer" });
  expect(await files.write("file-a", inPieces(LARGE), NEVER)).toBe(LARGE.length);
  expect(digest(server.objects.get("antiphon/files/file-a") ?? null)).toBe(digest(LARGE));
});

test("an upload whose end fails after its status is no success, and is ended", async () => {
  const { files, server } = await openS3();
  server.plan("POST", null, { type: "late-error", code: "InternalError" });
  await expect(files.write("file-a", inPieces(LARGE), NEVER)).rejects.toThrow(FileStorageAway);
  expect([server.objects.size, server.unfinished()]).toEqual([0, []]);
});

test("a storage that is away is told so after a few attempts", async () => {
  const { files, server } = await openS3();
  await files.write("file-a", inPieces(LARGE.subarray(0, 3)), NEVER);
  await server.goAway();
  await expect(files.write("file-b", inPieces(LARGE.subarray(0, 3)), NEVER)).rejects.toThrow(FileStorageAway);
  await expect(files.read("file-a")).rejects.toThrow(FileStorageAway);
  await expect(files.remove("file-a")).rejects.toThrow(FileStorageAway);
  await server.comeBack();
  expect(await files.read("file-a")).toHaveLength(3);
});

test("a storage that does not answer is waited for only so long", async () => {
  const server = await startS3Server();
  const files = new S3Files(clientOf(server, 200), "f/");
  server.plan("GET", { type: "silence" }, { type: "silence" }, { type: "silence" });
  await expect(files.read("file-a")).rejects.toThrow(FileStorageAway);
});

test("a call is given up as soon as nobody waits for it", async () => {
  const { files, server } = await openS3();
  server.plan("PUT", { type: "silence" });
  const leaving = new AbortController();
  const write = files.write("file-a", inPieces(LARGE.subarray(0, 3)), leaving.signal);
  setTimeout(() => leaving.abort(new Error("the client left")), 50);
  await expect(write).rejects.toThrow("the client left");
});

test("a wrong key is refused without another attempt, and no error holds it", async () => {
  const server = await startS3Server();
  const files = new S3Files(clientOf({ ...server, secretAccessKey: "wrong-secret" }), "f/");
  const error = await files.read("file-a").catch((fault: unknown) => fault);
  expect(error).toBeInstanceOf(S3Refused);
  expect(String(error)).toBe("S3Refused: the file storage refused GET: 403 SignatureDoesNotMatch");
  expect(server.calls).toHaveLength(1);
});

test("what a dead writer left of its upload is removed", async () => {
  const { files, server } = await openS3();
  const died = Promise.withResolvers<void>();
  async function* endless(): AsyncGenerator<Uint8Array> {
    yield LARGE.subarray(0, 6 * MEBIBYTE);
    await died.promise;
  }
  const leaving = new AbortController();
  const write = files.write("file-a", endless(), leaving.signal).catch(() => {});
  await expect.poll(server.unfinished).toEqual(["antiphon/files/file-a"]);
  await files.removeUnfinished("file-a-longer");
  expect(server.unfinished()).toHaveLength(1);
  await files.removeUnfinished("file-a");
  expect(server.unfinished()).toEqual([]);
  died.resolve();
  leaving.abort();
  await write;
});

test("the files of a container lie under its id and are removed together", async () => {
  const server = await startS3Server();
  const files = new S3ContainerFiles(clientOf(server), "containers/");
  const ids = Array.from({ length: 20 }, (_, index) => `cfile_${index}`);
  for (const id of ids) await files.write("cntr_a", id, inPieces(Buffer.from(id)), NEVER);
  await files.write("cntr_b", "cfile_0", inPieces(Buffer.from("other")), NEVER);
  expect(server.objects.get("containers/cntr_a/cfile_7")?.toString()).toBe("cfile_7");
  await files.removeUnfinished("cntr_a", "cfile_0");
  await files.removeContainer("cntr_a", ids);
  expect([...server.objects.keys()]).toEqual(["containers/cntr_b/cfile_0"]);
  expect(Buffer.concat(await Array.fromAsync(files.stream("cntr_b", "cfile_0"))).toString()).toBe("other");
});

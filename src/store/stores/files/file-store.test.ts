import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FileStore, IncomingFile } from "@antiphon/domain/files.ts";
import { expect, onTestFinished, test, vi } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { openStore } from "../../open-store.ts";
import { openTestStore, temporaryFile, testStores, withDatabase } from "../../store.fixture.ts";
import { OTHERS, OURS } from "../../stored-shapes.fixture.ts";

const PAGE = { limit: 100, order: "desc", after: null, purpose: null } as const;
const WRITER = fileURLToPath(new URL("write-file-until-killed.fixture.ts", import.meta.url));

async function* bytesOf(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

function incoming(fields: Partial<IncomingFile> = {}): IncomingFile {
  return {
    purpose: "user_data",
    filename: "notes.txt",
    mimeType: "text/plain",
    content: bytesOf("one ", "two"),
    expiresAfter: null,
    ...fields,
  };
}

async function openFiles(): Promise<{ files: FileStore; folder: string; file: string }> {
  const file = temporaryFile();
  const { files } = await openTestStore({ file });
  return { files, folder: join(dirname(file), "files"), file };
}

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(content)).toString();
}

testStores("a file is found, read and streamed as it came", async () => {
  const { files } = await openFiles();
  const file = await files.createFile(OURS, incoming({ expiresAfter: 3600 }));
  expect(file).toMatchObject({ purpose: "user_data", filename: "notes.txt", mimeType: "text/plain", bytes: 7 });
  expect(file.id).toMatch(/^file-[0-9a-f]{48}$/);
  expect(file.expiresAt).toBe(file.createdAt + 3600);
  expect(await files.findFile(OURS, file.id)).toEqual(file);
  const read = await files.readFile(OURS, file.id);
  expect(read).toMatchObject({ filename: "notes.txt", mimeType: "text/plain" });
  expect(Buffer.from(read?.bytes ?? []).toString()).toBe("one two");
  const streamed = await files.streamFile(OURS, file.id);
  expect(await textOf(streamed?.content ?? bytesOf())).toBe("one two");
});

testStores("only this user can read a file's bytes, and the folder they lie in", async () => {
  const { files, folder } = await openFiles();
  const { id } = await files.createFile(OURS, incoming());
  expect([folder, join(folder, id)].map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual(["700", "600"]);
});

testStores.each(OTHERS)(
  "another owner ($organization, $project) finds nothing of a file and cannot delete it",
  async (theirs) => {
    verifies("files.owner.foreign-is-unknown");
    const { files } = await openFiles();
    const { id } = await files.createFile(OURS, incoming());
    expect(await files.findFile(theirs, id)).toBeNull();
    expect(await files.readFile(theirs, id)).toBeNull();
    expect(await files.streamFile(theirs, id)).toBeNull();
    expect(await files.deleteFile(theirs, id)).toBe(false);
    expect(await files.listFiles(theirs, PAGE)).toEqual({ files: [], hasMore: false });
    expect(await files.listFiles(theirs, { ...PAGE, after: id })).toBeNull();
    expect(await files.findFile(OURS, id)).not.toBeNull();
  },
);

testStores("a deleted file is unknown, its bytes are gone, and it cannot be deleted twice", async () => {
  const { files, folder } = await openFiles();
  const { id } = await files.createFile(OURS, incoming());
  expect(await files.deleteFile(OURS, id)).toBe(true);
  expect(await files.findFile(OURS, id)).toBeNull();
  expect(readdirSync(folder)).toEqual([]);
  expect(await files.deleteFile(OURS, id)).toBe(false);
});

testStores("files are listed by creation in both orders, page by page, for one purpose or all", async () => {
  const { files } = await openFiles();
  const ids: string[] = [];
  for (const purpose of ["user_data", "vision", "user_data", "vision", "user_data"] as const)
    ids.push((await files.createFile(OURS, incoming({ purpose }))).id);
  const list = async (page: object): Promise<unknown> => {
    const found = await files.listFiles(OURS, { ...PAGE, ...page });
    return found === null ? null : [found.files.map(({ id }) => ids.indexOf(id)), found.hasMore];
  };
  expect(await list({})).toEqual([[4, 3, 2, 1, 0], false]);
  expect(await list({ order: "asc", limit: 2 })).toEqual([[0, 1], true]);
  expect(await list({ order: "asc", limit: 3, after: ids[1] })).toEqual([[2, 3, 4], false]);
  expect(await list({ limit: 2, after: ids[3] })).toEqual([[2, 1], true]);
  expect(await list({ purpose: "vision", limit: 1 })).toEqual([[3], true]);
  expect(await list({ purpose: "vision", limit: 1, after: ids[3] })).toEqual([[1], false]);
  expect(await list({ purpose: "nothing" })).toEqual([[], false]);
  expect(await list({ after: "file-unknown" })).toBeNull();
});

testStores("an expired file is unknown before it is removed, and afterwards its bytes are gone", async () => {
  verifies("files.expiry.expired-is-unknown");
  const { files, folder } = await openFiles();
  const stays = await files.createFile(OURS, incoming());
  const { id, expiresAt } = await files.createFile(OURS, incoming({ expiresAfter: 3600 }));
  const later = (expiresAt ?? 0) * 1000;
  const clock = vi.spyOn(Date, "now").mockReturnValue(later - 1000);
  expect(await files.findFile(OURS, id)).not.toBeNull();
  clock.mockReturnValue(later);
  expect(await files.findFile(OURS, id)).toBeNull();
  expect(await files.readFile(OURS, id)).toBeNull();
  expect(await files.deleteFile(OURS, id)).toBe(false);
  expect((await files.listFiles(OURS, PAGE))?.files.map((file) => file.id)).toEqual([stays.id]);
  clock.mockRestore();
  expect(await files.deleteExpired((expiresAt ?? 0) - 1)).toBe(0);
  expect(await files.deleteExpired(expiresAt ?? 0)).toBe(1);
  expect(readdirSync(folder)).toEqual([stays.id]);
});

testStores("more expired files than are removed at a time are all removed", async () => {
  const { files, folder } = await openFiles();
  await Promise.all(Array.from({ length: 205 }, () => files.createFile(OURS, incoming({ expiresAfter: 1 }))));
  expect(await files.deleteExpired(Number.MAX_SAFE_INTEGER)).toBe(205);
  expect(readdirSync(folder)).toEqual([]);
});

testStores("nothing stays of an upload that breaks", async () => {
  const { files, folder } = await openFiles();
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("half");
    throw new Error("the sender left");
  }
  await expect(files.createFile(OURS, incoming({ content: broken() }))).rejects.toThrow("the sender left");
  const aborted = files.createFile(OURS, incoming({ content: broken() }), AbortSignal.abort());
  await expect(aborted).rejects.toThrow("aborted");
  expect(readdirSync(folder)).toEqual([]);
  expect(await files.listFiles(OURS, PAGE)).toEqual({ files: [], hasMore: false });
});

testStores("what a killed process had half written is removed at the next start, and nothing else is", async () => {
  verifies("files.storage.half-written-is-removed");
  const file = temporaryFile();
  const folder = join(dirname(file), "files");
  const options = await withDatabase({ file });
  const before = await openStore(options);
  const kept = await before.files.createFile(OURS, incoming());
  await before.close();
  await writeFile(join(folder, "a-stranger"), "not ours to remove");

  const writer = spawn(process.execPath, [WRITER, JSON.stringify(options)], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(writer, "exit");
  await once(writer.stdout, "data");
  const parts = (): readonly string[] => readdirSync(folder).filter((name) => name.endsWith(".part"));
  expect(parts()).toHaveLength(1);
  const alongside = await openTestStore({ file }); // While the other process lives, nobody removes its file.
  expect(parts()).toHaveLength(1);
  expect((await alongside.files.listFiles(OURS, PAGE))?.files).toEqual([kept]);
  writer.kill("SIGKILL");
  expect(await exited).toEqual([null, "SIGKILL"]);

  const { files } = await openTestStore({ file });
  expect(readdirSync(folder).toSorted()).toEqual(["a-stranger", kept.id].toSorted());
  expect((await files.listFiles(OURS, PAGE))?.files).toEqual([kept]);
});

test("a database in memory keeps its files in a folder that goes with it", async () => {
  const folder = dirname(temporaryFile());
  mkdirSync(folder);
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const store = await openStore({ file: ":memory:", filesFolder: join(folder, "not-used") });
  const { id } = await store.files.createFile(OURS, incoming());
  expect((await store.files.readFile(OURS, id))?.bytes).toHaveLength(7);
  expect(readdirSync(folder)).toHaveLength(1);
  await store.close();
  expect(readdirSync(folder)).toEqual([]);
});

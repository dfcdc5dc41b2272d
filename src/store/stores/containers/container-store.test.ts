import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ContainerFile } from "@antiphon/contracts/responses-api/types.ts";
import type { ContainerChange, NewContainer } from "@antiphon/domain/containers.ts";
import { StorageQuotaExceeded } from "@antiphon/domain/storage.ts";
import { afterEach, expect, vi } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { openStore, type Store, type StoreOptions } from "../../open-store.ts";
import { openTestStore, temporaryFile, testStores, withDatabase } from "../../store.fixture.ts";
import { OTHERS, OURS } from "../../stored-shapes.fixture.ts";

const PAGE = { limit: 100, order: "asc", after: null } as const;
const WRITER = fileURLToPath(new URL("write-container-file-until-killed.fixture.ts", import.meta.url));
const NEVER = new AbortController().signal;
const MINUTE_MS = 60_000;

afterEach(() => void vi.restoreAllMocks());

async function* bytesOf(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

function resultOf<Result>(change: ContainerChange<Result>): Result {
  if (change.type === "refused") throw new Error(`refused: ${change.refusal.reason}`);
  return change.result;
}

interface Opened extends Store {
  readonly folder: string;
  readonly file: string;
}

async function open(options: Partial<StoreOptions> = {}): Promise<Opened> {
  const file = options.file ?? temporaryFile();
  const store = await openTestStore({ ...options, file });
  return { ...store, folder: join(dirname(file), "containers"), file };
}

async function newContainer({ containers }: Store, fields: Partial<NewContainer> = {}): Promise<string> {
  const container: NewContainer = {
    name: "work",
    fileIds: [],
    expiresAfterMinutes: null,
    memoryLimit: "1g",
    ...fields,
  };
  return resultOf(await containers.createContainer(OURS, container)).id;
}

async function upload({ files }: Store, filename: string, content: string): Promise<string> {
  const file = { purpose: "user_data", filename, mimeType: "text/plain", expiresAfter: null } as const;
  return (await files.createFile(OURS, { ...file, content: bytesOf(content) })).id;
}

async function put({ containers }: Store, containerId: string, filename: string, text = "one"): Promise<ContainerFile> {
  return resultOf(await containers.addFile(OURS, containerId, { filename, content: bytesOf(text) }));
}

function made(path: string | null, text: string) {
  return { path, content: bytesOf(text), bytesMax: 1000 };
}

async function pathsIn({ containers }: Store, containerId: string): Promise<readonly string[]> {
  const page = await containers.listFiles(OURS, containerId, PAGE);
  return (page?.entries ?? []).map(({ path }) => path);
}

async function textIn({ containers }: Store, containerId: string, fileId: string): Promise<string | null> {
  const stream = await containers.streamFile(OURS, containerId, fileId);
  return stream === null ? null : Buffer.concat(await Array.fromAsync(stream.content)).toString();
}

testStores("a container has copies of uploaded files, under their names", async () => {
  const store = await open();
  const first = await upload(store, "sales.csv", "1,2");
  const second = await upload(store, "sales.csv", "3,4");
  const id = await newContainer(store, { fileIds: [first, second, first] });
  expect(id).toMatch(/^cntr_[0-9a-f]{48}$/);
  expect(await store.containers.findContainer(OURS, id)).toMatchObject({
    name: "work",
    status: "running",
    memory_limit: "1g",
    expires_after: { anchor: "last_active_at", minutes: 20 },
  });
  const files = (await store.containers.listFiles(OURS, id, PAGE))?.entries ?? [];
  expect(files.map(({ path }) => path)).toEqual(["/mnt/data/sales.csv", `/mnt/data/${second}-sales.csv`]);
  expect(files[0]).toMatchObject({ object: "container.file", bytes: 3, container_id: id, source: "user" });
  expect(await textIn(store, id, files[1]?.id ?? "")).toBe("3,4");
  await store.files.deleteFile(OURS, first);
  expect(await textIn(store, id, files[0]?.id ?? "")).toBe("1,2");
});

testStores("only this user can read the files' bytes, and the folders they lie in", async () => {
  const store = await open();
  const id = await newContainer(store);
  const file = await put(store, id, "a.txt");
  const paths = [store.folder, join(store.folder, id), join(store.folder, id, file.id)];
  expect(paths.map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual(["700", "700", "600"]);
});

testStores.each(OTHERS)("another owner ($organization, $project) finds nothing of a container", async (theirs) => {
  verifies("containers.owner.foreign-is-unknown");
  const store = await open();
  const { containers, sessionContainers } = store;
  const id = await newContainer(store);
  const file = await put(store, id, "a.txt");
  const stranger = { type: "refused", refusal: { reason: "unknown_container" } };
  expect(await containers.findContainer(theirs, id)).toBeNull();
  expect(await containers.touchContainer(theirs, id)).toBeNull();
  expect(await containers.listContainers(theirs, { ...PAGE, name: null })).toEqual({ entries: [], hasMore: false });
  expect(await containers.deleteContainer(theirs, id)).toBe(false);
  expect(await containers.addFile(theirs, id, { filename: "b.txt", content: bytesOf("b") })).toEqual(stranger);
  expect(await containers.findFile(theirs, id, file.id)).toBeNull();
  expect(await containers.listFiles(theirs, id, PAGE)).toBeNull();
  expect(await containers.streamFile(theirs, id, file.id)).toBeNull();
  expect(await containers.removeFile(theirs, id, file.id)).toBe(false);
  expect(await sessionContainers.find(theirs, id)).toBeNull();
  expect(await sessionContainers.begin(theirs, id, "session")).toBeNull();
  expect(await sessionContainers.keep(theirs, id, made("/mnt/data/b.txt", "b"), NEVER)).toEqual({ type: "gone" });
  expect(await pathsIn(store, id)).toEqual(["/mnt/data/a.txt"]);
});

testStores("uploaded files of others cannot be copied", async () => {
  const store = await open();
  const { containers, files } = store;
  const foreign = { purpose: "user_data", filename: "a", mimeType: "text/plain", expiresAfter: null } as const;
  const theirs = await files.createFile({ organization: "x", project: "y" }, { ...foreign, content: bytesOf("1") });
  const refused = { type: "refused", refusal: { reason: "unknown_upload", fileId: theirs.id } };
  const container = { name: "w", fileIds: [theirs.id], expiresAfterMinutes: null, memoryLimit: "1g" } as const;
  expect(await containers.createContainer(OURS, container)).toEqual(refused);
  expect(await containers.listContainers(OURS, { ...PAGE, name: null })).toEqual({ entries: [], hasMore: false });
  const id = await newContainer(store);
  expect(await containers.copyUpload(OURS, id, theirs.id)).toEqual(refused);
  expect(await containers.copyMissingUploads(OURS, id, [theirs.id])).toEqual(refused);
});

testStores("a file takes the place of one at its path, and nothing is left of that", async () => {
  verifies("containers.files.new-contents-new-id");
  const store = await open();
  const id = await newContainer(store);
  const before = await put(store, id, "notes.txt", "old");
  const kept = await store.sessionContainers.keep(OURS, id, made("/mnt/data/notes.txt", "newer"), NEVER);
  const after = kept.type === "kept" ? kept.file : null;
  expect(after).toMatchObject({ path: "/mnt/data/notes.txt", bytes: 5 });
  expect(await store.containers.findFile(OURS, id, before.id)).toBeNull();
  expect(await store.containers.findFile(OURS, id, after?.id ?? "")).toMatchObject({ source: "assistant", bytes: 5 });
  expect(readdirSync(join(store.folder, id))).toEqual([after?.id]);
});

testStores("of two that write one path at the same time, one remains", async () => {
  const store = await open();
  const id = await newContainer(store);
  await Promise.all(["a", "b", "c", "d"].map((text) => put(store, id, "same.txt", text)));
  expect(await pathsIn(store, id)).toEqual(["/mnt/data/same.txt"]);
  expect(readdirSync(join(store.folder, id))).toHaveLength(1);
});

testStores("a picture without a path gets one by its id, and a path that cannot be is refused", async () => {
  const store = await open();
  const { sessionContainers } = store;
  const id = await newContainer(store);
  const kept = await sessionContainers.keep(OURS, id, made(null, "png"), NEVER);
  expect(kept).toMatchObject({ type: "kept" });
  if (kept.type === "kept") expect(kept.file.path).toBe(`/mnt/data/${kept.file.id}.png`);
  expect(await sessionContainers.keep(OURS, id, made("/etc/passwd", "x"), NEVER)).toEqual({ type: "bad_path" });
});

testStores("a session knows whether the one before it was another", async () => {
  const store = await open();
  const { sessionContainers } = store;
  const id = await newContainer(store);
  const file = await put(store, id, "a.txt");
  expect(await sessionContainers.find(OURS, id)).toEqual({
    files: [{ id: file.id, path: "/mnt/data/a.txt", bytes: 3 }],
    sessionId: null,
    memoryLimit: "1g",
  });
  expect((await sessionContainers.begin(OURS, id, "one"))?.sessionId).toBeNull();
  expect((await sessionContainers.begin(OURS, id, "one"))?.sessionId).toBe("one");
  expect((await sessionContainers.begin(OURS, id, "two"))?.sessionId).toBe("one");
  expect((await sessionContainers.find(OURS, id))?.sessionId).toBe("two");
  await sessionContainers.remove(OURS, id, file.id);
  expect(await sessionContainers.read(OURS, id, file.id)).toBeNull();
});

testStores("uploads are copied once, and what code made of them stays", async () => {
  const store = await open();
  const { containers, sessionContainers } = store;
  const first = await upload(store, "a.csv", "1");
  const second = await upload(store, "b.csv", "2");
  const id = await newContainer(store, { fileIds: [first] });
  await sessionContainers.keep(OURS, id, made("/mnt/data/a.csv", "changed"), NEVER);
  const added = resultOf(await containers.copyMissingUploads(OURS, id, [first, second]));
  expect(added.map(({ path }) => path)).toEqual(["/mnt/data/b.csv"]);
  expect(resultOf(await containers.copyMissingUploads(OURS, id, [first, second]))).toEqual([]);
  const files = (await sessionContainers.find(OURS, id))?.files ?? [];
  expect(files.map(({ path, bytes }) => [path, bytes])).toEqual([
    ["/mnt/data/a.csv", 7],
    ["/mnt/data/b.csv", 1],
  ]);
});

testStores("files and containers are listed by creation, page by page", async () => {
  const store = await open();
  const { containers } = store;
  const ids = [await newContainer(store), await newContainer(store, { name: "other" }), await newContainer(store)];
  const list = async (page: object) => {
    const found = await containers.listContainers(OURS, { ...PAGE, name: null, ...page });
    return found === null ? null : [found.entries.map(({ id }) => ids.indexOf(id)), found.hasMore];
  };
  expect(await list({})).toEqual([[0, 1, 2], false]);
  expect(await list({ order: "desc", limit: 2 })).toEqual([[2, 1], true]);
  expect(await list({ after: ids[0], limit: 1 })).toEqual([[1], true]);
  expect(await list({ name: "work" })).toEqual([[0, 2], false]);
  expect(await list({ after: "cntr_unknown" })).toBeNull();
  const id = ids[0] ?? "";
  const files = [await put(store, id, "a"), await put(store, id, "b"), await put(store, id, "c")];
  const page = await containers.listFiles(OURS, id, { limit: 1, order: "desc", after: files[2]?.id ?? "" });
  expect(page).toEqual({ entries: [files[1]], hasMore: true });
  expect(await containers.listFiles(OURS, id, { ...PAGE, after: "cfile_unknown" })).toBeNull();
});

testStores("a container takes no more bytes than it may have, also from several at once", async () => {
  verifies("containers.limits.bytes-and-files");
  const store = await open({ containerBytesMax: 10 });
  const { containers } = store;
  const id = await newContainer(store);
  const full = { type: "refused", refusal: { reason: "container_full", bytesMax: 10 } };
  const add = (filename: string, text: string) => containers.addFile(OURS, id, { filename, content: bytesOf(text) });
  expect(await add("a", "12345678901")).toEqual(full);
  const changes = await Promise.all(["a", "b", "c", "d"].map((name) => add(name, "1234")));
  expect(changes.filter(({ type }) => type === "changed")).toHaveLength(2);
  expect(changes.filter(({ type }) => type === "refused")).toEqual([full, full]);
  const [path = ""] = await pathsIn(store, id);
  expect(await add(path.slice("/mnt/data/".length), "123456")).toMatchObject({ type: "changed" });
  expect(await store.sessionContainers.keep(OURS, id, made("/mnt/data/z", "1"), NEVER)).toEqual({
    type: "full",
    of: "container",
  });
  expect(readdirSync(join(store.folder, id))).toHaveLength(2);
});

testStores("uploads that would not fit make no container", async () => {
  const store = await open({ containerBytesMax: 5 });
  const fileIds = [await upload(store, "a", "123"), await upload(store, "b", "456")];
  const container = { name: "w", fileIds, expiresAfterMinutes: null, memoryLimit: "1g" } as const;
  expect(await store.containers.createContainer(OURS, container)).toEqual({
    type: "refused",
    refusal: { reason: "container_full", bytesMax: 5 },
  });
  expect(await store.containers.listContainers(OURS, { ...PAGE, name: null })).toMatchObject({ entries: [] });
});

testStores("an owner has no more containers than it may have, and no more bytes in all of them", async () => {
  verifies("containers.quota.per-owner");
  const store = await open({ ownerContainersMax: 2, ownerContainerBytesMax: 10 });
  const { containers, sessionContainers } = store;
  const container = { name: "w", fileIds: [], expiresAfterMinutes: null, memoryLimit: "1g" } as const;
  const created = await Promise.all([1, 2, 3, 4].map(() => containers.createContainer(OURS, container)));
  const refused = { type: "refused", refusal: { reason: "too_many_containers", containersMax: 2 } };
  expect(created.filter(({ type }) => type === "refused")).toEqual([refused, refused]);
  const [first, second] = created.filter(({ type }) => type === "changed").map((change) => resultOf(change).id);
  await put(store, first ?? "", "a", "12345678");
  const more = { filename: "b", content: bytesOf("123") };
  const full = { reason: "owner_full", bytesMax: 10 };
  expect(await containers.addFile(OURS, second ?? "", more)).toEqual({ type: "refused", refusal: full });
  expect(await sessionContainers.keep(OURS, second ?? "", made("/mnt/data/b", "123"), NEVER)).toEqual({
    type: "full",
    of: "owner",
  });
  await put(store, first ?? "", "a", "1234567890");
  await containers.deleteContainer(OURS, first ?? "");
  await put(store, second ?? "", "b", "1234567890");
  expect((await containers.createContainer(OURS, container)).type).toBe("changed");
});

testStores("files of containers count towards what an owner may store", async () => {
  const store = await open({ ownerBytesMax: 1000 });
  const id = await newContainer(store);
  await put(store, id, "a", "x".repeat(600));
  await expect(put(store, id, "b", "x".repeat(600))).rejects.toThrow(StorageQuotaExceeded);
  const kept = await store.sessionContainers.keep(OURS, id, made("/mnt/data/b", "x".repeat(600)), NEVER);
  expect(kept).toEqual({ type: "full", of: "owner" });
  await store.containers.deleteContainer(OURS, id);
  await put(store, await newContainer(store), "b", "x".repeat(600));
});

testStores("a container expires when it was unused, its files go, and its row a day later", async () => {
  verifies("containers.expiry.idle");
  const store = await open();
  const { containers, sessionContainers } = store;
  const id = await newContainer(store, { expiresAfterMinutes: 5 });
  const file = await put(store, id, "a.txt");
  const start = Date.now();
  const clock = vi.spyOn(Date, "now").mockReturnValue(start + 4 * MINUTE_MS);
  expect(await containers.touchContainer(OURS, id)).toMatchObject({ status: "running" });
  expect(await sessionContainers.touch(OURS, id)).toBe(true);
  clock.mockReturnValue(start + 8 * MINUTE_MS);
  expect(await sessionContainers.begin(OURS, id, "s")).not.toBeNull();
  clock.mockReturnValue(start + 14 * MINUTE_MS);
  expect(await containers.touchContainer(OURS, id)).toMatchObject({ status: "expired" });
  const expired = { type: "refused", refusal: { reason: "expired_container" } };
  expect(await containers.findFile(OURS, id, file.id)).toBeNull();
  expect(await containers.listFiles(OURS, id, PAGE)).toBeNull();
  expect(await containers.addFile(OURS, id, { filename: "b", content: bytesOf("b") })).toEqual(expired);
  expect(await containers.copyMissingUploads(OURS, id, [])).toEqual(expired);
  expect(await sessionContainers.begin(OURS, id, "s")).toBeNull();
  expect(await sessionContainers.touch(OURS, id)).toBe(false);
  expect(await sessionContainers.keep(OURS, id, made("/mnt/data/b", "b"), NEVER)).toEqual({ type: "gone" });
  const sweep = async () => {
    while (await containers.expireUnused(Math.floor(Date.now() / 1000)));
  };
  expect(existsSync(join(store.folder, id))).toBe(true);
  await sweep();
  expect(readdirSync(store.folder)).toEqual([]);
  expect(await containers.findContainer(OURS, id)).toMatchObject({ status: "expired" });
  clock.mockReturnValue(start + 25 * 60 * MINUTE_MS);
  await sweep();
  expect(await containers.findContainer(OURS, id)).toBeNull();
});

testStores("a deleted container is unknown, and nothing of it is left", async () => {
  const store = await open();
  const { containers } = store;
  const id = await newContainer(store);
  await put(store, id, "a.txt");
  expect(await containers.deleteContainer(OURS, id)).toBe(true);
  expect(await containers.deleteContainer(OURS, id)).toBe(false);
  expect(await containers.findContainer(OURS, id)).toBeNull();
  expect(readdirSync(store.folder)).toEqual([]);
});

testStores("a file that is written while its container is deleted leaves nothing", async () => {
  const store = await open();
  const { containers } = store;
  const id = await newContainer(store);
  async function* slow(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("half");
    await containers.deleteContainer(OURS, id);
    yield Buffer.from("whole");
  }
  const added = await containers.addFile(OURS, id, { filename: "a", content: slow() });
  expect(added).toEqual({ type: "refused", refusal: { reason: "unknown_container" } });
  expect(readdirSync(store.folder)).toEqual([]);
});

testStores("nothing stays of a file that breaks off", async () => {
  const store = await open();
  const id = await newContainer(store);
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("half");
    throw new Error("the sender left");
  }
  const adding = store.containers.addFile(OURS, id, { filename: "a", content: broken() });
  await expect(adding).rejects.toThrow("the sender left");
  const content = broken();
  const aborted = store.containers.addFile(OURS, id, { filename: "a", content }, AbortSignal.abort());
  await expect(aborted).rejects.toThrow("aborted");
  expect(await pathsIn(store, id)).toEqual([]);
  expect(readdirSync(store.folder)).toEqual([]);
});

testStores("what a killed process had half written is removed at the next start", async () => {
  verifies("containers.storage.half-written-is-removed");
  const file = temporaryFile();
  const options = await withDatabase({ file });
  const before = await openStore(options);
  const id = await newContainer(before);
  const kept = await put(before, id, "a.txt");
  await before.close();
  const writer = spawn(process.execPath, [WRITER, JSON.stringify(options), id], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(writer, "exit");
  await once(writer.stdout, "data");
  const folder = join(dirname(file), "containers", id);
  expect(readdirSync(folder)).toHaveLength(2);
  const alongside = await openTestStore({ file }); // While the other process lives, nobody removes its file.
  expect(readdirSync(folder)).toHaveLength(2);
  expect(await pathsIn(alongside, id)).toEqual(["/mnt/data/a.txt"]);
  writer.kill("SIGKILL");
  expect(await exited).toEqual([null, "SIGKILL"]);
  await openTestStore({ file });
  expect(readdirSync(folder)).toEqual([kept.id]);
  expect(readFileSync(join(folder, kept.id), "utf8")).toBe("one");
});

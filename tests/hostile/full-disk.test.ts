import { execFileSync, spawnSync } from "node:child_process";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { namedFile, uploadFile } from "../kit/upload.ts";
import { MODEL } from "../responses/check-refusal.ts";
import { readResponse } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";

const MEBIBYTE = 1024 * 1024;
const canLimit = spawnSync("prlimit", ["--version"]).status === 0;
/** Mounts a small file system on the given folder before the program starts. */
const SMALL_DISK = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=16m none "$0" && exec "$@"'];
const canMount = spawnSync(SMALL_DISK[0] ?? "", [...SMALL_DISK.slice(1), tmpdir(), "true"]).status === 0;

function upload(server: ChildServer, bytes: number): Promise<Response> {
  return uploadFile(server, namedFile(new Uint8Array(bytes).fill(7), "large.bin"));
}

async function checkFull(reply: Response, dataDir: string): Promise<void> {
  const text = await reply.text();
  expect([reply.status, reply.headers.get("x-should-retry")], text).toEqual([507, "false"]);
  expect(JSON.parse(text)).toMatchObject({ error: { type: "server_error", code: "storage_full", param: null } });
  expect(text).not.toContain(dataDir);
  expect(text).not.toMatch(/ENOSPC|EFBIG|upload-/);
}

async function readiness(server: ChildServer): Promise<readonly [number, unknown]> {
  const reply = await server.fetch("/readyz");
  const { checks } = JSON.parse(await reply.text());
  return [reply.status, checks.disk];
}

const complaints = (server: ChildServer): number =>
  server.lines().filter(({ level, msg }) => level === 50 && msg === "no more room to store anything").length;

describe.skipIf(!canLimit)("an upload beyond the system's largest file (needs prlimit)", () => {
  const limit = ({ pid }: ChildServer, bytes: number): void =>
    void execFileSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:`]);

  test("is a named fault of the server, is logged, and leaves nothing", async () => {
    verifies("files.upload.full-disk-is-507");
    const dataDir = temporaryFolder();
    const server = await startChildServer({ env: { DATA_DIR: dataDir, LOG_LEVEL: "error" } });
    limit(server, 4 * MEBIBYTE);
    await checkFull(await upload(server, 8 * MEBIBYTE), dataDir);
    await expect.poll(() => complaints(server)).toBe(1);
    expect(await (await server.fetch("/v1/files")).json()).toMatchObject({ data: [] });
    expect(await readdir(join(dataDir, "files"))).toEqual([]);
    expect((await upload(server, 1000)).status).toBe(200);
  });

  test("is not retried by the official client", async () => {
    verifies("files.upload.full-disk-is-507");
    const server = await startChildServer({ env: { LOG_LEVEL: "error" } });
    limit(server, 4 * MEBIBYTE);
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 3 });
    const file = new File([new Uint8Array(6 * MEBIBYTE)], "large.bin");
    await expect(client.files.create({ file, purpose: "user_data" })).rejects.toMatchObject({ status: 507 });
    await expect.poll(() => complaints(server)).toBe(1);
  });

  test("makes /readyz answer 503 as long as nothing can be written", async () => {
    verifies("files.upload.full-disk-is-507");
    const server = await startChildServer();
    expect(await readiness(server)).toEqual([200, "ok"]);
    limit(server, 0);
    expect(await readiness(server)).toEqual([503, "unavailable"]);
    limit(server, 64 * MEBIBYTE);
    expect(await readiness(server)).toEqual([200, "ok"]);
  });
});

describe.skipIf(!canMount)("a disk that is really full (needs unshare and mount)", () => {
  test("refuses uploads with a named error, is not ready, and is ready again once there is room", async () => {
    verifies("files.upload.full-disk-is-507");
    const dataDir = temporaryFolder();
    const under = [...SMALL_DISK, dataDir];
    const server = await startChildServer({ env: { DATA_DIR: dataDir, LOG_LEVEL: "error" }, under });
    await checkFull(await upload(server, 20 * MEBIBYTE), dataDir);
    expect(await readiness(server)).toEqual([200, "ok"]); // The refused upload takes no room.
    const kept = await fill(server);
    await checkFull(await upload(server, 100_000), dataDir);
    expect(await readiness(server)).toEqual([503, "unavailable"]);
    expect((await server.fetch("/healthz")).status).toBe(200);
    for (const id of kept) await server.fetch(`/v1/files/${id}`, { method: "DELETE" });
    await expect.poll(() => readiness(server)).toEqual([200, "ok"]);
  });

  test("deletes whatever it is asked to, even when the database has filled it", async () => {
    verifies("state.full-disk.deletes");
    const dataDir = temporaryFolder();
    const server = await startChildServer({ env: { DATA_DIR: dataDir }, under: [...SMALL_DISK, dataDir] });
    const paths = await storeOneOfEach(server);
    for (let files = 0; files < 2; files++) expect((await upload(server, 2 * MEBIBYTE)).status).toBe(200);
    let full = await create(server, MEBIBYTE);
    for (let bytes = MEBIBYTE; bytes > 16; full = await create(server, bytes))
      if (full.status === 200) paths.push(`/v1/responses/${(await readResponse(full)).id}`);
      else bytes /= 16;
    await checkFull(full, dataDir);
    const deleted = [];
    for (const path of paths) deleted.push((await server.fetch(path, { method: "DELETE" })).status);
    expect(deleted).toEqual(paths.map(() => 200));
    expect((await create(server, 100_000)).status).toBe(200);
  });
});

const create = (server: ChildServer, bytes: number): Promise<Response> =>
  server.post("/v1/responses", { model: MODEL, input: "x".repeat(bytes) });

/** The paths of a file, a conversation and a vector store. */
async function storeOneOfEach(server: ChildServer): Promise<string[]> {
  const items = [{ role: "user", content: "x".repeat(10_000) }];
  const replies = {
    files: await upload(server, 1_000),
    conversations: await server.post("/v1/conversations", { items }),
    vector_stores: await server.post("/v1/vector_stores", {}),
  };
  return await Promise.all(
    Object.entries(replies).map(async ([name, reply]) => `/v1/${name}/${JSON.parse(await reply.text()).id}`),
  );
}

/** Uploads larger files, then smaller ones, until not even a small one fits. */
async function fill(server: ChildServer): Promise<readonly string[]> {
  const kept: string[] = [];
  for (let bytes = 2 * MEBIBYTE; bytes >= 4096; ) {
    const reply = await upload(server, bytes);
    const { id } = JSON.parse(await reply.text());
    if (reply.status === 200) kept.push(id);
    else bytes /= 2;
  }
  return kept;
}
